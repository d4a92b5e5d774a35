// Products of factors of few columns and rows that are added to a large matrix.
#pragma once
#include "tensor.cuh"

// A block of an update has TALL rows. Factors come CHUNK rows or columns at a time, STAGES of them
// at most.
#define TALL 128
#define CHUNK 16
#define STAGES 3

// A rankUpdate adds the product of left and right, n x depth by columns and depth x n by rows, both
// from number at on, to F, whose depth columns from from on count as 0, and so do the rows with
// pivots of these columns; or it subtracts P^T P, and there are no pivots.
struct rankUpdate {
	double *f;
	const double *left, *right;
	const int *slot;
	int n, from, depth, at; // where the factors begin
	int first;              // number of the first block of threads, 0 unless each has one tile
	int without;            // if P^T P is subtracted: column of a block of F that is left as it is
};

// prefetch has what a block's next tile of F is to be read from meanwhile brought near: all blocks
// begin their tiles at about the same time, and would wait for memory, which else would wait for
// them.
template <int WIDE> static __device__ __forceinline__ void prefetch(const rankUpdate &r, int i0, int j0, int end)
{
	const int line = 16; // numbers
#pragma unroll
	for (int c = threadIdx.x; c < TALL / line * WIDE; c += THREADS) {
		int i = i0 + c % (TALL / line) * line, j = j0 + c / (TALL / line);
		if (i < r.n && j < end)
			asm volatile("prefetch.global.L2 [%0];" ::"l"(r.f + i + (i64)j * r.n));
	}
}

// update adds the product, or subtracts it if SYMMETRIC is set, in tiles of TALL rows and WIDE
// columns, of which there are those before row n and column end. A warp has 8 T rows and 32
// columns. If ONE is set there are enough blocks for a tile each.
template <int T, int WIDE, bool SYMMETRIC, bool ONE = false, class TILES> static __device__ __forceinline__ void update(const rankUpdate &r, const TILES &tiles, int end, double *shared)
{
	static_assert(TALL / (8 * T) * (WIDE / 32) * 32 == THREADS, "warps of update");
	const int count = tiles.count(), chunks = r.depth / CHUNK;
	const int begin = blockIdx.x - r.first, step = ONE ? 1 << 30 : gridDim.x;
	int next = begin, part = 0, stage = 0, i0, j0; // of what is to be loaded
	auto load = [&]() {
		if (next < count) {
			double *left = shared + stage * CHUNK * (TALL + WIDE), *right = left + CHUNK * TALL;
			if (part == 0)
				tiles.at(next, i0, j0);
			i64 row = (i64)(r.at + part * CHUNK) * r.n;
			copyTile<CHUNK, TALL>(left, r.left + row + i0, r.n, r.n - i0);
			copyTile<CHUNK, WIDE>(right, r.right + row + j0, r.n, end - j0);
			stage = stage == STAGES - 1 ? 0 : stage + 1;
			if (++part == chunks) {
				part = 0;
				next += step;
			}
		}
		closeGroup();
	};
#pragma unroll
	for (int i = 0; i < STAGES - 1; i++)
		load();
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, at = 0;
	int wi = warp % (TALL / (8 * T)) * (8 * T), wj = warp / (TALL / (8 * T)) * 32;
	for (int tile = begin; tile < count; tile += step) {
		int i0, j0;
		tiles.at(tile, i0, j0);
		i0 += wi;
		j0 += wj;
		bool there = i0 < r.n && j0 < end;
		// Number (lane / 4, 2 (lane mod 4)) of tile (s, t) is F's in row 8 t + 2 (lane mod 4) and
		// column 8 s + lane / 4.
		double *f = r.f + i0 + 2 * (lane % 4) + (i64)(j0 + lane / 4) * r.n;
		double2 c[4][T] = {};
		if (there && (u32)(j0 - r.from) >= r.depth) {
#pragma unroll
			for (int t = 0; t < T; t++) {
				bool pivotX = false, pivotY = false;
				if (!SYMMETRIC) {
					int2 slot = *(const int2 *)(r.slot + i0 + 8 * t + 2 * (lane % 4));
					pivotX = (u32)(slot.x - r.from) < r.depth;
					pivotY = (u32)(slot.y - r.from) < r.depth;
				}
#pragma unroll
				for (int s = 0; s < 4; s++) {
					c[s][t] = *(const double2 *)(f + (i64)(8 * s) * r.n + 8 * t);
					c[s][t].x = pivotX ? 0 : c[s][t].x;
					c[s][t].y = pivotY ? 0 : c[s][t].y;
				}
			}
		}
		if (!ONE && tile + step < count) {
			int i, j;
			tiles.at(tile + step, i, j);
			prefetch<WIDE>(r, i, j, end);
		}
		for (int chunk = 0; chunk < chunks; chunk++) {
			waitGroups<STAGES - 2>();
			__syncthreads();
			load();
			const double *left = shared + at * CHUNK * (TALL + WIDE), *right = left + CHUNK * TALL;
			at = at == STAGES - 1 ? 0 : at + 1;
			multiplyChunk<T, CHUNK, WIDE, TALL, SYMMETRIC>(c, right, left, wj, wi);
		}
		if (!there || SYMMETRIC && j0 / BLOCK * BLOCK == r.without && i0 < r.without + BLOCK)
			continue;
#pragma unroll
		for (int s = 0; s < 4; s++)
#pragma unroll
			for (int t = 0; t < T; t++)
				*(double2 *)(f + (i64)(8 * s) * r.n + 8 * t) = c[s][t];
	}
}

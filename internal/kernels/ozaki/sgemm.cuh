// Products of float32 matrices, each entry one chain of fused multiply-adds along k.
#pragma once
#include "../common/mma.cuh"

// The pairs of slices that one launch multiplies: slice x[p] by slice y[p].
#define MOST_PAIRS 128

// P_p = X_p Y_pᵀ: slice s of x is a matrix of rows rows and k columns at x + s xStride, in
// numbers, slice t of y one of cols rows, and P_p at z + p zStride one of rows x cols. ld is
// the distance of columns, a multiple of 4.
struct floatProducts {
	u64 x, y, z;
	i64 xLd, yLd, zLd;
	i64 xStride, yStride, zStride;
	int rows, cols, k, rowTiles, colTiles, _;
	u8 left[MOST_PAIRS], right[MOST_PAIRS];
};

// The columns of a stage.
#define FLOATS_K 16

// Blocks take their tiles in bands of rows, so that those that run at a time share operands.
#define BAND 16

// copyOrZero copies 16 bytes to shared memory, or zeros.
static __device__ __forceinline__ void copyOrZero(u32 to, const void *from, bool copy)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(copy ? 16 : 0));
}

// tileOf returns the tile of block b.
static __device__ __forceinline__ int2 tileOf(int b, int rowTiles, int colTiles)
{
	int band = b / (BAND * colTiles), first = band * BAND;
	int height = min(BAND, rowTiles - first), at = b - first * colTiles;
	return make_int2(first + at % height, at / height);
}

// A block of threads computes tm x tn entries. A warp is LM x 32/LM lanes, each of which
// has QM x QN squares of 4 x 4 entries, 4 LM rows and 128/LM columns apart: what lanes
// read from shared memory at a time lies next to each other.
template <int TM, int TN, int QM, int QN, int LM, int STAGES> static __device__ __forceinline__ void multiplyFloats(const floatProducts &p)
{
	const int LN = 32 / LM, WM = 4 * LM * QM, WN = 4 * LN * QN, WARPS = TM / WM, THREADS = 32 * WARPS * (TN / WN);
	const int STAGE = (TM + TN) * FLOATS_K;
	static_assert(THREADS % (TM / 4) == 0 && THREADS % (TN / 4) == 0, "a thread copies the same rows of all stages");
	extern __shared__ __align__(16) float memory[];

	int2 tile = tileOf(blockIdx.x, p.rowTiles, p.colTiles);
	int row0 = tile.x * TM, col0 = tile.y * TN;
	int xRow = threadIdx.x % (TM / 4) * 4, yRow = threadIdx.x % (TN / 4) * 4;
	int xFirst = threadIdx.x / (TM / 4), yFirst = threadIdx.x / (TN / 4);
	bool hasX = row0 + xRow < p.rows, hasY = col0 + yRow < p.cols;
	const float *x = (const float *)p.x + p.left[blockIdx.z] * p.xStride + (hasX ? xFirst * p.xLd + row0 + xRow : 0);
	const float *y = (const float *)p.y + p.right[blockIdx.z] * p.yStride + (hasY ? yFirst * p.yLd + col0 + yRow : 0);
	u32 base = sharedAddress(memory);
	u32 xTo = base + 4 * (xFirst * TM + xRow), yTo = base + 4 * (FLOATS_K * TM + yFirst * TN + yRow);
	int steps = (p.k + FLOATS_K - 1) / FLOATS_K;

	// load starts the copy of a stage, one group of copies.
	auto load = [&](int step) {
		if (step < steps) {
			u32 to = step % STAGES * STAGE * 4;
			int left = p.k - step * FLOATS_K; // columns
#pragma unroll
			for (int i = 0; i < FLOATS_K; i += THREADS / (TM / 4))
				copyOrZero(xTo + to + 4 * i * TM, x + i * p.xLd, hasX && xFirst + i < left);
#pragma unroll
			for (int i = 0; i < FLOATS_K; i += THREADS / (TN / 4))
				copyOrZero(yTo + to + 4 * i * TN, y + i * p.yLd, hasY && yFirst + i < left);
			x += hasX ? FLOATS_K * p.xLd : 0;
			y += hasY ? FLOATS_K * p.yLd : 0;
		}
		closeGroup();
	};

	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	int xAt = warp % WARPS * WM + lane % LM * 4, yAt = warp / WARPS * WN + lane / LM * 4;
	float sum[4 * QM][4 * QN] = {};
	float4 a[2][QM], b[2][QN];

	// read takes column k of a stage from shared memory.
	auto read = [&](int to, const float *stage, int k) {
#pragma unroll
		for (int q = 0; q < QM; q++)
			a[to][q] = *(const float4 *)(stage + k * TM + xAt + 4 * LM * q);
#pragma unroll
		for (int q = 0; q < QN; q++)
			b[to][q] = *(const float4 *)(stage + FLOATS_K * TM + k * TN + yAt + 4 * LN * q);
	};

	for (int s = 0; s < STAGES - 1; s++)
		load(s);
	waitGroups<STAGES - 2>();
	__syncthreads();
	const float *stage = memory;
	read(0, stage, 0);
	for (int step = 0; step < steps; step++) {
#pragma unroll
		for (int k = 0; k < FLOATS_K; k++) {
			if (k == FLOATS_K - 1) {
				waitGroups<STAGES - 2>();
				__syncthreads();
				stage = memory + (step + 1) % STAGES * STAGE;
			}
			read((k + 1) % 2, stage, (k + 1) % FLOATS_K);
			if (k == 0)
				load(step + STAGES - 1);
#pragma unroll
			for (int i = 0; i < 4 * QM; i++)
#pragma unroll
				for (int j = 0; j < 4 * QN; j++)
					sum[i][j] = __fmaf_rn((&a[k % 2][i / 4].x)[i % 4], (&b[k % 2][j / 4].x)[j % 4], sum[i][j]);
		}
	}

	float *z = (float *)p.z + blockIdx.z * p.zStride;
#pragma unroll
	for (int j = 0; j < 4 * QN; j++) {
		int col = col0 + yAt + j / 4 * 4 * LN + j % 4;
		if (col >= p.cols)
			continue;
#pragma unroll
		for (int q = 0; q < QM; q++) {
			int row = row0 + xAt + 4 * LM * q;
			if (row < p.rows)
				*(float4 *)(z + col * p.zLd + row) = make_float4(sum[4 * q][j], sum[4 * q + 1][j], sum[4 * q + 2][j], sum[4 * q + 3][j]);
		}
	}
}

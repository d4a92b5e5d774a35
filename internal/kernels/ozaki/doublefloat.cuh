// Products of matrices of double-floats, unevaluated sums h + l of two float32 numbers.
#pragma once
#include "sgemm.cuh"

struct pair {
	float h, l;
};

static __device__ __forceinline__ pair twoSum(float a, float b)
{
	float s = __fadd_rn(a, b), x = __fsub_rn(s, b), y = __fsub_rn(s, x);
	return {s, __fadd_rn(__fsub_rn(a, x), __fsub_rn(b, y))};
}

// fastTwoSum is twoSum for |a| >= |b|.
static __device__ __forceinline__ pair fastTwoSum(float a, float b)
{
	float s = __fadd_rn(a, b);
	return {s, __fsub_rn(b, __fsub_rn(s, a))};
}

// addPairs is algorithm 6, AccurateDWPlusDW, of Joldes, Muller and Popescu (2017).
static __device__ __forceinline__ pair addPairs(pair x, pair y)
{
	pair s = twoSum(x.h, y.h), t = twoSum(x.l, y.l);
	pair v = fastTwoSum(s.h, __fadd_rn(s.l, t.h));
	return fastTwoSum(v.h, __fadd_rn(t.l, v.l));
}

static __device__ __forceinline__ pair multiplyPairs(pair x, pair y)
{
	float p = __fmul_rn(x.h, y.h), e = __fmaf_rn(x.h, y.h, -p);
	e = __fmaf_rn(x.h, y.l, e);
	e = __fmaf_rn(x.l, y.h, e);
	return fastTwoSum(p, e);
}

// Entry (i, j) of T, number i + j tLd, is the sum of x_ih y_jh over h < k in order, from 0.
// x_ih is h + l for number i + h xLd of the planes xHigh and xLow, y_jh likewise; distances of
// columns are multiples of 4.
struct pairProduct {
	u64 xHigh, xLow, yHigh, yLow, t;
	i64 xLd, yLd, tLd;
	int rows, cols, k, rowTiles, colTiles, _;
};

#define PAIR_TILE 64
#define PAIR_K 8

// A block of 256 threads computes 64 x 64 entries, a thread 4 x 4.
static __device__ __forceinline__ void multiplyDoubles(const pairProduct &p)
{
	__shared__ __align__(16) float memory[2][4][PAIR_K][PAIR_TILE];
	int2 tile = tileOf(blockIdx.x, p.rowTiles, p.colTiles);
	int row0 = tile.x * PAIR_TILE, col0 = tile.y * PAIR_TILE;
	// A thread copies 4 numbers of one column of two planes of one operand.
	int plane = threadIdx.x / 128, column = threadIdx.x / 16 % PAIR_K, at = threadIdx.x % 16 * 4;
	bool inside = plane ? col0 + at < p.cols : row0 + at < p.rows;
	i64 ld = plane ? p.yLd : p.xLd, from = inside ? (plane ? col0 : row0) + at + column * ld : 0;
	const float *high = (const float *)(plane ? p.yHigh : p.xHigh) + from, *low = (const float *)(plane ? p.yLow : p.xLow) + from;
	auto load = [&](int h, int stage) {
		if (h < p.k) {
			bool copy = inside && h + column < p.k;
			i64 skip = copy ? h * ld : 0;
			copyOrZero(sharedAddress(&memory[stage][2 * plane][column][at]), high + skip, copy);
			copyOrZero(sharedAddress(&memory[stage][2 * plane + 1][column][at]), low + skip, copy);
		}
		closeGroup();
	};
	int i0 = threadIdx.x % 16 * 4, j0 = threadIdx.x / 16 * 4;
	pair sum[4][4] = {};
	load(0, 0);
	for (int h = 0, stage = 0; h < p.k; h += PAIR_K, stage ^= 1) {
		load(h + PAIR_K, stage ^ 1);
		waitGroups<1>();
		__syncthreads();
#pragma unroll
		for (int k = 0; k < PAIR_K; k++) {
			if (h + k >= p.k)
				break;
			float4 x[4];
#pragma unroll
			for (int i = 0; i < 4; i++)
				x[i] = *(const float4 *)&memory[stage][i][k][i < 2 ? i0 : j0];
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					sum[i][j] = addPairs(sum[i][j], multiplyPairs({(&x[0].x)[i], (&x[1].x)[i]}, {(&x[2].x)[j], (&x[3].x)[j]}));
		}
		__syncthreads();
	}
#pragma unroll
	for (int j = 0; j < 4; j++) {
		if (col0 + j0 + j >= p.cols || row0 + i0 >= p.rows)
			continue;
		double *t = (double *)p.t + (col0 + j0 + j) * p.tLd + row0 + i0;
#pragma unroll
		for (int i = 0; i < 4; i++)
			t[i] = (double)sum[i][j].h + (double)sum[i][j].l;
	}
}

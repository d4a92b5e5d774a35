// What kernels of partial pivoting share.
#pragma once
#include "../common/common.cuh"
#include "elimination.cuh"
#include "tensor.cuh"

#define NODE 256 // rows of a block, one to a thread

struct pivoting {
	u64 tops;   // i64: exponents by which rows of F were scaled down, of n rows
	u64 keys;   // u64: two lists, for columns in turn, of the keys of the blocks' best rows; zeros
	u64 rows;   // double: two lists of those rows, BLOCK numbers each
	u64 chosen; // int: the places of the step's pivots
	int n, pad;
};

#define COLUMN_BITS 7 // of a key: for which column it is, from 1

// keyOf orders rows by the magnitudes of their entries x 2^top: 24 bits of the exponent, 33 of the
// significand; zeros have 1.
static __device__ __forceinline__ u64 keyOf(double x, i64 top)
{
	u64 bits = (u64)__double_as_longlong(x) << 1 >> 1;
	if (bits == 0)
		return 1;
	i64 e = (i64)(bits >> 52) - 1023 + top;
	e = (e < -(1 << 22) ? -(1 << 22) : e > 1 << 22 ? 1 << 22 : e) + (1 << 23);
	return (u64)e << 33 | bits << 12 >> 31;
}

// shortKey orders rows as keyOf does, by 32 bits of the significand.
static __device__ __forceinline__ u64 shortKey(double x, int top)
{
	u64 bits = (u64)__double_as_longlong(x) << 1 >> 1;
	if (bits == 0)
		return 1;
	int e = (int)(bits >> 52) - 1023 + top;
	return (u64)(u32)(min(max(e, -(1 << 22)), 1 << 22) + (1 << 23)) << 32 | (u32)(bits >> 20);
}

// shortTop returns an exponent for shortKey: keys of more do not differ.
static __device__ __forceinline__ int shortTop(i64 top)
{
	const i64 most = (1 << 22) + (1 << 12);
	return (int)(top < -most ? -most : top > most ? most : top);
}

// largestOfWarp returns the largest number of a warp's threads.
static __device__ __forceinline__ u64 largestOfWarp(u64 x)
{
	u32 high = __reduce_max_sync(~0u, (u32)(x >> 32));
	return (u64)high << 32 | __reduce_max_sync(~0u, (u32)(x >> 32) == high ? (u32)x : 0);
}

// What a thread knows of its row.
struct panelRow {
	double a[BLOCK]; // the columns from the step's on
	i64 top;
	int place;
	bool free; // no pivot yet
};

// rowOf returns the row of the block's thread in a panel.
static __device__ __forceinline__ panelRow rowOf(const elimination &g, const pivoting &p)
{
	panelRow r;
	r.place = g.first + blockIdx.x * NODE + threadIdx.x;
	r.free = r.place < g.n;
	int row = r.free ? ((const int *)g.order)[r.place] : 0;
	r.top = r.free && row < p.n ? ((const i64 *)p.tops)[row] : 0;
	const double *f = (const double *)g.f + row + (i64)g.first * g.n;
#pragma unroll
	for (int j = 0; j < BLOCK; j++)
		r.a[j] = r.free ? f[(i64)j * g.n] : 0;
	return r;
}

// eliminatePivot eliminates the pivot of a column, whose row is given, from the thread's row.
template <int W> static __device__ __forceinline__ void eliminatePivot(panelRow &r, const double *row)
{
	double m = r.a[0] * reciprocal(row[0]);
#pragma unroll
	for (int j = 0; j < W - 1; j++)
		r.a[j] = fma(-m, row[j + 1], r.a[j + 1]);
}

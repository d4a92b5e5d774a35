// The inverse S of the Cholesky factor of a symmetric positive definite matrix in binary64, about,
// with which the factors of package linsolve begin. Nothing is known of its error.
//
// F = diag(2^exps) A diag(2^exps), padded by a unit matrix to order N, a multiple of BLOCK, is
// eliminated in place, BLOCK columns K at a time, as [F I] is to [L^T S]: with F[K,K] = L L^T,
// columns J before K, where S grows, and rows i and columns j behind K
//
//	P[J] = L^-1 F[K,J]    P[K] = L^-1    P[j] = L^-1 F[j,K]^T
//
//	F[K,J] = P[J]    F[K,K] = P[K]
//	F[i,J] -= P[i]^T P[J]    F[i,K] = -P[i]^T P[K]    F[i,j] -= P[i]^T P[j]
//
// of which the lower triangle is all that counts.
#include "../common/leading.cuh"
#include "tensor.cuh"

struct root {
	vectors a;    // rows of A
	u64 exps;     // i64
	u64 status;   // u32
	u64 f;        // double: F by columns
	u64 inverse;  // double: L^-1 of the step, by columns
	u64 panel;    // double: P, BLOCK x N by rows
	int n, first; // N, the first column of the step
};

// rootExponents finds the exponents, from the diagonal.
extern "C" __global__ void __launch_bounds__(THREADS) rootExponents(const __grid_constant__ root g)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= g.a.n)
		return;
	i64 e;
	if (!(leading(g.a.a, g.a.off + i * (g.a.rs + g.a.cs), e) > 0))
		atomicOr((u32 *)g.status, SINGULAR);
	((i64 *)g.exps)[i] = -(e >> 1);
}

// rootMatrix stores the lower triangle of F.
extern "C" __global__ void __launch_bounds__(THREADS) rootMatrix(const __grid_constant__ root g)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.y;
	if (i >= g.n)
		return;
	double x = i == j;
	if (i >= j && i < g.a.n) {
		i64 at = g.a.off + i * g.a.rs + j * g.a.cs, e;
		x = leading(g.a.a, at, e);
		e += ((const i64 *)g.exps)[i] + ((const i64 *)g.exps)[j];
		bool special = g.a.a.kind == MP ? ((const u8 *)g.a.a.plane[2])[at] >> 1 > FINITE : !finite(term(g.a.a, at, 0));
		if (special || x != 0 && e > FAR)
			atomicOr((u32 *)g.status, NOT_FINITE);
		x = x == 0 || e < -FAR || e > FAR ? 0 : x * __longlong_as_double((e + 1023) << 52);
	}
	((double *)g.f)[i + (i64)j * g.n] = x;
}

// Threads of rootBlock are a square of SIDE, each with entries (SIDE a, SIDE b) from its own on.
#define SIDE 16
#define PART (BLOCK / SIDE)

static_assert(SIDE * SIDE == THREADS, "threads of rootBlock");

// blockStep eliminates column s = SIDE PHASE + t of the block, unscaled: rows of L^-1 are to be
// divided by the roots of the pivots. It stores the pivot.
template <int PHASE> static __device__ __forceinline__ void blockStep(double (&m)[PART][PART], int t, double *column, double *row, double *pivots, bool &regular)
{
	int i0 = threadIdx.x % SIDE, j0 = threadIdx.x / SIDE, s = SIDE * PHASE + t;
	if (j0 == t) {
#pragma unroll
		for (int a = 0; a < PART; a++)
			column[i0 + SIDE * a] = m[a][PHASE];
	}
	if (i0 == t) {
#pragma unroll
		for (int b = 0; b < PART; b++)
			row[j0 + SIDE * b] = m[PHASE][b];
	}
	__syncthreads();
	double pivot = column[s];
	if (!(pivot > 0x1p-80)) {
		regular = false;
		pivot = 1;
	}
	if (threadIdx.x == 0)
		pivots[s] = pivot;
	double inverse = 1 / pivot, f[PART], r[PART];
#pragma unroll
	for (int a = 0; a < PART; a++)
		f[a] = i0 + SIDE * a > s ? -column[i0 + SIDE * a] * inverse : 0;
#pragma unroll
	for (int b = 0; b < PART; b++) {
		int j = j0 + SIDE * b;
		r[b] = j < s ? row[j] : j == s ? 1 : column[j];
	}
#pragma unroll
	for (int a = 0; a < PART; a++)
#pragma unroll
		for (int b = 0; b < PART; b++) {
			double old = j0 + SIDE * b == s && i0 + SIDE * a > s ? 0 : m[a][b];
			m[a][b] = fma(f[a], r[b], old);
		}
}

// rootBlock inverts the Cholesky factor of the step's block, in one block of threads.
extern "C" __global__ void __launch_bounds__(THREADS, 1) rootBlock(const __grid_constant__ root g)
{
	// A step writes to one half while others may still read from the one before.
	__shared__ double columns[2][BLOCK], rows[2][BLOCK], pivots[BLOCK];
	int i0 = threadIdx.x % SIDE, j0 = threadIdx.x / SIDE;
	const double *f = (const double *)g.f + g.first + (i64)g.first * g.n;
	double m[PART][PART];
#pragma unroll
	for (int a = 0; a < PART; a++)
#pragma unroll
		for (int b = 0; b < PART; b++) {
			int i = i0 + SIDE * a, j = j0 + SIDE * b;
			m[a][b] = i >= j ? f[i + (i64)j * g.n] : 0;
		}
	bool regular = true;
	for (int t = 0; t < SIDE; t++)
		blockStep<0>(m, t, columns[t & 1], rows[t & 1], pivots, regular);
	for (int t = 0; t < SIDE; t++)
		blockStep<1>(m, t, columns[t & 1], rows[t & 1], pivots, regular);
	for (int t = 0; t < SIDE; t++)
		blockStep<2>(m, t, columns[t & 1], rows[t & 1], pivots, regular);
	for (int t = 0; t < SIDE; t++)
		blockStep<3>(m, t, columns[t & 1], rows[t & 1], pivots, regular);
	if (threadIdx.x == 0 && !regular)
		atomicOr((u32 *)g.status, SINGULAR);
	__syncthreads();
	double *to = (double *)g.inverse;
#pragma unroll
	for (int a = 0; a < PART; a++) {
		int i = i0 + SIDE * a;
		double scale = 1 / sqrt(pivots[i]);
#pragma unroll
		for (int b = 0; b < PART; b++) {
			int j = j0 + SIDE * b;
			to[j * BLOCK + i] = j > i ? 0 : j == i ? scale : m[a][b] * scale;
		}
	}
}

static_assert(PART == 4 && SIDE % 2 == 0, "steps of rootBlock");

// rootPanel makes P, and stores the rows of S of the step.
extern "C" __global__ void __launch_bounds__(THREADS) rootPanel(const __grid_constant__ root g)
{
	extern __shared__ __align__(16) double shared[];
	double *triangle = shared, *strip = shared + BLOCK * BLOCK, *f = (double *)g.f;
	int j0 = blockIdx.x * STRIP;
	copyTile<BLOCK, BLOCK>(triangle, (const double *)g.inverse, BLOCK, BLOCK);
	closeGroup();
	for (int i = threadIdx.x; i < BLOCK * STRIP; i += THREADS)
		if (j0 >= g.first + BLOCK)
			strip[swizzled<STRIP>(i / STRIP, i % STRIP)] = f[j0 + i % STRIP + (i64)(g.first + i / STRIP) * g.n];
		else {
			int k = i % BLOCK, j = j0 + i / BLOCK;
			strip[swizzled<STRIP>(k, i / BLOCK)] = j >= g.first ? j - g.first == k : f[g.first + k + (i64)j * g.n];
		}
	waitGroups<0>();
	__syncthreads();
	double2 c[2] = {};
	multiplyStrip(c, triangle, strip);
	int j = j0 + stripColumn() + threadIdx.x % 4 * 2;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int k = stripRow() + 8 * half;
		*(double2 *)((double *)g.panel + (i64)k * g.n + j) = c[half];
		if (j0 < g.first + BLOCK) {
			f[g.first + k + (i64)j * g.n] = c[half].x;
			f[g.first + k + (i64)(j + 1) * g.n] = c[half].y;
		}
	}
}

// A block of rootUpdate has TALL rows and BLOCK columns, a warp 32 rows and 32 columns.
#define TALL 128

// rootUpdate subtracts P^T P from the rows behind the step's, as far as blocks (i, j) reach into
// the lower triangle. The step's columns count as 0.
extern "C" __global__ void __launch_bounds__(THREADS, 2) rootUpdate(const __grid_constant__ root g)
{
	extern __shared__ __align__(16) double shared[];
	double *left = shared, *right = shared + BLOCK * TALL;
	int i0 = g.first + BLOCK + blockIdx.x * TALL, j0 = blockIdx.y * BLOCK;
	if (j0 >= i0 + TALL)
		return;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		const double *from = (const double *)g.panel + (i64)(half * (BLOCK / 2)) * g.n;
		copyTile<BLOCK / 2, TALL>(left + half * (BLOCK / 2) * TALL, from + i0, g.n, g.n - i0);
		copyTile<BLOCK / 2, BLOCK>(right + half * (BLOCK / 2) * BLOCK, from + j0, g.n, BLOCK);
		closeGroup();
	}
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int wi = warp % 4 * 32, wj = warp / 4 * 32;
	bool there = i0 + wi < g.n;
	// Number (lane / 4, 2 (lane mod 4)) of tile (s, t) is F's in row 8 t + 2 (lane mod 4) and
	// column 8 s + lane / 4.
	double *f = (double *)g.f + i0 + wi + 2 * (lane % 4) + (i64)(j0 + wj + lane / 4) * g.n;
	double2 c[4][4] = {};
	if (there && j0 != g.first) {
#pragma unroll
		for (int t = 0; t < 4; t++)
#pragma unroll
			for (int s = 0; s < 4; s++)
				c[s][t] = *(const double2 *)(f + (i64)(8 * s) * g.n + 8 * t);
	}
#pragma unroll
	for (int half = 0; half < 2; half++) {
		if (half == 0)
			waitGroups<1>();
		else
			waitGroups<0>();
		__syncthreads();
#pragma unroll 1
		for (int k = half * (BLOCK / 2); k < (half + 1) * (BLOCK / 2); k += 16)
			multiplyChunk<4, 16, BLOCK, TALL, true>(c, right + k * BLOCK, left + k * TALL, wj, wi);
	}
	if (!there)
		return;
#pragma unroll
	for (int s = 0; s < 4; s++)
#pragma unroll
		for (int t = 0; t < 4; t++)
			*(double2 *)(f + (i64)(8 * s) * g.n + 8 * t) = c[s][t];
}

// rootInverse stores S, in numbers off + i rs + j cs of F64.
extern "C" __global__ void __launch_bounds__(THREADS) rootInverse(const __grid_constant__ root g, u64 to, i64 rs, i64 cs)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.y;
	if (i >= g.a.n)
		return;
	double x = i < j ? 0 : ((const double *)g.f)[i + (i64)j * g.n];
	if (!finite(x) || i == j && !(x > 0))
		atomicOr((u32 *)g.status, NOT_FINITE);
	((double *)to)[i * rs + j * cs] = x;
}

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
// of which the lower triangle is all that counts. As in seed.cu the steps of a panel of columns
// update these alone, and then one product all others, for which the rows of P of all steps are
// made one from the other.
#include "../common/leading.cuh"
#include "reciprocal.cuh"
#include "tensor.cuh"
#include "update.cuh"

struct root {
	vectors a;    // rows of A, or of its columns that the GPU has
	u64 exps;     // i64
	u64 status;   // u32
	u64 f;        // double: F by columns
	u64 inverse;  // double: L^-1 of the panel's steps, each by columns
	u64 p;        // double: P of the panel's steps, each BLOCK x N by rows
	int n, first; // N, the first column of the step
	int panel;    // the first column of the panel
	int pad;
};

// rootExponents finds the exponents of columns begin to end, from the diagonal.
extern "C" __global__ void __launch_bounds__(THREADS) rootExponents(const __grid_constant__ root g, int begin, int end)
{
	int i = begin + blockIdx.x * THREADS + threadIdx.x;
	if (i >= end)
		return;
	i64 e;
	if (!(leading(g.a.a, g.a.off + i * g.a.rs + (i - begin) * g.a.cs, e) > 0))
		atomicOr((u32 *)g.status, SINGULAR);
	((i64 *)g.exps)[i] = -(e >> 1);
}

// rootMatrix stores the lower triangle of F in columns from begin on.
extern "C" __global__ void __launch_bounds__(THREADS) rootMatrix(const __grid_constant__ root g, int begin)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = begin + blockIdx.y;
	if (i >= g.n)
		return;
	double x = i == j;
	if (i >= j && i < g.a.n) {
		i64 at = g.a.off + i * g.a.rs + (j - begin) * g.a.cs, e;
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
// They eliminate TOGETHER columns between two barriers.
#define SIDE 16
#define PART (BLOCK / SIDE)
#define TOGETHER 4

static_assert(SIDE * SIDE == THREADS, "threads of rootBlock");

// blockStep eliminates column s = SIDE PHASE + TOGETHER u and the next ones of the block, unscaled:
// rows of L^-1 are to be divided by the roots of the pivots. It stores the pivots. Column s alone
// is eliminated by
//
//	M[i,j] += f_i r_j,  f_i = -M[i,s] / M[s,s] for i > s, else 0
//	r_j = M[s,j] for j < s, 1 for j = s, M[j,s] for j > s
//
// where M[i,s] counts as 0. For the next columns each thread first makes what the columns before
// leave of its rows and columns, by the factors of the triangle T of these columns, which all
// threads have.
template <int PHASE> static __device__ __forceinline__ void blockStep(double (&m)[PART][PART], int u, double *column, double *row, double *pivots, bool &regular)
{
	int i0 = threadIdx.x % SIDE, j0 = threadIdx.x / SIDE, s = SIDE * PHASE + TOGETHER * u;
	int ownRow = i0 - TOGETHER * u, ownColumn = j0 - TOGETHER * u;
	if ((u32)ownColumn < TOGETHER) {
#pragma unroll
		for (int a = 0; a < PART; a++)
			column[ownColumn * BLOCK + i0 + SIDE * a] = m[a][PHASE];
	}
	if ((u32)ownRow < TOGETHER) {
#pragma unroll
		for (int b = 0; b < PART; b++)
			row[ownRow * BLOCK + j0 + SIDE * b] = m[PHASE][b];
	}
	__syncthreads();
	double t[TOGETHER][TOGETHER], by[TOGETHER][TOGETHER], inverse[TOGETHER];
#pragma unroll
	for (int c = 0; c < TOGETHER; c++)
#pragma unroll
		for (int e = c; e < TOGETHER; e++)
			t[e][c] = column[c * BLOCK + s + e];
#pragma unroll
	for (int c = 0; c < TOGETHER; c++) {
		double pivot = t[c][c];
		if (!(pivot > 0x1p-80)) {
			regular = false;
			pivot = 1;
		}
		if (threadIdx.x == 0)
			pivots[s + c] = pivot;
		inverse[c] = fastReciprocal(pivot);
#pragma unroll
		for (int e = c + 1; e < TOGETHER; e++)
			by[e][c] = -t[e][c] * inverse[c];
#pragma unroll
		for (int e = c + 1; e < TOGETHER; e++)
#pragma unroll
			for (int h = c + 1; h <= e; h++)
				t[e][h] = fma(by[e][c], t[h][c], t[e][h]);
	}
	double f[TOGETHER][PART], r[TOGETHER][PART];
#pragma unroll
	for (int a = 0; a < PART; a++) {
		int i = i0 + SIDE * a;
		double x[TOGETHER];
#pragma unroll
		for (int c = 0; c < TOGETHER; c++) {
			x[c] = column[c * BLOCK + i];
#pragma unroll
			for (int h = 0; h < c; h++)
				x[c] = fma(by[c][h], x[h], x[c]);
			f[c][a] = i > s + c ? -x[c] * inverse[c] : 0;
		}
	}
#pragma unroll
	for (int b = 0; b < PART; b++) {
		int j = j0 + SIDE * b;
		bool own = b == PHASE && (u32)ownColumn < TOGETHER;
		const double *from = (j < s ? row : column) + j;
#pragma unroll
		for (int c = 0; c < TOGETHER; c++) {
			r[c][b] = own ? c == ownColumn : from[c * BLOCK];
#pragma unroll
			for (int h = 0; h < c; h++)
				r[c][b] = fma(by[c][h], r[h][b], r[c][b]);
		}
	}
#pragma unroll
	for (int a = 0; a < PART; a++)
#pragma unroll
		for (int b = 0; b < PART; b++) {
			double x = b == PHASE && (u32)ownColumn < TOGETHER ? 0 : m[a][b];
#pragma unroll
			for (int c = 0; c < TOGETHER; c++)
				x = fma(f[c][a], r[c][b], x);
			m[a][b] = x;
		}
}

// rootBlock inverts the Cholesky factor of the step's block, in one block of threads.
extern "C" __global__ void __launch_bounds__(THREADS, 1) rootBlock(const __grid_constant__ root g)
{
	// A step writes to one half while others may still read from the one before.
	__shared__ double columns[2][TOGETHER * BLOCK], rows[2][TOGETHER * BLOCK], pivots[BLOCK];
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
	for (int u = 0; u < SIDE / TOGETHER; u++)
		blockStep<0>(m, u, columns[u & 1], rows[u & 1], pivots, regular);
	for (int u = 0; u < SIDE / TOGETHER; u++)
		blockStep<1>(m, u, columns[u & 1], rows[u & 1], pivots, regular);
	for (int u = 0; u < SIDE / TOGETHER; u++)
		blockStep<2>(m, u, columns[u & 1], rows[u & 1], pivots, regular);
	for (int u = 0; u < SIDE / TOGETHER; u++)
		blockStep<3>(m, u, columns[u & 1], rows[u & 1], pivots, regular);
	if (threadIdx.x == 0 && !regular)
		atomicOr((u32 *)g.status, SINGULAR);
	__syncthreads();
	double *to = (double *)g.inverse + (g.first - g.panel) * BLOCK;
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

static_assert(PART == 4 && SIDE / TOGETHER % 2 == 0, "steps of rootBlock");

// rootPanel makes the step's P of columns from begin on, of which F has what the steps before have
// left, and stores the rows of S.
extern "C" __global__ void __launch_bounds__(THREADS) rootPanel(const __grid_constant__ root g, int begin)
{
	extern __shared__ __align__(16) double shared[];
	double *triangle = shared, *strip = shared + BLOCK * BLOCK, *f = (double *)g.f;
	int j0 = begin + blockIdx.x * STRIP, before = g.first - g.panel;
	copyTile<BLOCK, BLOCK>(triangle, (const double *)g.inverse + before * BLOCK, BLOCK, BLOCK);
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
	multiplyStrip<false>(c, triangle, strip);
	int j = j0 + stripColumn() + threadIdx.x % 4 * 2;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int k = stripRow() + 8 * half;
		*(double2 *)((double *)g.p + (i64)(before + k) * g.n + j) = c[half];
		if (j0 < g.first + BLOCK) {
			f[g.first + k + (i64)j * g.n] = c[half].x;
			f[g.first + k + (i64)(j + 1) * g.n] = c[half].y;
		}
	}
}

// rootRows makes P of all steps of a panel of so many columns, of columns before the panel from
// begin on, and stores the rows of S.
extern "C" __global__ void __launch_bounds__(THREADS) rootRows(const __grid_constant__ root g, int begin, int width)
{
	extern __shared__ __align__(16) double shared[];
	double *strips = shared + 2 * BLOCK * BLOCK, *f = (double *)g.f;
	int j0 = begin + blockIdx.x * STRIP, steps = width / BLOCK, parity = 0, nextT = 0, nextS = 0;
	auto fetch = [&]() {
		if (nextT < steps) {
			double *to = shared + parity * BLOCK * BLOCK;
			if (nextS == nextT)
				copyTile<BLOCK, BLOCK>(to, (const double *)g.inverse + nextT * BLOCK * BLOCK, BLOCK, BLOCK);
			else
				copyTile<BLOCK, BLOCK>(to, (const double *)g.p + (i64)(nextS * BLOCK) * g.n + g.panel + nextT * BLOCK, g.n, BLOCK);
			parity ^= 1;
			if (++nextS > nextT) {
				nextT++;
				nextS = 0;
			}
		}
		closeGroup();
	};
	fetch();
	for (int i = threadIdx.x; i < width * STRIP; i += THREADS)
		strips[swizzled<STRIP>(i % width, i / width)] = f[g.panel + i % width + (i64)(j0 + i / width) * g.n];
	int row = stripRow(), column = stripColumn() + threadIdx.x % 4 * 2;
	for (int t = 0; t < steps; t++) {
		double *strip = strips + t * BLOCK * STRIP;
		double2 *mine = (double2 *)(strip + swizzled<STRIP>(row, column)), *below = (double2 *)(strip + swizzled<STRIP>(row + 8, column)), c[2];
		for (int s = 0; s <= t; s++) {
			waitGroups<0>();
			__syncthreads();
			const double *triangle = shared + (parity ^ 1) * BLOCK * BLOCK;
			fetch();
			if (s == t) {
				c[0] = c[1] = {0, 0};
				multiplyStrip<false>(c, triangle, strip);
				__syncthreads();
			} else {
				if (s == 0) {
					c[0] = *mine;
					c[1] = *below;
				}
				multiplyStrip<true>(c, triangle, strips + s * BLOCK * STRIP);
			}
			if (s >= t - 1) {
				*mine = c[0];
				*below = c[1];
			}
		}
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int k = t * BLOCK + row + 8 * half;
			*(double2 *)((double *)g.p + (i64)k * g.n + j0 + column) = c[half];
			f[g.panel + k + (i64)(j0 + column) * g.n] = c[half].x;
			f[g.panel + k + (i64)(j0 + column + 1) * g.n] = c[half].y;
		}
	}
}

// What tiles an update has: of rows from row on in columns begin to end, and of the lower triangle
// in columns triangle to until.
struct rootTiles {
	int row, begin, end, triangle, until;
};

// enumerated numbers them: those of the rows, of the triangle's square, and of the rows below.
template <int WIDE> struct enumerated {
	rootTiles t;
	int n;

	static __device__ __forceinline__ int tall(int from, int to) { return (to - from + TALL - 1) / TALL; }
	__device__ __forceinline__ int ofRows() const { return tall(t.row, n) * ((t.end - t.begin + WIDE - 1) / WIDE); }
	__device__ __forceinline__ int ofSquare() const
	{
		int side = tall(t.triangle, t.until);
		return side * (side + 1) / 2 * (TALL / WIDE);
	}
	__device__ __forceinline__ int count() const { return ofRows() + ofSquare() + tall(t.until, n) * ((t.until - t.triangle) / WIDE); }
	__device__ __forceinline__ void at(int tile, int &i0, int &j0) const
	{
		int rows = tall(t.row, n);
		if (tile < ofRows()) {
			i0 = t.row + tile % rows * TALL;
			j0 = t.begin + tile / rows * WIDE;
			return;
		}
		tile -= ofRows();
		if (tile < ofSquare()) {
			int i = (int)((sqrt(8.0 * (tile / (TALL / WIDE)) + 1) - 1) / 2); // exact for squares
			i0 = t.triangle + i * TALL;
			j0 = t.triangle + (tile - i * (i + 1) / 2 * (TALL / WIDE)) * WIDE;
			return;
		}
		tile -= ofSquare();
		rows = tall(t.until, n);
		i0 = t.until + tile % rows * TALL;
		j0 = t.triangle + tile / rows * WIDE;
	}
};

// updateRoot subtracts P^T P of depth columns from column from on, which count as 0.
template <int T, int WIDE> static __device__ __forceinline__ void updateRoot(const root &g, int from, int depth, const rootTiles &t, double *shared)
{
	rankUpdate r = {(double *)g.f, (const double *)g.p, (const double *)g.p, 0, g.n, from, depth, from - g.panel};
	update<T, WIDE, true>(r, enumerated<WIDE>{t, g.n}, g.n, shared);
}

// rootStep updates few columns, or by P of a step.
extern "C" __global__ void __launch_bounds__(THREADS, 2) rootStep(const __grid_constant__ root g, int from, int depth, const __grid_constant__ rootTiles t)
{
	extern __shared__ __align__(16) double shared[];
	updateRoot<4, 64>(g, from, depth, t, shared);
}

// rootUpdate updates many columns by P of a panel.
extern "C" __global__ void __launch_bounds__(THREADS, 1) rootUpdate(const __grid_constant__ root g, int from, int depth, const __grid_constant__ rootTiles t)
{
	extern __shared__ __align__(16) double shared[];
	updateRoot<8, 128>(g, from, depth, t, shared);
}

// rootInverse stores columns j of S from begin on, in numbers off + i rs + (j - begin) cs of F64.
extern "C" __global__ void __launch_bounds__(THREADS) rootInverse(const __grid_constant__ root g, int begin, u64 to, i64 rs, i64 cs)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = begin + blockIdx.y;
	if (i >= g.a.n)
		return;
	double x = i < j ? 0 : ((const double *)g.f)[i + (i64)j * g.n];
	if (!finite(x) || i == j && !(x > 0))
		atomicOr((u32 *)g.status, NOT_FINITE);
	((double *)to)[i * rs + (j - begin) * cs] = x;
}

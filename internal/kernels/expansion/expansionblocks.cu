// The block schemes of Sivkova and others, one thread an entry: expansion/blocks.go. Products have
// 8 x 8 tiles in shared memory; Gauss-Jordan elimination goes over the columns of A one by one,
// with square or linear blocks of threads. Numbers of one word are doubles.
#include "expansionproduct.cuh"

template <> struct arithmetic<1> {
	typedef num<1> N;
	static __device__ __forceinline__ N add(N x, N y, N) { return N{__dadd_rn(x[0], y[0])}; }
	static __device__ __forceinline__ N mul(N x, N y, N) { return N{__dmul_rn(x[0], y[0])}; }
	static __device__ __forceinline__ N div(N x, N y, N) { return N{__ddiv_rn(x[0], y[0])}; }
	static __device__ __forceinline__ N fma(N x, N y, N z) { return N{__fma_rn(x[0], y[0], z[0])}; }
	static __device__ __forceinline__ N mac(N s, N x, N y) { return N{__fma_rn(x[0], y[0], s[0])}; }
	static __device__ __forceinline__ N sum(N s) { return s; }
	static __device__ __forceinline__ N stored(N x) { return float64<1>(x[0]); }
};

#define SIDE 8

// square computes C by blocks of SIDE x SIDE threads, each with an entry of C and, in each step of
// SIDE products, with an entry of the tiles of A and of B.
template <int W> static __device__ __forceinline__ void square(const product &p)
{
	__shared__ double a[W][SIDE][SIDE + 1], b[W][SIDE][SIDE + 1];
	int u = threadIdx.x % SIDE, v = threadIdx.x / SIDE; // neighbours differ in u
	int x = p.vertical ? u : v, y = p.vertical ? v : u;
	int i = blockIdx.x * SIDE + x;
	bool down = p.a.rs == 1, across = p.b.cs == 1; // neighbours in memory
	int ai = down ? u : v, ah = down ? v : u, bh = across ? v : u, bj = across ? u : v;
	for (i64 j0 = blockIdx.y * SIDE; j0 < p.n; j0 += gridDim.y * SIDE) {
		int j = (int)j0 + y;
		num<W> s = {};
		for (int h0 = 0; h0 < p.k; h0 += SIDE) {
			i64 row = (i64)blockIdx.x * SIDE + ai, column = j0 + bj;
			bool inA = row < p.m && h0 + ah < p.k, inB = column < p.n && h0 + bh < p.k;
			i64 atA = inA ? row * p.a.rs + (h0 + ah) * p.a.cs : 0, atB = inB ? (h0 + bh) * p.b.rs + column * p.b.cs : 0;
#pragma unroll
			for (int t = 0; t < W; t++) {
				a[t][ah][ai] = inA ? p.a.w[t][atA] : 0;
				b[t][bh][bj] = inB ? p.b.w[t][atB] : 0;
			}
			__syncthreads();
			int depth = min(SIDE, p.k - h0);
#pragma unroll 1
			for (int h = 0; h < depth; h++) {
				num<W> f, g;
#pragma unroll
				for (int t = 0; t < W; t++) {
					f[t] = a[t][h][x];
					g[t] = b[t][h][y];
				}
				s = arithmetic<W>::mac(s, f, g);
			}
			__syncthreads();
		}
		if (i < p.m && j < p.n)
			finish<W>(p, total<W>(s, p.a.w[0] + i * p.a.rs, p.a.cs, p.b.w[0] + j * p.b.cs, p.b.rs, p.k), i, j);
	}
}

// Step k of the elimination of [A B], n rows of cols numbers in memory that lie row by row.
struct columnStep {
	entries a;        // rs numbers a row, cs is 1
	double *diagonal; // [W]: the pivot
	int *pivot, *info; // row that is exchanged with row k; 0, or 1 + k if column k has no pivot
	int n, cols, k, words, zeroRule, last;
};

// expansionColumnPivot finds the row that becomes row k, by the rules of expansionsolve.cu, and
// exchanges the two in column k. It is one block.
extern "C" __global__ void __launch_bounds__(256) expansionColumnPivot(columnStep p)
{
	__shared__ u64 keys[256];
	__shared__ int rows[256];
	if (*p.info)
		return;
	u64 best = 0;
	int at = threadIdx.x, row = -1;
	const double *column = p.a.w[0] + p.k;
	u64 diagonal = (u64)__double_as_longlong(column[p.k * p.a.rs]) << 1;
	if (p.zeroRule && diagonal) {
		best = 1;
		row = p.k;
	} else {
		for (int i = p.k + at; i < p.n; i += 256) {
			u64 key = (u64)__double_as_longlong(column[i * p.a.rs]) << 1;
			if (p.zeroRule && key)
				key = (1ull << 62) - (u64)i; // the larger the sooner the row comes
			if (key > best) {
				best = key;
				row = i;
			}
		}
	}
	keys[at] = best;
	rows[at] = row;
	for (int half = 128; half > 0; half /= 2) {
		__syncthreads();
		if (at < half) {
			u64 key = keys[at + half];
			int r = rows[at + half];
			if (key > best || key == best && key != 0 && r < row) {
				keys[at] = best = key;
				rows[at] = row = r;
			}
		}
	}
	if (at > 0)
		return;
	if (best == 0) {
		*p.info = p.k + 1;
		return;
	}
	*p.pivot = row;
	for (int t = 0; t < p.words; t++) {
		double *w = (t < 2 ? t < 1 ? p.a.w[0] : p.a.w[1] : t < 3 ? p.a.w[2] : p.a.w[3]) + p.k;
		double x = w[row * p.a.rs];
		p.diagonal[t] = x;
		w[row * p.a.rs] = w[p.k * p.a.rs];
		w[p.k * p.a.rs] = x;
	}
}

// divide exchanges rows in the columns after k and divides the new row k, a thread a column.
template <int W> static __device__ __forceinline__ void divide(const columnStep &p)
{
	typedef arithmetic<W> A;
	int j = p.k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
	if (*p.info || j >= p.cols)
		return;
	int q = *p.pivot;
	num<W> x = load<W>(p.a, q * p.a.rs + j), d, zero = {};
	if (q != p.k)
		store<W>(p.a, q * p.a.rs + j, load<W>(p.a, p.k * p.a.rs + j));
#pragma unroll
	for (int t = 0; t < W; t++)
		d[t] = p.diagonal[t];
	x = A::div(x, d, zero);
	store<W>(p.a, p.k * p.a.rs + j, p.last ? A::stored(x) : x);
}

// clearColumn subtracts multiples of row k from the other rows, by blocks of R rows and C columns,
// with their part of row k in shared memory.
template <int W, int R, int C> static __device__ __forceinline__ void clearColumn(const columnStep &p)
{
	typedef arithmetic<W> A;
	__shared__ double shared[W][C];
	int x = threadIdx.x % C, y = threadIdx.x / C;
	int j = p.k + 1 + blockIdx.x * C + x;
	if (*p.info)
		return;
	if (y == 0 && j < p.cols)
#pragma unroll
		for (int t = 0; t < W; t++)
			shared[t][x] = p.a.w[t][p.k * p.a.rs + j];
	__syncthreads();
	if (j >= p.cols)
		return;
	for (int i = blockIdx.y * R + y; i < p.n; i += gridDim.y * R) {
		if (i == p.k)
			continue;
		num<W> l = neg<W>(load<W>(p.a, i * p.a.rs + p.k)), u;
#pragma unroll
		for (int t = 0; t < W; t++)
			u[t] = shared[t][x];
		u = A::fma(l, u, load<W>(p.a, i * p.a.rs + j));
		store<W>(p.a, i * p.a.rs + j, p.last ? A::stored(u) : u);
	}
}

#define LINE 128

#define BLOCKS(W, F)                                                                                                          \
	extern "C" __global__ void __launch_bounds__(SIDE * SIDE) expansionSquareGemm##F(product p) { square<W>(p); }         \
	extern "C" __global__ void __launch_bounds__(LINE) expansionColumnDivide##F(columnStep p) { divide<W>(p); }           \
	extern "C" __global__ void __launch_bounds__(SIDE * SIDE) expansionSquareClear##F(columnStep p)                       \
	{                                                                                                                     \
		clearColumn<W, SIDE, SIDE>(p);                                                                                \
	}                                                                                                                     \
	extern "C" __global__ void __launch_bounds__(LINE) expansionLinearClear##F(columnStep p) { clearColumn<W, 1, LINE>(p); }

BLOCKS(1, Double)
BLOCKS(2, DD)
BLOCKS(3, TD)
BLOCKS(4, QD)

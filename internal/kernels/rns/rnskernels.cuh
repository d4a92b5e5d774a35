// The kernels of package rns for one size of bases. A group of lanes works on a number;
// threads of the papers' kernels are groups here.
#pragma once
#include "rns.cuh"

// A view of numbers by two indices: (i, j) is number off + i rs + j cs.
struct operand {
	array a;
	i64 off, rs, cs;

	__device__ __forceinline__ i64 at(i64 i, i64 j) const { return off + i * rs + j * cs; }
	__device__ __forceinline__ bool given() const { return a.digits != 0; }
};

// A triangle of a square matrix, its diagonal with it.
enum { WHOLE, UPPER, LOWER };

static __device__ __forceinline__ bool inside(int triangle, i64 i, i64 j)
{
	return triangle == UPPER ? i <= j : triangle != LOWER || i >= j;
}

// Sums of rows of numbers, or of products. Row (i, j), i < rows, j < cols, has the entries
// x at number e of row i of x, times that of column j of y: x(i, e) y(j, e). Rows outside a
// triangle are left out.
//
// A row is the work of size threads: thread t adds the entries first row + t + {0, size} +
// {0, stride, 2 stride, ...}. Its sum goes to number row size + t of sums, which has the
// rows in i, threads as columns, or is added to what is there.
struct sums {
	operand x, y, z;
	i64 n, first, stride;
	int rows, cols, size;
	int absolute;  // |x|
	int more;      // z is added to
	int rowsFirst; // adjacent groups have adjacent rows
	int stored;    // the triangle that there is of x, which is symmetric
	int triangle;  // of the rows (i, j)
};

template <int G, int R, bool PRODUCTS>
static __device__ __forceinline__ void partial(const base &b, const sums &s)
{
	i64 item = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / G;
	i64 rows = (i64)s.rows * s.cols;
	if (item >= rows * s.size)
		return;
	i64 row = s.rowsFirst ? item % rows : item / s.size;
	int t = (int)(s.rowsFirst ? item / rows : item % s.size);
	int i = (int)(row % s.rows), j = (int)(row / s.rows);
	if (!inside(s.triangle, i, j))
		return;
	group<G, R> g(b);
	value<R> acc, v, w;
	i64 to = s.z.at(row, t);
	if (s.more)
		g.load(acc, s.z.a, to);
	else
		acc.setZero();
	i64 step = s.size;
	for (i64 e = s.first * row + t; e < s.n; e += step, step = s.stride - step) {
		bool there = inside(s.stored, i, e);
		g.load(v, s.x.a, s.x.at(there ? i : e, there ? e : i));
		if (PRODUCTS) {
			g.load(w, s.y.a, s.y.at(j, e));
			g.multiply(v, w);
		}
		if (s.absolute)
			v.neg = false;
		g.add(acc, v);
	}
	g.store(acc, s.z.a, to);
}

// The sums of threads are added as trees: thread t of a row adds the sum of thread t + h
// for h = half, half/2, ..., 1. z of a row becomes the sum, or that plus z.
struct trees {
	array sums; // of row r, thread t: number r size + t
	operand z;
	int rows, size, half;
	int more; // z is added to
	int tile; // rows of a block
};

template <int G, int R> static __device__ __forceinline__ void tree(const base &b, const trees &s)
{
	int me = threadIdx.x / G, groups = blockDim.x / G;
	i64 r0 = (i64)blockIdx.x * s.tile;
	int rows = (int)min64(s.tile, s.rows - r0);
	group<G, R> g(b);
	value<R> u, v;
	// The last step is that of z.
	for (int h = s.half; h >= 0; h = h > 0 ? h / 2 : -1) {
		int width = h > 0 ? h : 1;
		for (int k = me; k < rows * width; k += groups) {
			int t = k % width;
			i64 row = r0 + k / width, i = row * s.size + t;
			if (h > 0 && t + h >= s.size)
				continue;
			g.load(u, s.sums, i);
			if (h > 0)
				g.load(v, s.sums, i + h);
			else if (s.more)
				g.load(v, s.z.a, s.z.at(row, 0));
			else
				v.setZero();
			g.add(u, v);
			if (h > 0)
				g.store(u, s.sums, i);
			else
				g.store(u, s.z.a, s.z.at(row, 0));
		}
		__syncthreads();
	}
}

// z(i, j) is a sum of products of up to three factors, (f00 f01 f02 + f10 f11 f12) +
// f20 f21 f22 or with a minus before the second one, for (i, j) in a triangle. Factors that are
// not given are left out, and with the first one the whole addend. Factors may be vectors or
// scalars, by their strides.
struct maps {
	operand f[3][3], z;
	i64 rows, cols;
	int minus, triangle;
};

template <int G, int R> static __device__ __forceinline__ void map(const base &b, const maps &k)
{
	i64 item = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / G;
	if (item >= k.rows * k.cols)
		return;
	i64 i = item % k.rows, j = item / k.rows;
	if (!inside(k.triangle, i, j))
		return;
	group<G, R> g(b);
	value<R> z, v, w;
	z.setZero();
#pragma unroll 1
	for (int term = 0; term < 3; term++) {
		const operand *f = k.f[term];
		if (!f[0].given())
			continue;
		g.load(v, f[0].a, f[0].at(i, j));
#pragma unroll 1
		for (int l = 1; l < 3; l++) {
			if (!f[l].given())
				continue;
			g.load(w, f[l].a, f[l].at(i, j));
			g.multiply(v, w);
		}
		v.neg = v.neg != (term == 1 && k.minus);
		g.add(z, v);
	}
	g.store(z, k.z.a, k.z.at(i, j));
}

// Pairwise sums with a stack, of n numbers in chunks: number c of z is the sum of chunk c.
struct pairs {
	operand x, z;
	i64 n;
	int chunk;
	int depth; // of a group's stack, in shared memory
};

template <int G, int R> static __device__ __forceinline__ void pairwise(const base &b, const pairs &s)
{
	extern __shared__ uint4 shared[];
	i64 item = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / G;
	i64 from = item * s.chunk;
	if (from >= s.n)
		return;
	i64 n = min64(s.chunk, s.n - from);
	array stack;
	stack.heads = (u64)shared;
	stack.digits = stack.heads + (u64)blockDim.x / G * s.depth * sizeof(head);
	int bottom = threadIdx.x / G * s.depth;
	group<G, R> g(b);
	value<R> u, v;
	int top = 0;
	for (i64 i = 0; i < n; i++) {
		g.load(v, s.x.a, s.x.at(from + i, 0));
		int joins = i + 1 == n ? top : __ffsll(i + 1) - 1;
		for (; joins > 0; joins--) {
			g.load(u, stack, bottom + --top);
			g.add(u, v);
			v = u;
		}
		if (i + 1 < n) {
			g.store(v, stack, bottom + top++);
			__syncwarp(g.mask); // one lane has written the head, which all will read
		}
	}
	g.store(v, s.z.a, s.z.at(item, 0));
}

// The kernels of bases padded to G R moduli. Those that end in P are the work of one group,
// which is as wide as it can be, those in S that of one thread: their residues are in local
// memory.
//
// 4 blocks of THREADS have to fit a multiprocessor: at most 128 registers a thread.
#define THREADS 128
#define KERNELS(G, R, WIDE, FEW)                                                                        \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) rnsSum(const base b, const sums s)     \
	{                                                                                               \
		partial<G, R, false>(b, s);                                                             \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) rnsDot(const base b, const sums s)     \
	{                                                                                               \
		partial<G, R, true>(b, s);                                                              \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) rnsTree(const base b, const trees s)   \
	{                                                                                               \
		tree<G, R>(b, s);                                                                       \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) rnsMap(const base b, const maps s)     \
	{                                                                                               \
		map<G, R>(b, s);                                                                        \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) rnsPairs(const base b, const pairs s)  \
	{                                                                                               \
		pairwise<G, R>(b, s);                                                                   \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(WIDE) rnsRecursiveP(const base b, const sums s)    \
	{                                                                                               \
		partial<WIDE, FEW, false>(b, s);                                                        \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(WIDE) rnsPairwiseP(const base b, const pairs s)    \
	{                                                                                               \
		pairwise<WIDE, FEW>(b, s);                                                              \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(1) rnsRecursiveS(const base b, const sums s)       \
	{                                                                                               \
		partial<1, G * R, false>(b, s);                                                         \
	}                                                                                               \
	extern "C" __global__ void __launch_bounds__(1) rnsPairwiseS(const base b, const pairs s)       \
	{                                                                                               \
		pairwise<1, G * R>(b, s);                                                               \
	}

// Gauss-Jordan elimination on [A B], n rows, row by row in memory. expansion/solve.go has the
// algorithm and the reference.
#include "expansion.cuh"

#define WIDTH 32 // columns of a panel, one a lane

// A panel is columns k0 to k0 + width - 1 of all rows, of which each block has rows rows. Blocks
// wait for each other, so all of them have to run at a time.
struct panel {
	entries a;          // from column k0 on
	double *candidates; // [2][blocks][W][WIDTH]: the pivot row that each block offers
	double *diagonal;   // [2][W][WIDTH]: the row in whose place the pivot row comes
	u64 *keys;          // [2][blocks][2], zeros before the first panel
	double *slabs;      // [blocks][rows][W][WIDTH], or null: the rows fit shared memory
	int *pivots;        // [n]: row that was exchanged with row k at step k
	int *info;          // 0, or 1 + k if column k has no pivot
	int n, k0, width, rows, zeroRule, _;
};

// A pivot is the largest key, in the lowest row of those that have it.
struct pivot {
	u64 key; // 0 for none
	int row;
	__device__ __forceinline__ void meet(u64 k, int r)
	{
		if (k > key || k == key && k != 0 && r < row)
			key = k, row = r;
	}
	__device__ __forceinline__ void meetLanes()
	{
#pragma unroll
		for (int o = 16; o > 0; o >>= 1) {
			u64 k = __shfl_xor_sync(~0u, key, o);
			int r = __shfl_xor_sync(~0u, row, o);
			meet(k, r);
		}
	}
};

// keyOf is the key of a row whose leading word in the column is x: its magnitude, or, by the rule
// of zero pivots, the larger the sooner the row comes.
static __device__ __forceinline__ u64 keyOf(double x, int row, int zeroRule)
{
	u64 bits = (u64)__double_as_longlong(x) << 1 >> 1;
	return zeroRule && bits ? (1ull << 62) - (u64)row : bits;
}

template <int W> static __device__ __forceinline__ num<W> across(const num<W> &x, int lane)
{
	num<W> z;
#pragma unroll
	for (int t = 0; t < W; t++)
		z[t] = __shfl_sync(~0u, x[t], lane);
	return z;
}

template <int W> static __device__ __forceinline__ num<W> lane(const double *row, int at)
{
	num<W> x;
#pragma unroll
	for (int t = 0; t < W; t++)
		x[t] = row[t * WIDTH + at];
	return x;
}

// fresh is lane for what another block has written.
template <int W> static __device__ __forceinline__ num<W> fresh(const double *row, int at)
{
	num<W> x;
#pragma unroll
	for (int t = 0; t < W; t++)
		x[t] = __ldcg(row + t * WIDTH + at);
	return x;
}

// offer tells the other blocks the best pivot of this one for step k, and its row. It takes a warp.
template <int W> static __device__ __forceinline__ void offer(const panel &p, const double *slab, int r0, int count, int k)
{
	int at = threadIdx.x & 31, half = k & 1;
	pivot best = {0, -1};
	for (int i = at; i < count; i += 32)
		if (r0 + i >= k)
			best.meet(keyOf(slab[i * W * WIDTH + k - p.k0], r0 + i, p.zeroRule), r0 + i);
	best.meetLanes();
	double *mine = p.candidates + (half * gridDim.x + blockIdx.x) * W * WIDTH;
#pragma unroll
	for (int t = 0; t < W; t++) {
		if (best.key)
			mine[t * WIDTH + at] = slab[((best.row - r0) * W + t) * WIDTH + at];
		if (k >= r0 && k < r0 + count)
			p.diagonal[(half * W + t) * WIDTH + at] = slab[((k - r0) * W + t) * WIDTH + at];
	}
	__threadfence();
	__syncwarp();
	if (at == 0) {
		volatile u64 *key = p.keys + 2 * (half * gridDim.x + blockIdx.x);
		u64 ticket = k + 2;
		key[0] = best.key | (ticket >> 1 & 1) << 63;
		key[1] = ticket << 32 | (u32)best.row;
	}
}

// choose returns the best of what all blocks offer for step k. It takes all threads.
static __device__ __forceinline__ pivot choose(const panel &p, int k)
{
	__shared__ pivot of[32];
	pivot best = {0, -1};
	u64 ticket = k + 2;
	for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
		volatile u64 *key = p.keys + 2 * ((k & 1) * gridDim.x + b);
		u64 first, second;
		do {
			second = key[1];
			first = key[0];
		} while (second >> 32 != ticket || first >> 63 != (ticket >> 1 & 1));
		best.meet(first << 1 >> 1, (int)(u32)second);
	}
	__threadfence();
	best.meetLanes();
	if ((threadIdx.x & 31) == 0)
		of[threadIdx.x >> 5] = best;
	__syncthreads();
	best = of[0];
	for (int w = 1; w < blockDim.x / 32; w++)
		best.meet(of[w].key, of[w].row);
	return best;
}

// step k of the elimination, with pivot row best.row: the columns of the panel become what the
// elimination makes of unit columns where they are done, so that the panel ends up as the matrix
// that its rows of [A B] are multiplied by.
template <int W> static __device__ __forceinline__ void step(const panel &p, double *slab, int r0, int count, int k, const pivot &best)
{
	typedef arithmetic<W> A;
	int at = threadIdx.x & 31, half = k & 1, s = k - p.k0;
	num<W> zero = {}, v = fresh<W>(p.candidates + (half * gridDim.x + best.row / p.rows) * W * WIDTH, at);
	num<W> divisor = across<W>(v, s);
	if (at == s)
		v = float64<W>(1);
	num<W> u = A::div(v, divisor, zero);
	for (int i = threadIdx.x >> 5; i < count; i += blockDim.x >> 5) {
		double *row = slab + i * W * WIDTH;
		num<W> x;
		if (r0 + i == k) {
			x = u;
		} else {
			x = r0 + i == best.row ? fresh<W>(p.diagonal + half * W * WIDTH, at) : lane<W>(row, at);
			num<W> l = neg<W>(across<W>(x, s));
			x = A::fma(l, u, at == s ? zero : x);
		}
#pragma unroll
		for (int t = 0; t < W; t++)
			row[t * WIDTH + at] = x[t];
	}
}

template <int W> static __device__ __forceinline__ void eliminate(const panel &p)
{
	extern __shared__ double fast[];
	double *slab = p.slabs ? p.slabs + (i64)blockIdx.x * p.rows * W * WIDTH : fast;
	int r0 = blockIdx.x * p.rows, count = max(0, min(p.rows, p.n - r0)), at = threadIdx.x & 31;
	if (*p.info)
		return;
	for (int i = threadIdx.x >> 5; i < count; i += blockDim.x >> 5)
#pragma unroll
		for (int t = 0; t < W; t++)
			slab[(i * W + t) * WIDTH + at] = at < p.width ? p.a.w[t][(r0 + i) * p.a.rs + at] : 0;
	__syncthreads();
	for (int k = p.k0; k < p.k0 + p.width; k++) {
		if (threadIdx.x < 32)
			offer<W>(p, slab, r0, count, k);
		pivot best = choose(p, k);
		if (best.key == 0) { // for all blocks
			if (blockIdx.x == 0 && threadIdx.x == 0)
				*p.info = k + 1;
			return;
		}
		if (blockIdx.x == 0 && threadIdx.x == 0)
			p.pivots[k] = best.row;
		step<W>(p, slab, r0, count, k, best);
		__syncthreads();
	}
	if (at < p.width)
		for (int i = threadIdx.x >> 5; i < count; i += blockDim.x >> 5)
#pragma unroll
			for (int t = 0; t < W; t++)
				p.a.w[t][(r0 + i) * p.a.rs + at] = slab[(i * W + t) * WIDTH + at];
}

#define PANEL(W, F)                                                                                                           \
	extern "C" __global__ void __launch_bounds__(256) expansionPanel##F(panel p) { eliminate<W>(p); }

PANEL(2, DD)
PANEL(3, TD)
PANEL(4, QD)

// The columns of other panels: exchanges of rows, and a copy of the pivot rows.
struct exchange {
	entries a, rows; // from the first column on; rows has pivot row i of the panel as row i
	const int *pivots, *info;
	int k0, width, cols, skipCol, skipCols; // columns as in struct product
	int clear;                              // the rows of a become 0
};

// expansionExchange has a thread a column and word, y of the grid.
extern "C" __global__ void __launch_bounds__(128) expansionExchange(exchange e)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (*e.info || j >= e.cols)
		return;
	if (j >= e.skipCol)
		j += e.skipCols;
	double *a = (blockIdx.y < 2 ? blockIdx.y < 1 ? e.a.w[0] : e.a.w[1] : blockIdx.y < 3 ? e.a.w[2] : e.a.w[3]) + j;
	double *r = (blockIdx.y < 2 ? blockIdx.y < 1 ? e.rows.w[0] : e.rows.w[1] : blockIdx.y < 3 ? e.rows.w[2] : e.rows.w[3]) + j;
	for (int k = e.k0; k < e.k0 + e.width; k++) {
		int q = e.pivots[k];
		double x = a[k * e.a.rs];
		if (q != k) {
			double y = a[q * e.a.rs];
			a[q * e.a.rs] = x;
			a[k * e.a.rs] = y;
		}
	}
	for (int i = 0; i < e.width; i++) {
		r[i * e.rows.rs] = a[(e.k0 + i) * e.a.rs];
		if (e.clear)
			a[(e.k0 + i) * e.a.rs] = 0;
	}
}

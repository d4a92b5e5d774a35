// Partial pivoting for the elimination of seed.cu: the pivot of a column is the largest entry there
// is, rows not being scaled, and not what a tournament takes for good.
#include "node.cuh"
#include "partial.cuh"

// What threads of a block share.
struct panelMemory {
	double row[BLOCK];
	u64 keys[NODE / 32], best[NODE / 32];
	int at[NODE / 32];
};

// columnStep finds the pivot of a column and eliminates it, in W columns that are left, of which
// the first one goes and the others move to the left. All blocks take part: each shows its best
// row, and waits for those of the others. A block that shows one for a column has read those for
// the column before, so that two lists do.
template <int W> static __device__ __forceinline__ void columnStep(panelRow &r, int column, const pivoting &p, panelMemory &shared)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	u64 key = r.free ? keyOf(r.a[0], r.top) : 0, ofWarp = largestOfWarp(key);
	u32 same = __ballot_sync(~0u, key == ofWarp);
	if (lane == 0)
		shared.keys[warp] = ofWarp;
	__syncthreads();
	u64 ofBlock = shared.keys[0];
	int from = 0;
#pragma unroll
	for (int i = 1; i < NODE / 32; i++)
		if (shared.keys[i] > ofBlock) {
			ofBlock = shared.keys[i];
			from = i;
		}
	bool mine = warp == from && lane == __ffs(same) - 1;
	volatile u64 *keys = (volatile u64 *)p.keys + column % 2 * gridDim.x;
	double *rows = (double *)p.rows + (i64)(column % 2 * gridDim.x) * BLOCK;
	const u64 number = column + 1;
	if (mine) {
#pragma unroll
		for (int j = 0; j < W; j++)
			rows[blockIdx.x * BLOCK + j] = r.a[j];
		__threadfence();
		keys[blockIdx.x] = ofBlock << COLUMN_BITS | number;
	}
	__syncwarp();
	u64 other = 0;
	if (threadIdx.x < gridDim.x) {
		do
			other = keys[threadIdx.x];
		while ((other & ((1 << COLUMN_BITS) - 1)) != number);
		__threadfence();
	}
	__syncwarp();
	u64 best = largestOfWarp(other);
	same = __ballot_sync(~0u, other == best);
	if (lane == 0) {
		shared.best[warp] = best;
		shared.at[warp] = 32 * warp + __ffs(same) - 1;
	}
	__syncthreads();
	best = shared.best[0];
	int winner = shared.at[0];
#pragma unroll
	for (int i = 1; i < NODE / 32; i++)
		if (shared.best[i] > best) {
			best = shared.best[i];
			winner = shared.at[i];
		}
	if (threadIdx.x < W)
		shared.row[threadIdx.x] = __ldcg(rows + winner * BLOCK + threadIdx.x);
	if (mine && winner == blockIdx.x) {
		r.free = false;
		((int *)p.chosen)[column] = r.place;
	}
	__syncthreads();
	eliminatePivot<W>(r, shared.row);
}

// pivotPanel finds the pivots of the step's columns. Its blocks have all rows behind the pivots so
// far, and run at a time; there are NODE of them at most.
extern "C" __global__ void __launch_bounds__(NODE, 1) pivotPanel(const __grid_constant__ elimination g, const __grid_constant__ pivoting p)
{
	__shared__ __align__(16) panelMemory shared;
	panelRow r = rowOf(g, p);
	for (int column = 0; column < 16; column++)
		columnStep<64>(r, column, p, shared);
	for (int column = 16; column < 32; column++)
		columnStep<48>(r, column, p, shared);
	for (int column = 32; column < 48; column++)
		columnStep<32>(r, column, p, shared);
	for (int column = 48; column < 64; column++)
		columnStep<16>(r, column, p, shared);
}

// Few rows have their pivots found by one block, whose threads have SHARE rows each. Columns come
// PART at a time: what the parts before make of a part's columns needs the factors of all rows,
// which are kept in memory, and the rows of U.
#define ROWS 1024
#define SHARE 2

struct shortMemory {
	pickMemory pick; // triangles: L and U by rows
	// The warps' best rows, from the column on and with the reciprocal of its number; their keys.
	double rows[2][ROWS / SHARE / 32][PART + 2];
	u64 keys[2][ROWS / SHARE / 32];
};

// What a thread knows of its rows.
struct shortRows {
	double a[SHARE][PART]; // the part's columns that are left
	int top[SHARE];        // of keys
	int chosen[SHARE];     // the step's column of which it is the pivot; -1: none yet, -2: no row
};

// shortColumn finds the pivot of a part's column, the first of W columns that are left, which goes,
// as the others move to the left. Warps show their best rows before they know which of them is the
// pivot's, so that they meet once. Columns in turn have two places for them.
template <int W> static __device__ __forceinline__ void shortColumn(shortRows &r, int first, int column, double *factors, shortMemory &shared)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, of = 0, k = first + column;
	u64 key = 0;
	double pivot = r.a[0][0];
#pragma unroll
	for (int i = 0; i < SHARE; i++) {
		u64 here = r.chosen[i] == -1 ? shortKey(r.a[i][0], r.top[i]) : 0;
		if (here > key) {
			key = here;
			of = i;
			pivot = r.a[i][0];
		}
	}
	double inverse = fastReciprocal(pivot);
	u64 ofWarp = largestOfWarp(key);
	bool best = lane == __ffs(__ballot_sync(~0u, key == ofWarp)) - 1;
	u64 *keys = shared.keys[column % 2];
	if (best) {
		double *row = shared.rows[column % 2][warp];
#pragma unroll
		for (int i = 0; i < SHARE; i++)
			if (of == i) {
#pragma unroll
				for (int j = 0; j < W; j += 2)
					*(double2 *)(row + j) = {r.a[i][j], r.a[i][j + 1]};
			}
		row[PART] = inverse;
		keys[warp] = ofWarp;
	}
	__syncthreads();
	u64 other = lane < blockDim.x / 32 ? keys[lane] : 0, most = largestOfWarp(other);
	int winner = __ffs(__ballot_sync(~0u, other == most)) - 1;
	const double *row = shared.rows[column % 2][winner];
	if (best && warp == winner) {
		shared.pick.inverses[k] = inverse;
		shared.pick.picked[k] = of * blockDim.x + threadIdx.x;
#pragma unroll
		for (int i = 0; i < SHARE; i++)
			if (of == i)
				r.chosen[i] = k;
	}
	if (threadIdx.x < PART - column)
		shared.pick.triangles[k * TRIANGLE_PITCH + k + threadIdx.x] = row[threadIdx.x];
	inverse = row[PART];
	double m[SHARE];
#pragma unroll
	for (int i = 0; i < SHARE; i++) {
		m[i] = r.chosen[i] == -1 ? r.a[i][0] * inverse : 0;
		if (r.chosen[i] == -1)
			factors[k * ROWS + i * blockDim.x] = m[i];
	}
#pragma unroll
	for (int j = 0; j < W - 1; j++) {
		double u = row[j + 1];
#pragma unroll
		for (int i = 0; i < SHARE; i++)
			r.a[i][j] = fma(-m[i], u, r.a[i][j + 1]);
	}
}

// shortUpper makes the rows of U in a part's columns, for the pivots of the parts before: L^-1 of
// what the pivot rows have there in F.
static __device__ __forceinline__ void shortUpper(const elimination &g, const int *rows, int first, shortMemory &shared)
{
	double *t = shared.pick.triangles;
	for (int e = threadIdx.x; e < first * PART; e += blockDim.x) {
		int k = e / PART, j = first + e % PART;
		t[k * TRIANGLE_PITCH + j] = ((const double *)g.f)[rows[shared.pick.picked[k]] + (i64)(g.first + j) * g.n];
	}
	__syncthreads();
	for (int of = 0; of < first; of += PART) {
		double *from = t + of * TRIANGLE_PITCH;
		if (threadIdx.x < PART) {
			double x[PART];
#pragma unroll
			for (int k = 0; k < PART; k++)
				x[k] = from[k * TRIANGLE_PITCH + first + threadIdx.x];
#pragma unroll
			for (int k = 0; k < PART; k++) {
#pragma unroll
				for (int i = k + 1; i < PART; i++)
					x[i] = fma(-from[i * TRIANGLE_PITCH + of + k], x[k], x[i]);
				from[k * TRIANGLE_PITCH + first + threadIdx.x] = x[k];
			}
		}
		__syncthreads();
		for (int e = threadIdx.x; e < (first - of - PART) * PART; e += blockDim.x) {
			double *row = t + (of + PART + e / PART) * TRIANGLE_PITCH, x = row[first + e % PART];
#pragma unroll
			for (int k = 0; k < PART; k++)
				x = fma(-row[of + k], from[k * TRIANGLE_PITCH + first + e % PART], x);
			row[first + e % PART] = x;
		}
		__syncthreads();
	}
}

// shortPivots is pivotPanel for at most ROWS rows behind the pivots so far, in one block of at
// least a SHARE-th of so many threads. It also inverts the triangles of the pivots' block, and
// moves the pivots to the front of the order.
extern "C" __global__ void __launch_bounds__(ROWS / SHARE, 1) shortPivots(const __grid_constant__ elimination g, const __grid_constant__ pivoting p)
{
	extern __shared__ __align__(16) double room[];
	shortMemory &shared = *(shortMemory *)room;
	const int *rows = (const int *)g.order + g.first;
	shortRows r;
	const double *f[SHARE];
	double *factors = (double *)p.rows + threadIdx.x; // ROWS of each column
#pragma unroll
	for (int i = 0; i < SHARE; i++) {
		int place = i * blockDim.x + threadIdx.x;
		r.chosen[i] = place < g.n - g.first ? -1 : -2;
		int at = r.chosen[i] == -1 ? rows[place] : 0;
		r.top[i] = r.chosen[i] == -1 && at < p.n ? shortTop(((const i64 *)p.tops)[at]) : 0;
		f[i] = (const double *)g.f + at + (i64)g.first * g.n;
	}
#pragma unroll 1
	for (int first = 0; first < BLOCK; first += PART) {
		if (first > 0)
			shortUpper(g, rows, first, shared);
#pragma unroll
		for (int j = 0; j < PART; j++)
#pragma unroll
			for (int i = 0; i < SHARE; i++)
				r.a[i][j] = r.chosen[i] == -1 ? f[i][(i64)(first + j) * g.n] : 0;
		double next[SHARE]; // the factors of a row, read a step before they are needed
		auto read = [&](int h) {
#pragma unroll
			for (int i = 0; i < SHARE; i++)
				next[i] = h < first && r.chosen[i] == -1 ? factors[h * ROWS + i * blockDim.x] : 0;
		};
		read(0);
#pragma unroll 1
		for (int h = 0; h < first; h++) {
			const double *row = shared.pick.triangles + h * TRIANGLE_PITCH + first;
			double m[SHARE];
#pragma unroll
			for (int i = 0; i < SHARE; i++)
				m[i] = next[i];
			read(h + 1);
#pragma unroll
			for (int j = 0; j < PART; j++)
#pragma unroll
				for (int i = 0; i < SHARE; i++)
					r.a[i][j] = fma(-m[i], row[j], r.a[i][j]);
		}
#pragma unroll 1
		for (int column = 0; column < PART / 2; column++)
			shortColumn<PART>(r, first, column, factors, shared);
#pragma unroll 1
		for (int column = PART / 2; column < PART; column++)
			shortColumn<PART / 2>(r, first, column, factors, shared);
		__syncthreads();
		for (int e = threadIdx.x; e < PART * (first + PART); e += blockDim.x) { // the pivots' L
			int k = first + e % PART, h = e / PART;
			if (h < k)
				shared.pick.triangles[k * TRIANGLE_PITCH + h] = ((const double *)p.rows)[h * ROWS + shared.pick.picked[k]];
		}
		__syncthreads();
	}
	if (threadIdx.x < BLOCK && shared.pick.inverses[threadIdx.x] == 0)
		atomicOr((u32 *)g.status, SINGULAR);
	storeInverses(g, shared.pick, blockDim.x);
	movePivots(g, threadIdx.x < BLOCK ? (int)threadIdx.x : -1, threadIdx.x < BLOCK ? g.first + shared.pick.picked[threadIdx.x] : 0);
}

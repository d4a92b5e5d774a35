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

// Few rows have their pivots found by one block, whose threads have a row each. Columns come PART at
// a time: what the parts before make of a part's columns needs the factors of all rows, which are
// kept in memory, and the rows of U.
#define ROWS 1024

struct shortMemory {
	pickMemory pick;      // triangles: L and U by rows
	u64 keys[ROWS / 32];  // of the warps' best rows
};

// What a thread knows of its row.
struct shortRow {
	double a[PART]; // the part's columns: factors where they are eliminated
	int top;        // of keys
	int chosen;     // of which of the step's columns it is the pivot, -1: none yet, -2: no row
};

// shortKey orders rows as keyOf does, by 32 bits of the significand.
static __device__ __forceinline__ u64 shortKey(double x, int top)
{
	u64 bits = (u64)__double_as_longlong(x) << 1 >> 1;
	if (bits == 0)
		return 1;
	int e = (int)(bits >> 52) - 1023 + top;
	return (u64)(u32)(min(max(e, -(1 << 22)), 1 << 22) + (1 << 23)) << 32 | (u32)(bits >> 20);
}

// shortColumn finds the pivot of column K of the part that begins with column first of the step,
// and eliminates the column.
template <int K> static __device__ __forceinline__ void shortColumn(shortRow &r, int first, shortMemory &shared)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	u64 key = r.chosen == -1 ? shortKey(r.a[K], r.top) : 0, ofWarp = largestOfWarp(key);
	u32 same = __ballot_sync(~0u, key == ofWarp);
	if (lane == 0)
		shared.keys[warp] = ofWarp;
	__syncthreads();
	u64 other = lane < blockDim.x / 32 ? shared.keys[lane] : 0, best = largestOfWarp(other);
	int winner = __ffs(__ballot_sync(~0u, other == best)) - 1;
	double *row = shared.pick.triangles + (first + K) * TRIANGLE_PITCH + first;
	if (warp == winner && lane == __ffs(same) - 1) {
#pragma unroll
		for (int j = 0; j < PART; j += 2)
			*(double2 *)(row + j) = {r.a[j], r.a[j + 1]};
		shared.pick.inverses[first + K] = fabs(r.a[K]) < 0x1p-1000 ? reciprocal(r.a[K]) : fastReciprocal(r.a[K]);
		shared.pick.picked[first + K] = threadIdx.x;
		r.chosen = first + K;
	}
	__syncthreads();
	if (r.chosen != -1)
		return;
	double m = r.a[K] * shared.pick.inverses[first + K];
	r.a[K] = m;
#pragma unroll
	for (int j = K + 1; j < PART; j++)
		r.a[j] = fma(-m, row[j], r.a[j]);
}

// shortPart eliminates the columns of a part.
static __device__ __forceinline__ void shortPart(shortRow &r, int first, shortMemory &shared)
{
	shortColumn<0>(r, first, shared);
	shortColumn<1>(r, first, shared);
	shortColumn<2>(r, first, shared);
	shortColumn<3>(r, first, shared);
	shortColumn<4>(r, first, shared);
	shortColumn<5>(r, first, shared);
	shortColumn<6>(r, first, shared);
	shortColumn<7>(r, first, shared);
	shortColumn<8>(r, first, shared);
	shortColumn<9>(r, first, shared);
	shortColumn<10>(r, first, shared);
	shortColumn<11>(r, first, shared);
	shortColumn<12>(r, first, shared);
	shortColumn<13>(r, first, shared);
	shortColumn<14>(r, first, shared);
	shortColumn<15>(r, first, shared);
}

// shortUpper makes the rows of U in a part's columns, for the pivots of the parts before: L^-1 of
// what the pivot rows, one of which may be the thread's, have there in F.
static __device__ __forceinline__ void shortUpper(int chosen, const double *f, i64 stride, int first, shortMemory &shared)
{
	double *t = shared.pick.triangles;
	if (chosen >= 0) {
#pragma unroll
		for (int j = 0; j < PART; j++)
			t[chosen * TRIANGLE_PITCH + first + j] = f[j * stride];
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

// shortPivots is pivotPanel for at most ROWS rows behind the pivots so far, in one block. It also
// inverts the triangles of the pivots' block, and moves the pivots to the front of the order.
extern "C" __global__ void __launch_bounds__(ROWS, 1) shortPivots(const __grid_constant__ elimination g, const __grid_constant__ pivoting p)
{
	extern __shared__ __align__(16) double room[];
	shortMemory &shared = *(shortMemory *)room;
	int t = threadIdx.x, place = g.first + t;
	bool present = place < g.n;
	int at = present ? ((const int *)g.order)[place] : 0;
	i64 top = present && at < p.n ? ((const i64 *)p.tops)[at] : 0;
	const i64 most = (1 << 22) + (1 << 12); // keys of more do not differ
	shortRow r;
	r.top = (int)(top < -most ? -most : top > most ? most : top);
	r.chosen = present ? -1 : -2;
	double *factors = (double *)p.rows + t; // ROWS of each column
#pragma unroll 1
	for (int first = 0; first < BLOCK; first += PART) {
		const double *f = (const double *)g.f + at + (i64)(g.first + first) * g.n;
		if (first > 0)
			shortUpper(r.chosen, f, g.n, first, shared);
#pragma unroll
		for (int j = 0; j < PART; j++)
			r.a[j] = r.chosen == -1 ? f[(i64)j * g.n] : 0;
		if (r.chosen == -1 && first > 0) {
			double next = factors[0], after = factors[ROWS];
#pragma unroll 1
			for (int h = 0; h < first; h++) {
				double m = next;
				next = after;
				after = factors[min(h + 2, first - 1) * ROWS];
				const double *row = shared.pick.triangles + h * TRIANGLE_PITCH + first;
#pragma unroll
				for (int j = 0; j < PART; j++)
					r.a[j] = fma(-m, row[j], r.a[j]);
			}
		}
		shortPart(r, first, shared);
		for (int e = t; e < PART * first; e += blockDim.x) { // what the parts before have of the pivots' L
			int k = first + e % PART, h = e / PART;
			shared.pick.triangles[k * TRIANGLE_PITCH + h] = ((const double *)p.rows)[h * ROWS + shared.pick.picked[k]];
		}
		if (r.chosen == -1 && first + PART < BLOCK) {
#pragma unroll
			for (int j = 0; j < PART; j++)
				factors[(first + j) * ROWS] = r.a[j];
		}
		__syncthreads();
	}
	if (t < BLOCK && shared.pick.inverses[t] == 0)
		atomicOr((u32 *)g.status, SINGULAR);
	storeInverses(g, shared.pick, blockDim.x);
	movePivots(g, r.chosen, place);
}

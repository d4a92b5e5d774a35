// Partial pivoting for the elimination of seed.cu: the pivot of a column is the largest entry there
// is, rows not being scaled, and not what a tournament takes for good.
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

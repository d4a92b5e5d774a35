// The kernel of partial.cu for panels that one cluster of blocks has: blocks read each other's
// shared memory, and need not wait for the memory of the device several times a column.
#include "partial.cuh"

// What threads of a cluster share. Two rows and keys, for columns in turn: a block may still read
// those for the column before.
struct clusterMemory {
	double rows[2][BLOCK]; // the block's best row
	u64 best[2];           // its key
	double row[BLOCK];     // the pivot row
	u64 keys[NODE / 32];
};

// elsewhere returns a number of the shared memory of a block of the cluster.
static __device__ __forceinline__ u64 elsewhere(const void *number, int block)
{
	u32 at = sharedAddress(number);
	u64 x;
	asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(block));
	asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(x) : "r"(at) : "memory");
	return x;
}

// meet waits for all threads of the cluster, and for what they have written.
static __device__ __forceinline__ void meet()
{
	asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
	asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// clusterStep is columnStep for the blocks of a cluster.
template <int W> static __device__ __forceinline__ void clusterStep(panelRow &r, int column, const pivoting &p, clusterMemory &shared)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, turn = column % 2;
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
	if (mine) {
#pragma unroll
		for (int j = 0; j < W; j++)
			shared.rows[turn][j] = r.a[j];
		shared.best[turn] = ofBlock;
	}
	meet();
	u64 other = lane < gridDim.x ? elsewhere(&shared.best[turn], lane) : 0, best = largestOfWarp(other);
	int winner = __ffs(__ballot_sync(~0u, lane < gridDim.x && other == best)) - 1;
	if (threadIdx.x < W)
		shared.row[threadIdx.x] = __longlong_as_double((i64)elsewhere(&shared.rows[turn][threadIdx.x], winner));
	if (mine && winner == blockIdx.x) {
		r.free = false;
		((int *)p.chosen)[column] = r.place;
	}
	__syncthreads();
	eliminatePivot<W>(r, shared.row);
}

static __device__ __forceinline__ void pivotOfCluster(const elimination &g, const pivoting &p)
{
	__shared__ __align__(16) clusterMemory shared;
	panelRow r = rowOf(g, p);
	for (int column = 0; column < 16; column++)
		clusterStep<64>(r, column, p, shared);
	for (int column = 16; column < 32; column++)
		clusterStep<48>(r, column, p, shared);
	for (int column = 32; column < 48; column++)
		clusterStep<32>(r, column, p, shared);
	for (int column = 48; column < 64; column++)
		clusterStep<16>(r, column, p, shared);
	meet(); // other blocks may still read this one's memory
}

// pivotCluster4 and pivotCluster8 are pivotPanel for one cluster of so many blocks, the last of
// which need not have rows.
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(NODE, 1) pivotCluster4(const __grid_constant__ elimination g, const __grid_constant__ pivoting p)
{
	pivotOfCluster(g, p);
}

extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(NODE, 1) pivotCluster8(const __grid_constant__ elimination g, const __grid_constant__ pivoting p)
{
	pivotOfCluster(g, p);
}

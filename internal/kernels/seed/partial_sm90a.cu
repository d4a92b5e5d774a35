// The kernel of partial.cu for panels that one cluster of blocks has: blocks read each other's
// shared memory, and need not wait for the memory of the device several times a column.
#include "node.cuh"
#include "partial.cuh"
#include "step.cuh"

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

// pivotCluster is pivotPanel for one cluster of blocks, the last of which need not have rows.
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(NODE, 1) pivotCluster(const __grid_constant__ elimination g, const __grid_constant__ pivoting p)
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

// Panels whose rows a cluster of GROUP blocks has, HEIGHT rows each, one to each of the first
// threads of a block.
#define GROUP 8
#define HEIGHT 128

// What the threads of a block of panelPivots share. Lists are for columns in turn: a block that
// shows its best row for a column has read all rows for the column before.
struct columnMemory {
	double begin[BLOCK * (HEIGHT - CANDIDATE_PITCH)]; // of factors, which end where pick.a does
	pickMemory pick;                                  // triangles: L and U by rows
	double in[2][GROUP][BLOCK + 2];                   // the blocks' best rows, and their keys
	u64 arrived[2];                                   // barriers: those rows are there
	double rows[2][HEIGHT / 32][BLOCK + 2];           // the warps' best rows
	u64 keys[2][HEIGHT / 32];                         // their keys

	// factors returns the thread's number of a list of the factors of rows, by columns.
	__device__ __forceinline__ double *factors() { return (double *)this + threadIdx.x; }
};

// there returns the address of a number of the shared memory of a block of the cluster.
static __device__ __forceinline__ u32 there(const void *number, int block)
{
	u32 at = sharedAddress(number);
	asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(block));
	return at;
}

// panelColumn finds the pivot of a column and eliminates it, in W columns that are left, of which
// the first one goes and the others move to the left. Each block sends its best row, with the
// reciprocal of its first number in place of that, and its key to all blocks.
template <int W> static __device__ __forceinline__ void panelColumn(double (&a)[BLOCK], int top, int &chosen, int column, columnMemory &shared)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, turn = column % 2;
	u64 key = chosen == -1 ? shortKey(a[0], top) : 0;
	double inverse = fastReciprocal(a[0]);
	u64 ofWarp = largestOfWarp(key);
	bool best = lane == __ffs(__ballot_sync(~0u, key == ofWarp)) - 1;
	if (best) {
		double *row = shared.rows[turn][warp];
		*(double2 *)row = {inverse, a[1]};
#pragma unroll
		for (int j = 2; j < W; j += 2)
			*(double2 *)(row + j) = {a[j], a[j + 1]};
		shared.keys[turn][warp] = ofWarp;
	}
	u32 arrived = sharedAddress(&shared.arrived[turn]);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrived), "r"(GROUP * (8 + 8 * W)) : "memory");
	asm volatile("bar.sync 1, %0;" ::"n"(HEIGHT) : "memory");
	u64 ofBlock = shared.keys[turn][0];
	int from = 0;
#pragma unroll
	for (int i = 1; i < HEIGHT / 32; i++)
		if (shared.keys[turn][i] > ofBlock) {
			ofBlock = shared.keys[turn][i];
			from = i;
		}
	// 16 threads send to each block.
	static_assert(HEIGHT == 16 * GROUP, "threads that send");
	int to = threadIdx.x / 16, h = threadIdx.x % 16;
	u32 slot = there(shared.in[turn][blockIdx.x], to), bar = there(&shared.arrived[turn], to);
#pragma unroll
	for (int j = h; j < W / 2; j += 16) {
		double2 x = *(const double2 *)(shared.rows[turn][from] + 2 * j);
		asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(slot + 16 * j), "l"(__double_as_longlong(x.x)), "l"(__double_as_longlong(x.y)), "r"(bar) : "memory");
	}
	if (h == 0)
		asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(slot + 8 * BLOCK), "l"(ofBlock), "r"(bar) : "memory");
	for (u32 done = 0; !done;)
		asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(arrived), "r"(column / 2 % 2) : "memory");
	u64 other = lane < GROUP ? __double_as_longlong(shared.in[turn][lane][BLOCK]) : 0, most = largestOfWarp(other);
	int winner = __ffs(__ballot_sync(~0u, lane < GROUP && other == most)) - 1;
	const double *row = shared.in[turn][winner];
	if (best && warp == from && winner == blockIdx.x)
		chosen = column;
	if (blockIdx.x == 0 && warp == column % (HEIGHT / 32)) {
		for (int j = lane; j < BLOCK - column; j += 32)
			shared.pick.triangles[column * TRIANGLE_PITCH + column + j] = row[j];
		if (lane == 0)
			shared.pick.inverses[column] = row[0];
	}
	double m = chosen == -1 ? a[0] * row[0] : 0;
	shared.factors()[column * HEIGHT] = m;
#pragma unroll
	for (int j = 0; j < W - 1; j++)
		a[j] = fma(-m, row[j + 1], a[j + 1]);
}

// panelTiles are the tiles of all columns, those of the panel's columns first, one to each block.
struct panelTiles {
	int n, columns, first;

	__device__ __forceinline__ int count() const { return GROUP + (n + TALL - 1) / TALL * (columns / BLOCK - 1); }
	__device__ __forceinline__ void at(int tile, int &i0, int &j0) const
	{
		int rows = (n + TALL - 1) / TALL, other = tile - GROUP;
		i0 = other < 0 ? tile * TALL : other % rows * TALL;
		j0 = other < 0 ? first : other / rows * BLOCK;
		j0 += other < 0 || j0 < first ? 0 : BLOCK;
	}
};

static_assert(TALL == HEIGHT && THREADS >= HEIGHT, "a block of a panel updates its rows");

// panelPivots finds the pivots of a step's columns by partial pivoting, inverts the triangles of
// their block, and lists them in the order, in which other rows have no place. The first blocks
// have all rows of F, at most GROUP HEIGHT. If t has rows, a step came before: it is updated as by
// stepUpdate and triangularInverses, the panel's columns by the blocks that then need them.
extern "C" __global__ void __cluster_dims__(GROUP, 1, 1) __launch_bounds__(THREADS, 1) panelPivots(const __grid_constant__ elimination g, const __grid_constant__ pivoting p, const __grid_constant__ triangles t)
{
	extern __shared__ __align__(16) double room[];
	if (t.n) {
		elimination last = g;
		last.first -= BLOCK;
		last.panel -= BLOCK;
		panelTiles tiles = {g.n, g.columns, g.first};
		int other = blockIdx.x - tiles.count();
		if (other >= 0) {
			storeTriangles(last, t, other / 2, other % 2, 0);
			return;
		}
		rankUpdate r = {(double *)g.f, (const double *)g.left, (const double *)g.right, (const int *)g.slot, g.n, last.first, BLOCK, 0};
		update<4, BLOCK, false>(r, tiles, g.columns, room);
		if (blockIdx.x >= GROUP)
			return;
		__syncthreads();
	}
	columnMemory &shared = *(columnMemory *)room;
	int row = blockIdx.x * HEIGHT + threadIdx.x, chosen = -2;
	if (threadIdx.x < 2)
		asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sharedAddress(&shared.arrived[threadIdx.x])) : "memory");
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	double a[BLOCK];
	int top = 0;
	if (threadIdx.x < HEIGHT) {
		if (row < g.n && ((const int *)g.slot)[row] < 0) {
			chosen = -1;
			top = row < p.n ? shortTop(((const i64 *)p.tops)[row]) : 0;
		}
		const double *f = (const double *)g.f + row + (i64)g.first * g.n;
#pragma unroll
		for (int j = 0; j < BLOCK; j++)
			a[j] = chosen == -1 ? __ldcg(f + (i64)j * g.n) : 0;
	}
	meet();
	if (threadIdx.x < HEIGHT) {
#pragma unroll 1
		for (int column = 0; column < 16; column++)
			panelColumn<64>(a, top, chosen, column, shared);
#pragma unroll 1
		for (int column = 16; column < 32; column++)
			panelColumn<48>(a, top, chosen, column, shared);
#pragma unroll 1
		for (int column = 32; column < 48; column++)
			panelColumn<32>(a, top, chosen, column, shared);
#pragma unroll 1
		for (int column = 48; column < 64; column++)
			panelColumn<16>(a, top, chosen, column, shared);
		if (chosen >= 0) {
			((int *)g.order)[g.first + chosen] = row;
			((int *)g.slot)[row] = g.first + chosen;
			u32 to = there(shared.pick.triangles + chosen * TRIANGLE_PITCH, 0);
			for (int h = 0; h < chosen; h++)
				asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(to + 8 * h), "d"(shared.factors()[h * HEIGHT]) : "memory");
		}
	}
	meet(); // with the first block, which inverts
	if (blockIdx.x > 0)
		return;
	if (threadIdx.x < BLOCK && shared.pick.inverses[threadIdx.x] == 0)
		atomicOr((u32 *)g.status, SINGULAR);
	storeInverses(g, shared.pick, THREADS);
}

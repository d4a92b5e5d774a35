// An approximate inverse in binary64, with which Newton's method of package linsolve begins.
// Nothing is known of its error.
//
// F = diag(2^rows) A diag(2^cols), equilibrated and padded by a unit matrix to order N, a multiple
// of BLOCK, is inverted in place by Gauss-Jordan elimination of BLOCK columns at a time. The pivot
// rows of a step are chosen by a tournament (Grigori, Demmel and Xiang, CALU, SIAM J. Matrix Anal.
// Appl. 32, 2011): nodes pick BLOCK of at most NODE rows by partial pivoting, until one node is
// left. Rows stay where they are: with pivot p_k of column k
//
//	(F^-1)[k][p_j] = M[p_k][j]
//
// for what is in F's place at last, M. In a step with columns K, pivot rows p, F[p,K] = L U and
// other columns J and rows i
//
//	F[i,J] -= (F[i,K] U^-1) (L^-1 F[p,J])    F[i,K] = -(F[i,K] U^-1) L^-1
//	F[p,J] = U^-1 (L^-1 F[p,J])              F[p,K] = U^-1 L^-1
//
// which is one product for all. (L U)^-1 is not formed for it, whose error may be large where those
// of L^-1 F[p,J] and F[i,K] U^-1 are small.
#include "../common/leading.cuh"
#include "../common/report.cuh"
#include "elimination.cuh"
#include "tensor.cuh"

#define NODE 256

// Exponents of zeros, and of rows and columns of zeros: bytes 0x80.
#define NONE ((i64)0x8080808080808080)

struct equilibration {
	vectors a;      // rows of the matrix
	u64 rows, cols; // i64: the negatives of the exponents
	u64 status;     // u32
};

// The sides of a block of equilibrateTops.
#define SIDE 64

static_assert(SIDE == 64 && THREADS == 256, "threads of equilibrateTops");

// equilibrateTops finds the exponents of the largest entries of rows, or of columns with their rows
// scaled. It takes the maximum with what is there.
extern "C" __global__ void __launch_bounds__(THREADS) equilibrateTops(const __grid_constant__ equilibration q, int columns)
{
	__shared__ i64 tops[THREADS / SIDE][SIDE];
	int r = threadIdx.x % SIDE, group = threadIdx.x / SIDE, lane = threadIdx.x % 32;
	int i = blockIdx.x * SIDE + r, j0 = blockIdx.y * SIDE;
	i64 most = NONE, row = columns && i < q.a.n ? ((const i64 *)q.rows)[i] : 0;
	for (int c = group; c < SIDE; c += THREADS / SIDE) {
		i64 e = NONE, top;
		if (i < q.a.n && j0 + c < q.a.k && leading(q.a.a, q.a.off + i * q.a.rs + (j0 + c) * q.a.cs, top) != 0)
			e = top - row;
		most = max64(most, e);
		if (!columns)
			continue;
#pragma unroll
		for (int step = 16; step > 0; step /= 2)
			e = max64(e, __shfl_xor_sync(~0u, e, step));
		if (lane == 0)
			tops[r / 32][c] = e;
	}
	if (!columns)
		tops[group][r] = most;
	__syncthreads();
	if (threadIdx.x >= SIDE)
		return;
	most = max64(tops[0][r], tops[1][r]);
	for (int g = 2; !columns && g < THREADS / SIDE; g++)
		most = max64(most, tops[g][r]);
	if (most != NONE)
		atomicMax((i64 *)(columns ? q.cols : q.rows) + (columns ? j0 : blockIdx.x * SIDE) + r, most);
}

// equilibrated stores F, and begins the lists of rows.
extern "C" __global__ void __launch_bounds__(THREADS) equilibrated(const __grid_constant__ equilibration q, const __grid_constant__ elimination g)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.y;
	if (i >= g.n)
		return;
	// Rows and columns that are added have a unit matrix where they meet.
	double x = i >= q.a.n && j >= q.a.k && i - q.a.n == j - q.a.k;
	if (i < q.a.n && j < q.a.k) {
		i64 at = q.a.off + i * q.a.rs + j * q.a.cs, e;
		x = leading(q.a.a, at, e);
		e -= ((const i64 *)q.rows)[i] + ((const i64 *)q.cols)[j];
		// Zeros may lie in rows and columns of zeros.
		bool special = q.a.a.kind == MP ? ((const u8 *)q.a.a.plane[2])[at] >> 1 > FINITE : !finite(term(q.a.a, at, 0));
		if (special || x != 0 && e > FAR)
			atomicOr((u32 *)g.status, NOT_FINITE);
		x = x == 0 || e < -FAR || e > FAR ? 0 : x * __longlong_as_double((e + 1023) << 52);
	}
	((double *)g.f)[i + (i64)j * g.n] = x;
	if (j == 0) {
		((int *)g.order)[i] = i;
		((int *)g.slot)[i] = -1;
	}
}

// Columns that are eliminated one by one, before what they make of the others is one product.
#define FEW 16

// What threads of a node share. The rows of block are those of the pivots, in their order: U with
// the multipliers of L - I below its diagonal, and U^-1 and L^-1 - I in their places at last.
struct nodeMemory {
	double block[BLOCK][BLOCK + 4]; // apart, for the banks
	double row[FEW];                // of the pivot
	double inverses[BLOCK];         // of the pivots
	u32 keys[NODE / 32];
};

// choose sets chosen to the step in the thread with the largest x of those with -1, or in thread
// number step if pivots are given, and reports whether that is this one.
static __device__ __forceinline__ bool choose(double x, int &chosen, int step, bool given, nodeMemory &shared)
{
	// The leading bits of the magnitude, above 0, and the thread.
	u32 key = chosen == -1 ? (u32)__double2hiint(x) << 1 & ~(2u * NODE - 1) | NODE | (NODE - 1 - threadIdx.x) : 0;
	if (given && threadIdx.x != step)
		key = 0;
	key = __reduce_max_sync(~0u, key);
	if (threadIdx.x % 32 == 0)
		shared.keys[threadIdx.x / 32] = key;
	__syncthreads();
#pragma unroll
	for (int i = 0; i < NODE / 32; i++)
		key = max(key, shared.keys[i]);
	bool here = threadIdx.x == NODE - 1 - key % NODE;
	if (here)
		chosen = step;
	return here;
}

// eliminateFew eliminates columns FIRST to FIRST + FEW - 1 in NODE rows, one to a thread, and
// brings the rows of their pivots to shared memory and the columns behind them up to date. Columns
// of multipliers stay in the places of those that they eliminate. regular becomes false if a pivot
// is 0.
template <int FIRST> static __device__ __forceinline__ void eliminateFew(double (&a)[BLOCK], int &chosen, bool given, bool &regular, nodeMemory &shared)
{
#pragma unroll 1
	for (int k = 0; k < FEW; k++) { // the columns rotate to the left: the first is that of the step
		double x = a[FIRST], inverse;
		asm volatile("rcp.rn.f64 %0, %1;" : "=d"(inverse) : "d"(x)); // while the pivot is sought
		if (choose(x, chosen, FIRST + k, given, shared)) {
#pragma unroll
			for (int j = 0; j < FEW; j++)
				shared.row[j] = j < FEW - k ? a[FIRST + j] : 0;
			shared.inverses[FIRST + k] = x == 0 ? 0 : inverse;
			regular = x != 0;
		}
		__syncthreads();
		double m = chosen == -1 ? x * shared.inverses[FIRST + k] : 0;
#pragma unroll
		for (int j = 1; j < FEW; j++)
			a[FIRST + j - 1] = fma(-m, shared.row[j], a[FIRST + j]);
		a[FIRST + FEW - 1] = chosen == -1 ? m : x;
	}
	if (chosen >= FIRST) {
#pragma unroll
		for (int j = 0; j < BLOCK; j++)
			shared.block[chosen][j] = a[j];
	}
	__syncthreads();
	if (FIRST + FEW == BLOCK)
		return;
	// U = L^-1 A of the pivots' rows, a column to a thread.
	int column = FIRST + FEW + threadIdx.x;
	if (column < BLOCK) {
		double u[FEW];
#pragma unroll
		for (int k = 0; k < FEW; k++)
			u[k] = shared.block[FIRST + k][column];
#pragma unroll
		for (int k = 0; k < FEW; k++)
#pragma unroll
			for (int i = k + 1; i < FEW; i++)
				u[i] = fma(-shared.block[FIRST + i][FIRST + k], u[k], u[i]);
#pragma unroll
		for (int k = 0; k < FEW; k++)
			shared.block[FIRST + k][column] = u[k];
	}
	__syncthreads();
	if (chosen >= 0)
		return;
#pragma unroll
	for (int k = 0; k < FEW; k++)
#pragma unroll
		for (int j = FIRST + FEW; j < BLOCK; j++)
			a[j] = fma(-a[FIRST + k], shared.block[FIRST + k][j], a[j]);
}

// eliminateBlock eliminates a step's columns: of rows without a pivot nothing is of use then.
static __device__ __forceinline__ void eliminateBlock(double (&a)[BLOCK], int &chosen, bool given, bool &regular, nodeMemory &shared)
{
	eliminateFew<0>(a, chosen, given, regular, shared);
	eliminateFew<16>(a, chosen, given, regular, shared);
	eliminateFew<32>(a, chosen, given, regular, shared);
	eliminateFew<48>(a, chosen, given, regular, shared);
}

static_assert(FEW == 16 && BLOCK == 64, "columns of eliminateBlock");

// lowerAt and upperAt are numbers of the triangles that share a block.
static __device__ __forceinline__ double lowerAt(const nodeMemory &shared, int i, int j) { return i > j ? shared.block[i][j] : i == j; }
static __device__ __forceinline__ double upperAt(const nodeMemory &shared, int i, int j) { return i > j ? 0 : shared.block[i][j]; }

// joinInverses stores, of triangles of order 2 H whose halves on the diagonal are inverted, the
// other part of the inverses,
//
//	-L22^-1 (L21 L11^-1)    -U11^-1 (U12 U22^-1).
//
// A warp makes a few of the 8 x 8 tiles.
template <int H> static __device__ __forceinline__ void joinInverses(nodeMemory &shared)
{
	const int side = H / 8, tiles = BLOCK / H * side * side / (NODE / 32);
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
	for (int second = 0; second < 2; second++) {
		double2 c[tiles] = {};
#pragma unroll
		for (int t = 0; t < tiles; t++) {
			int tile = warp * tiles + t, problem = tile / (side * side), first = problem / 2 * 2 * H;
			bool upper = problem % 2;
			int i = first + (upper ? 0 : H) + tile / side % side * 8 + lane / 4, j = first + (upper ? H : 0) + tile % side * 8 + lane / 4;
			int k = first + (upper == second ? 0 : H) + lane % 4;
#pragma unroll 4
			for (int end = k + H; k < end; k += 4) {
				double x = second ? upper ? upperAt(shared, i, k) : lowerAt(shared, i, k) : shared.block[i][k];
				double y = second ? shared.block[k][j] : upper ? upperAt(shared, k, j) : lowerAt(shared, k, j);
				multiplyAdd64(c[t], x, y);
			}
		}
		__syncthreads();
#pragma unroll
		for (int t = 0; t < tiles; t++) {
			int tile = warp * tiles + t, problem = tile / (side * side), first = problem / 2 * 2 * H;
			bool upper = problem % 2;
			double *to = &shared.block[first + (upper ? 0 : H) + tile / side % side * 8 + lane / 4][first + (upper ? H : 0) + tile % side * 8 + 2 * (lane % 4)];
			to[0] = second ? -c[t].x : c[t].x;
			to[1] = second ? -c[t].y : c[t].y;
		}
		__syncthreads();
	}
}

// invertTriangles inverts the triangles in place: blocks of FEW on the diagonal, a column to a
// thread, which are joined then.
static __device__ __forceinline__ void invertTriangles(nodeMemory &shared)
{
	bool there = threadIdx.x < 2 * BLOCK, upper = threadIdx.x >= BLOCK;
	int column = threadIdx.x % FEW, first = threadIdx.x % BLOCK / FEW * FEW;
	double x[FEW];
	if (there) {
#pragma unroll
		for (int i = 0; i < FEW; i++)
			x[i] = i == column;
		if (upper) {
#pragma unroll
			for (int k = FEW - 1; k >= 0; k--) {
				x[k] *= shared.inverses[first + k];
#pragma unroll
				for (int i = 0; i < k; i++)
					x[i] = fma(-shared.block[first + i][first + k], x[k], x[i]);
			}
		} else {
#pragma unroll
			for (int k = 0; k < FEW; k++)
#pragma unroll
				for (int i = k + 1; i < FEW; i++)
					x[i] = fma(-shared.block[first + i][first + k], x[k], x[i]);
		}
	}
	__syncthreads();
	if (there) {
#pragma unroll
		for (int i = 0; i < FEW; i++)
			if (upper ? i <= column : i > column)
				shared.block[first + i][first + column] = x[i];
	}
	__syncthreads();
	joinInverses<16>(shared);
	joinInverses<32>(shared);
}

// load reads row number index of count of the candidates, whose places in the order are in from, or
// follow the pivots so far if that is null. It returns the place; chosen is -2 if there is none.
static __device__ __forceinline__ int load(const elimination &g, u64 from, int index, int count, double (&a)[BLOCK], int &chosen)
{
	chosen = index < count ? -1 : -2;
	int place = chosen == -2 ? -1 : from ? __ldcg((const int *)from + index) : g.first + index;
	const double *row = (const double *)g.f + (place < 0 ? 0 : ((const int *)g.order)[place]) + (i64)g.first * g.n;
#pragma unroll
	for (int j = 0; j < BLOCK; j++)
		a[j] = place < 0 ? 0 : row[(i64)j * g.n];
	return place;
}

// pickCandidates is a node of the tournament: a block picks BLOCK of NODE candidates, of which
// there are count, a multiple of BLOCK.
static __device__ __forceinline__ void pickCandidates(const elimination &g, u64 from, int index, int count, u64 to, nodeMemory &shared)
{
	double a[BLOCK];
	int chosen, place = load(g, from, index * NODE + threadIdx.x, count, a, chosen);
	bool regular = true;
	eliminateBlock(a, chosen, false, regular, shared);
	if (chosen >= 0)
		((int *)to)[index * BLOCK + chosen] = place;
}

// pickPivots is the last node: it picks the pivot rows, or takes BLOCK candidates as those of its
// columns if they are given, inverts the triangles of their block of the step's columns, and moves
// them to the front of the order.
static __device__ __forceinline__ void pickPivots(const elimination &g, u64 from, int count, bool given, nodeMemory &shared)
{
	__shared__ int places[BLOCK], rows[BLOCK], displaced[BLOCK];
	__shared__ u32 taken[2], outside[2];
	double a[BLOCK];
	int chosen, place = load(g, from, threadIdx.x, count, a, chosen);
	bool regular = true;
	eliminateBlock(a, chosen, given, regular, shared);
	invertTriangles(shared);
	if (threadIdx.x < 2)
		taken[threadIdx.x] = outside[threadIdx.x] = 0;
	if (!regular)
		atomicOr((u32 *)g.status, SINGULAR);
	for (int i = threadIdx.x; i < BLOCK * BLOCK; i += NODE) {
		((double *)g.lower)[i] = lowerAt(shared, i % BLOCK, i / BLOCK);
		((double *)g.upper)[i] = upperAt(shared, i / BLOCK, i % BLOCK);
	}
	__syncthreads();
	int *order = (int *)g.order + g.first;
	if (chosen >= 0) {
		place -= g.first;
		places[chosen] = place;
		rows[chosen] = order[place];
		((int *)g.slot)[order[place]] = g.first + chosen;
		if (place < BLOCK)
			atomicOr(&taken[place / 32], 1u << place % 32);
		else
			atomicOr(&outside[chosen / 32], 1u << chosen % 32);
	}
	__syncthreads();
	// The rows of the front that are not chosen go where chosen ones were.
	int t = threadIdx.x;
	u32 below = (1u << t % 32) - 1;
	if (t < BLOCK && !(taken[t / 32] >> t % 32 & 1))
		displaced[__popc(~taken[t / 32] & below) + (t < 32 ? 0 : __popc(~taken[0]))] = order[t];
	__syncthreads();
	if (t >= BLOCK)
		return;
	if (outside[t / 32] >> t % 32 & 1)
		order[places[t]] = displaced[__popc(outside[t / 32] & below) + (t < 32 ? 0 : __popc(outside[0]))];
	order[t] = rows[t];
}

// Nodes that a node's candidates come from.
#define FAN (NODE / BLOCK)

// pivots is the tournament, of a block for each of the first nodes. The last one of FAN blocks that
// has picked its candidates is the node that picks from what they have: it need not wait for room
// on a multiprocessor. Nodes list their candidates one after the other, level after level, and each
// has a counter, which is 0 before and after. Where pivots are given one block takes them.
extern "C" __global__ void __launch_bounds__(NODE, 1) pivots(const __grid_constant__ elimination g, u64 lists, u64 counters, u64 given)
{
	__shared__ __align__(16) nodeMemory shared;
	u64 from = given;
	int index = blockIdx.x, count = given ? BLOCK : g.n - g.first;
	for (int nodes = gridDim.x; nodes > 1;) {
		pickCandidates(g, from, index, count, lists, shared);
		int next = index / FAN;
		if (!lastBlock((u32 *)counters + next, min(FAN, nodes - next * FAN)))
			return;
		index = next;
		from = lists;
		count = BLOCK * nodes;
		lists += 4 * count;
		nodes = (nodes + FAN - 1) / FAN;
		counters += 4 * nodes;
	}
	pickPivots(g, from, count, given != 0, shared);
}

// Columns of the right factor that a block of pivotPanels makes, and rows of the left one.
#define PANEL 32

// The most that numbers -F[i,K] U^-1 of rows without a pivot may be; pivots of all rows make them 1
// or a little more.
#define MOST 256

// pivotPanels makes the factors of the update: blocks (b, 0) the right one, of rows L^-1 F[p,J], or
// L^-1 for the step's columns; blocks (b, 1) the left one, of columns -F[i,K] U^-1, or U^-1 for the
// pivot rows.
extern "C" __global__ void __launch_bounds__(THREADS) pivotPanels(const __grid_constant__ elimination g)
{
	__shared__ __align__(16) double triangle[BLOCK * BLOCK], panel[BLOCK * PANEL];
	const double *f = (const double *)g.f, *from = (const double *)(blockIdx.y ? g.upper : g.lower);
	int i0 = blockIdx.x * PANEL, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	if (!blockIdx.y && i0 >= g.columns)
		return;
	for (int i = threadIdx.x; i < BLOCK * BLOCK; i += THREADS)
		triangle[swizzled<BLOCK>(i / BLOCK, i % BLOCK)] = from[i];
	if (blockIdx.y)
		for (int k = warp; k < BLOCK; k += THREADS / 32)
			panel[swizzled<PANEL>(k, lane)] = -f[i0 + lane + (i64)(g.first + k) * g.n];
	else
		for (int i = threadIdx.x; i < BLOCK * PANEL; i += THREADS) {
			int k = i % BLOCK, j = i0 + i / BLOCK;
			panel[swizzled<PANEL>(k, i / BLOCK)] = (u32)(j - g.first) < BLOCK ? j - g.first == k : f[((const int *)g.order)[g.first + k] + (i64)j * g.n];
		}
	__syncthreads();
	double2 c[PANEL / 8] = {};
#pragma unroll 4
	for (int k = lane % 4; k < BLOCK; k += 4) {
		double a = triangle[swizzled<BLOCK>(k, 8 * warp + lane / 4)];
#pragma unroll
		for (int t = 0; t < PANEL / 8; t++)
			multiplyAdd64(c[t], a, panel[swizzled<PANEL>(k, 8 * t + lane / 4)]);
	}
	int k = 8 * warp + lane / 4;
	double *to = (double *)(blockIdx.y ? g.left : g.right) + (i64)k * g.n;
#pragma unroll
	for (int t = 0; t < PANEL / 8; t++) {
		int i = i0 + 8 * t + 2 * (lane % 4);
		if (blockIdx.y) {
			int2 slot = *(const int2 *)((const int *)g.slot + i);
			u32 x = slot.x - g.first, y = slot.y - g.first;
			bool large = slot.x < 0 && !(fabs(c[t].x) <= MOST) || slot.y < 0 && !(fabs(c[t].y) <= MOST);
			if (large)
				atomicOr((u32 *)g.status, GROWTH);
			if (x < BLOCK)
				c[t].x = triangle[swizzled<BLOCK>(x, k)];
			if (y < BLOCK)
				c[t].y = triangle[swizzled<BLOCK>(y, k)];
		}
		*(double2 *)(to + i) = c[t];
	}
}

static_assert(THREADS / 32 * 8 == BLOCK, "warps of pivotPanels");

// A block of rankUpdate has TALL rows and BLOCK columns, a warp 32 rows and 32 columns.
#define TALL 128

// rankUpdate adds the product of the factors to F, of which the pivot rows and the step's columns
// count as 0. Blocks (i, j) take column blocks begin + j, but not number without.
extern "C" __global__ void __launch_bounds__(THREADS, 2) rankUpdate(const __grid_constant__ elimination g, int begin, int without)
{
	extern __shared__ __align__(16) double shared[];
	double *left = shared, *right = shared + BLOCK * TALL;
	int tile = begin + blockIdx.y;
	tile += tile >= without;
	int i0 = blockIdx.x * TALL, j0 = tile * BLOCK;
	const double *from = (const double *)g.left + i0;
#pragma unroll
	for (int half = 0; half < 2; half++) {
#pragma unroll
		for (int c = threadIdx.x; c < BLOCK * TALL / 4; c += THREADS) {
			int k = half * (BLOCK / 2) + c / (TALL / 2), i = c % (TALL / 2) * 2;
			if (i0 + i < g.n)
				copyAsync(sharedAddress(left + swizzled<TALL>(k, i)), from + (i64)k * g.n + i);
		}
#pragma unroll
		for (int c = threadIdx.x; c < BLOCK * BLOCK / 4; c += THREADS) {
			int k = half * (BLOCK / 2) + c / (BLOCK / 2), j = c % (BLOCK / 2) * 2;
			copyAsync(sharedAddress(right + swizzled<BLOCK>(k, j)), (const double *)g.right + (i64)k * g.n + j0 + j);
		}
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
		for (int t = 0; t < 4; t++) {
			int2 slot = *(const int2 *)((const int *)g.slot + i0 + wi + 8 * t + 2 * (lane % 4));
			bool pivotX = (u32)(slot.x - g.first) < BLOCK, pivotY = (u32)(slot.y - g.first) < BLOCK;
#pragma unroll
			for (int s = 0; s < 4; s++) {
				c[s][t] = *(const double2 *)(f + (i64)(8 * s) * g.n + 8 * t);
				c[s][t].x = pivotX ? 0 : c[s][t].x;
				c[s][t].y = pivotY ? 0 : c[s][t].y;
			}
		}
	}
#pragma unroll
	for (int half = 0; half < 2; half++) {
		if (half == 0)
			waitGroups<1>();
		else
			waitGroups<0>();
		__syncthreads();
#pragma unroll 2
		for (int k = half * (BLOCK / 2) + lane % 4; k < (half + 1) * (BLOCK / 2); k += 4) {
			double a[4], b[4];
#pragma unroll
			for (int s = 0; s < 4; s++) {
				a[s] = right[swizzled<BLOCK>(k, wj + 8 * s + lane / 4)];
				b[s] = left[swizzled<TALL>(k, wi + 8 * s + lane / 4)];
			}
#pragma unroll
			for (int s = 0; s < 4; s++)
#pragma unroll
				for (int t = 0; t < 4; t++)
					multiplyAdd64(c[s][t], a[s], b[t]);
		}
	}
	if (!there)
		return;
#pragma unroll
	for (int s = 0; s < 4; s++)
#pragma unroll
		for (int t = 0; t < 4; t++)
			*(double2 *)(f + (i64)(8 * s) * g.n + 8 * t) = c[s][t];
}

// unscrambled stores the inverse of F, n x n, from what is in F's place, in numbers off + i rs + j
// cs of F64.
extern "C" __global__ void __launch_bounds__(THREADS) unscrambled(const __grid_constant__ elimination g, int n, u64 to, i64 rs, i64 cs)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = ((const int *)g.order)[blockIdx.y];
	if (i >= n || j >= n)
		return;
	double x = ((const double *)g.f)[((const int *)g.order)[i] + (i64)blockIdx.y * g.n];
	if (!finite(x))
		atomicOr((u32 *)g.status, NOT_FINITE);
	((double *)to)[i * rs + j * cs] = x;
}

struct triangles {
	u64 lower, upper; // double
	i64 lowerRS, lowerCS, upperRS, upperCS;
	int n, rows; // n x n from an elimination of as many rows
};

// Rows or columns beside those of a step that a block of triangularInverses stores.
#define BESIDE (THREADS / BLOCK)

// triangularInverses stores what a step makes of the inverses of the triangles of P F = L U, row j
// of P F being row order[j] of F, where both are zeros: blocks (b, 0) rows of L^-1, which the right
// factor has before the step's columns, as F's have the rows of the inverse so far; blocks (b, 1)
// columns of U^-1, which the left factor has in the pivot rows, those of steps before included.
extern "C" __global__ void __launch_bounds__(THREADS) triangularInverses(const __grid_constant__ elimination g, const __grid_constant__ triangles t)
{
	const int *order = (const int *)g.order;
	int h = blockIdx.y ? threadIdx.x / BESIDE : threadIdx.x % BLOCK;
	int j = blockIdx.x * BESIDE + (blockIdx.y ? threadIdx.x % BESIDE : threadIdx.x / BLOCK), k = g.first + h;
	if (k >= t.n || j > k)
		return;
	int row = order[j];
	if (row >= t.rows) { // of a pivot 0
		atomicOr((u32 *)g.status, SINGULAR);
		return;
	}
	double x = blockIdx.y ? ((const double *)g.left)[h * (i64)g.n + row] : j == k ? 1 : ((const double *)g.right)[h * (i64)g.n + j];
	if (!finite(x))
		atomicOr((u32 *)g.status, NOT_FINITE);
	if (blockIdx.y)
		((double *)t.upper)[j * t.upperRS + k * t.upperCS] = x;
	else
		((double *)t.lower)[k * t.lowerRS + j * t.lowerCS] = x;
}

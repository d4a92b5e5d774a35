// An approximate inverse in binary64, with which Newton's method of package linsolve begins.
// Nothing is known of its error.
//
// F = diag(2^rows) A diag(2^cols), equilibrated and padded by a unit matrix to order N, a multiple
// of BLOCK, is inverted in place by Gauss-Jordan elimination of BLOCK columns at a time. The pivot
// rows of a step are chosen by a tournament (Grigori, Demmel and Xiang, CALU, SIAM J. Matrix Anal.
// Appl. 32, 2011): nodes pick BLOCK of at most NODE rows by partial pivoting, until one node is
// left. Or they are picked among the first CANDIDATES rows alone, and GROWTH tells then if that was
// not good enough. Rows stay where they are: with pivot p_k of column k
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
//
// The steps of a panel of columns update these alone, and then one product updates all others, of
// which F's entries are so read and written once a panel. It does what the steps would do one after
// the other: its factors are theirs side by side, the right ones made one from the other, and the
// left ones 0 in rows that a later step of the panel has for pivots, where F counts as 0 by then.
#include "../common/leading.cuh"
#include "../common/report.cuh"
#include "elimination.cuh"
#include "node.cuh"
#include "step.cuh"
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

// What threads of a node share.
struct nodeMemory {
	double row[BLOCK];
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

// candidateStep eliminates the first of W columns and shifts the others to the left, in all of the
// NODE rows at once, one to a thread.
template <int W> static __device__ __forceinline__ void candidateStep(double (&a)[BLOCK], int &chosen, int step, nodeMemory &shared)
{
	if (choose(a[0], chosen, step, false, shared)) {
#pragma unroll
		for (int j = 0; j < W; j++)
			shared.row[j] = a[j];
	}
	__syncthreads();
	double m = a[0] * reciprocal(shared.row[0]);
#pragma unroll
	for (int j = 0; j < W - 1; j++)
		a[j] = fma(-m, shared.row[j + 1], a[j + 1]);
}

// blockStep, number step between 16 PHASE and 16 PHASE + 15, eliminates the first column and
// rotates the others to the left. Columns from the step's on become U^-1 in the pivot rows, those
// before it L^-1; the diagonal of that, 1, is not stored. It returns whether the pivot is not 0.
template <int PHASE> static __device__ __forceinline__ bool blockStep(double (&a)[BLOCK], int &chosen, int step, bool given, nodeMemory &shared)
{
	// The columns from the step's on are these registers: below surely, and up to below + 16 maybe.
	const int below = BLOCK - 16 * (PHASE + 1), end = BLOCK - step;
	bool here = choose(a[0], chosen, step, given, shared);
	if (here) {
#pragma unroll
		for (int j = 0; j < BLOCK; j++) {
			shared.row[j] = a[j];
			if (j < below || j < below + 16 && j < end)
				a[j] = 0;
		}
	}
	__syncthreads();
	double pivot = shared.row[0], inverse = reciprocal(pivot), m = here ? -inverse : a[0] * inverse;
	double before = chosen >= 0 ? 0 : m; // for the columns before the step's
#pragma unroll
	for (int j = 1; j < BLOCK; j++)
		a[j - 1] = fma(j < below || j < below + 16 && j < end ? -m : -before, shared.row[j], a[j]);
	a[BLOCK - 1] = -m;
	return pivot != 0;
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
	for (int step = 0; step < 16; step++)
		candidateStep<64>(a, chosen, step, shared);
	for (int step = 16; step < 32; step++)
		candidateStep<48>(a, chosen, step, shared);
	for (int step = 32; step < 48; step++)
		candidateStep<32>(a, chosen, step, shared);
	for (int step = 48; step < 64; step++)
		candidateStep<16>(a, chosen, step, shared);
	if (chosen >= 0)
		((int *)to)[index * BLOCK + chosen] = place;
}

// pickPivots is the last node: it picks the pivot rows, or takes BLOCK candidates as those of its
// columns if they are given, inverts the triangles of their block of the step's columns, and moves
// them to the front of the order.
static __device__ __forceinline__ void pickPivots(const elimination &g, u64 from, int count, bool given, nodeMemory &shared)
{
	double a[BLOCK];
	int chosen, place = load(g, from, threadIdx.x, count, a, chosen);
	bool regular = true;
	for (int step = 0; step < 16; step++)
		regular &= blockStep<0>(a, chosen, step, given, shared);
	for (int step = 16; step < 32; step++)
		regular &= blockStep<1>(a, chosen, step, given, shared);
	for (int step = 32; step < 48; step++)
		regular &= blockStep<2>(a, chosen, step, given, shared);
	for (int step = 48; step < 64; step++)
		regular &= blockStep<3>(a, chosen, step, given, shared);
	if (threadIdx.x == 0 && !regular)
		atomicOr((u32 *)g.status, SINGULAR);
	if (chosen >= 0) {
		double *lower = (double *)g.corner + (g.first - g.panel) * (g.width + 1) + chosen, *upper = (double *)g.upper + chosen * BLOCK;
#pragma unroll
		for (int j = 0; j < BLOCK; j++) {
			lower[j * g.width] = j < chosen ? a[j] : j == chosen;
			upper[j] = j < chosen ? 0 : a[j];
		}
	}
	movePivots(g, chosen, place);
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

// narrowPivots picks the pivots of a step among the first rows that have none.
extern "C" __global__ void __launch_bounds__(THREADS, 1) narrowPivots(const __grid_constant__ elimination g)
{
	extern __shared__ __align__(16) double room[];
	pickMemory &shared = *(pickMemory *)room;
	const double *f = (const double *)g.f + (i64)g.first * g.n;
	const int *order = (const int *)g.order + g.first;
#pragma unroll
	for (int c = 0; c < CANDIDATES * BLOCK / THREADS; c++) {
		int i = (c * THREADS + threadIdx.x) % CANDIDATES, j = (c * THREADS + threadIdx.x) / CANDIDATES;
		shared.a[j * CANDIDATE_PITCH + i] = f[order[min(i, g.n - g.first - 1)] + (i64)j * g.n];
	}
	__syncthreads();
	pickRows(g, shared);
}

// rightStrip makes columns j0 to j0 + STRIP of the right factors of steps begin to end of a panel,
// of which F has what steps before have left. Block (t, s) of the corner is
//
//	(s < t) what the left factor of step s has in the pivot rows of step t    (s = t) L^-1 of step t
//
// The rows of step t are L^-1 B for the pivot rows B of F, brought up to date by the steps before;
// for the step's own columns they are L^-1.
static __device__ __forceinline__ void rightStrip(const elimination &g, int j0, int begin, int end, double *shared)
{
	double *strips = shared + 2 * BLOCK * BLOCK;
	int parity = 0, nextT = begin, nextS = begin;
	auto fetch = [&]() {
		if (nextT < end) {
			const double *from = (const double *)g.corner + (i64)(nextS * BLOCK) * g.width + nextT * BLOCK;
			copyTile<BLOCK, BLOCK>(shared + parity * BLOCK * BLOCK, from, g.width, BLOCK);
			parity ^= 1;
			if (++nextS > nextT) {
				nextT++;
				nextS = begin;
			}
		}
		closeGroup();
	};
	fetch();
	for (int i = threadIdx.x; i < (end - begin) * BLOCK * STRIP; i += THREADS) {
		int h = i % BLOCK, j = i / BLOCK % STRIP, t = i / (BLOCK * STRIP), first = g.panel + (begin + t) * BLOCK;
		strips[swizzled<STRIP>(t * BLOCK + h, j)] = (u32)(j0 + j - first) < BLOCK ? j0 + j - first == h : ((const double *)g.f)[((const int *)g.order)[first + h] + (i64)(j0 + j) * g.n];
	}
	int row = stripRow(), column = stripColumn() + threadIdx.x % 4 * 2;
	for (int t = begin; t < end; t++) {
		double *strip = strips + (t - begin) * BLOCK * STRIP;
		double2 *mine = (double2 *)(strip + swizzled<STRIP>(row, column)), *below = (double2 *)(strip + swizzled<STRIP>(row + 8, column)), c[2];
		for (int s = begin; s <= t; s++) {
			waitGroups<0>();
			__syncthreads();
			const double *triangle = shared + (parity ^ 1) * BLOCK * BLOCK;
			fetch();
			if (s == t)
				c[0] = c[1] = {0, 0};
			else if (s == begin) {
				c[0] = *mine;
				c[1] = *below;
			}
			multiplyStrip<false>(c, triangle, strips + (s - begin) * BLOCK * STRIP);
			if (s == t)
				__syncthreads();
			if (s >= t - 1) {
				*mine = c[0];
				*below = c[1];
			}
		}
		double2 *to = (double2 *)((double *)g.right + (i64)(t * BLOCK + row) * g.n + j0 + column);
		to[0] = c[0];
		to[4 * (i64)g.n] = c[1];
	}
}

// rightFactor makes the right factors of all steps of a panel that ends before column end, for
// columns of which block b has those from begin + b STRIP on, but skipped ones further from column
// skip on.
extern "C" __global__ void __launch_bounds__(THREADS) rightFactor(const __grid_constant__ elimination g, int end, int begin, int skip, int skipped)
{
	extern __shared__ __align__(16) double shared[];
	int j0 = begin + blockIdx.x * STRIP;
	rightStrip(g, j0 < skip ? j0 : j0 + skipped, 0, (end - g.panel) / BLOCK, shared);
}

// The most that numbers -F[i,K] U^-1 of rows without a pivot may be where pivots are those of a few
// rows; if all rows are candidates they are 1 or a little more.
#define MOST 256

// leftStrip makes rows i0 to i0 + STRIP of the step's left factor, -F[i,K] U^-1, or U^-1 in the
// pivot rows. What steps before have there goes to the corner.
static __device__ __forceinline__ void leftStrip(const elimination &g, int i0, double *shared)
{
	double *triangle = shared, *strip = shared + BLOCK * BLOCK;
	int before = g.first - g.panel;
	copyTile<BLOCK, BLOCK>(triangle, (const double *)g.upper, BLOCK, BLOCK);
	closeGroup();
	for (int i = threadIdx.x; i < BLOCK * STRIP; i += THREADS)
		strip[swizzled<STRIP>(i / STRIP, i % STRIP)] = -((const double *)g.f)[i0 + i % STRIP + (i64)(g.first + i / STRIP) * g.n];
	waitGroups<0>();
	__syncthreads();
	double2 c[2] = {};
	multiplyStrip<false>(c, triangle, strip);
	int i = i0 + stripColumn() + threadIdx.x % 4 * 2;
	int2 slot = *(const int2 *)((const int *)g.slot + i);
	u32 x = slot.x - g.first, y = slot.y - g.first;
	double *left = (double *)g.left;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int k = stripRow() + 8 * half;
		double2 v = c[half];
		if (slot.x < 0 && !(fabs(v.x) <= MOST) || slot.y < 0 && !(fabs(v.y) <= MOST))
			atomicOr((u32 *)g.status, GROWTH);
		if (x < BLOCK)
			v.x = triangle[swizzled<BLOCK>(x, k)];
		if (y < BLOCK)
			v.y = triangle[swizzled<BLOCK>(y, k)];
		*(double2 *)(left + (i64)(before + k) * g.n + i) = v;
	}
	int r = threadIdx.x % STRIP;
	u32 row = ((const int *)g.slot)[i0 + r] - g.first;
	if (row < BLOCK)
		for (int h = threadIdx.x / STRIP; h < before; h += THREADS / STRIP) {
			double *of = left + (i64)h * g.n + i0 + r;
			((double *)g.corner)[(i64)h * g.width + before + row] = *of;
			*of = 0;
		}
}

// copyAhead copies what the candidates of the next step have in its columns: see nextPivots.
static __device__ __forceinline__ void copyAhead(const elimination &g, int block)
{
	int first = g.first + BLOCK;
	for (int e = block * THREADS + threadIdx.x; e < CANDIDATES * BLOCK; e += gridDim.x * THREADS) {
		int row = ((const int *)g.order)[min(first + e % CANDIDATES, g.n - 1)];
		((double *)g.ahead)[e] = ((const double *)g.f)[row + (i64)(first + e / CANDIDATES) * g.n];
	}
}

// stepFactors makes the factors of a step: blocks (b, 0) the right one, of columns from begin on as
// many as other blocks have, blocks (b, 1) the left one. Blocks (b, 2), if there are any, copy what
// nextPivots begins with.
extern "C" __global__ void __launch_bounds__(THREADS) stepFactors(const __grid_constant__ elimination g, int begin, int end)
{
	extern __shared__ __align__(16) double shared[];
	int at = blockIdx.x * STRIP, step = (g.first - g.panel) / BLOCK;
	if (blockIdx.y == 2)
		copyAhead(g, blockIdx.x);
	else if (blockIdx.y)
		leftStrip(g, at, shared);
	else if (begin + at < end)
		rightStrip(g, begin + at, step, step + 1, shared);
}

// stepUpdate updates few columns, or by the factors of a step.
extern "C" __global__ void __launch_bounds__(THREADS, 2) stepUpdate(const __grid_constant__ elimination g, int from, int depth, int begin, int end, int skip, int skipped)
{
	extern __shared__ __align__(16) double shared[];
	updateColumns<4, 64>(g, from, depth, begin, end, skip, skipped, shared);
}

// panelUpdate updates many columns by the factors of a panel.
extern "C" __global__ void __launch_bounds__(THREADS, 1) panelUpdate(const __grid_constant__ elimination g, int from, int depth, int begin, int end, int skip, int skipped)
{
	extern __shared__ __align__(16) double shared[];
	updateColumns<8, 128>(g, from, depth, begin, end, skip, skipped, shared);
}

// unscrambled stores columns j0 <= j < j1 of the inverse of F, n x n, in numbers off + i rs +
// (j - j0) cs of F64, of what is in columns of F's place from begin on.
extern "C" __global__ void __launch_bounds__(THREADS) unscrambled(const __grid_constant__ elimination g, int begin, int n, int j0, int j1, u64 to, i64 rs, i64 cs)
{
	int i = blockIdx.x * THREADS + threadIdx.x, k = begin + blockIdx.y, j = ((const int *)g.order)[k];
	if (i >= n || j < j0 || j >= j1)
		return;
	double x = ((const double *)g.f)[((const int *)g.order)[i] + (i64)k * g.n];
	if (!finite(x))
		atomicOr((u32 *)g.status, NOT_FINITE);
	((double *)to)[i * rs + (j - j0) * cs] = x;
}

extern "C" __global__ void __launch_bounds__(THREADS) triangularInverses(const __grid_constant__ elimination g, const __grid_constant__ triangles t)
{
	storeTriangles(g, t, blockIdx.x, blockIdx.y, blockIdx.z);
}

// What the first block of nextPivots needs.
struct aheadMemory {
	double a[BLOCK * CANDIDATE_PITCH]; // of pickMemory
	double left[BLOCK * CANDIDATES];   // the candidates' rows of the left factor, by columns
};

// updateAhead updates the candidates of a step in its columns by the factors of the step before: a
// warp has 8 columns.
static __device__ __forceinline__ void updateAhead(const elimination &g, aheadMemory &shared)
{
	int lane = threadIdx.x % 32, k0 = lane % 4, j = threadIdx.x / 32 * 8;
	const double *right = (const double *)g.right + (i64)k0 * g.n + g.first + j + lane / 4;
	double b[BLOCK / 4], next[CANDIDATES * BLOCK / THREADS];
#pragma unroll
	for (int c = 0; c < CANDIDATES * BLOCK / THREADS; c++) {
		int e = c * THREADS + threadIdx.x, row = ((const int *)g.order)[min(g.first + e % CANDIDATES, g.n - 1)];
		next[c] = ((const double *)g.left)[row + (i64)(e / CANDIDATES) * g.n];
	}
#pragma unroll
	for (int k = 0; k < BLOCK / 4; k++)
		b[k] = right[(i64)(4 * k) * g.n];
#pragma unroll
	for (int c = 0; c < CANDIDATES * BLOCK / THREADS; c++) {
		int e = c * THREADS + threadIdx.x;
		shared.left[swizzled<CANDIDATES>(e / CANDIDATES, e % CANDIDATES)] = next[c];
	}
	__syncthreads();
	j += 2 * k0;
	const double *old = (const double *)g.ahead + j * CANDIDATES;
	double *to = shared.a + j * CANDIDATE_PITCH;
#pragma unroll 3
	for (int i = lane / 4; i < CANDIDATES; i += 16) {
		double2 c = {old[i], old[CANDIDATES + i]}, below = {old[i + 8], old[CANDIDATES + i + 8]};
#pragma unroll
		for (int k = 0; k < BLOCK / 4; k++)
			multiplyAdd64(c, below, shared.left[swizzled<CANDIDATES>(4 * k + k0, i)], shared.left[swizzled<CANDIDATES>(4 * k + k0, i + 8)], b[k]);
		to[i] = c.x;
		to[CANDIDATE_PITCH + i] = c.y;
		to[i + 8] = below.x;
		to[CANDIDATE_PITCH + i + 8] = below.y;
	}
}

static_assert(THREADS / 32 * 8 == BLOCK && CANDIDATES % 16 == 0, "warps of updateAhead");

// nextPivots is stepUpdate and, if t has rows, triangularInverses for the step before g's, and if
// there is a copy of candidates narrowPivots for that of g, at the same time: the first block
// brings the copy up to date, since others may have updated F.
extern "C" __global__ void __launch_bounds__(THREADS, 1) nextPivots(const __grid_constant__ elimination g, int begin, int end, const __grid_constant__ triangles t)
{
	extern __shared__ __align__(16) double shared[];
	if (blockIdx.x == 0) {
		if (!g.ahead)
			return;
		updateAhead(g, *(aheadMemory *)shared);
		__syncthreads();
		pickRows(g, *(pickMemory *)shared);
		return;
	}
	elimination last = g;
	last.first -= BLOCK;
	last.panel -= BLOCK;
	int tiles = eliminationTiles<64>{g.n, begin, end, end, 0, 1}.count(), other = blockIdx.x - tiles;
	if (other < 0)
		updateColumns<4, 64>(last, last.first, BLOCK, begin, end, end, 0, shared, 1);
	else
		storeTriangles(last, t, other / 2, other % 2, 0);
}

// A squaring computes -(X E + Y Y) for the strictly lower triangle X and the upper triangle Y of
// E, n x n:
//
//	Z[i][j] = -Σ E[i][k] E[k][j]    k < i or k <= j
struct squaring {
	vectors e;         // rows
	u64 columns, rows; // double: E by columns and by rows, both size x size, padded by zeros
	u64 z;             // double: by columns
	int size, pad;     // a multiple of BLOCK
};

// squaredFactors stores E in doubles.
extern "C" __global__ void __launch_bounds__(THREADS) squaredFactors(const __grid_constant__ squaring q)
{
	const int side = 32;
	__shared__ double tile[side][side + 1];
	int i0 = blockIdx.x * side, j0 = blockIdx.y * side, r = threadIdx.x % side;
	for (int c = threadIdx.x / side; c < side; c += THREADS / side) {
		int i = i0 + r, j = j0 + c;
		double x = 0;
		if (i < q.e.n && j < q.e.k) {
			i64 e;
			x = leading(q.e.a, q.e.off + i * q.e.rs + j * q.e.cs, e);
			x = x == 0 || e < -FAR || e > FAR ? 0 : x * __longlong_as_double((e + 1023) << 52);
		}
		((double *)q.columns)[i + (i64)j * q.size] = x;
		tile[c][r] = x;
	}
	__syncthreads();
	for (int c = threadIdx.x / side; c < side; c += THREADS / side)
		((double *)q.rows)[j0 + r + (i64)(i0 + c) * q.size] = tile[r][c];
}

#define SQUARE_STAGES (BLOCK / CHUNK)

// square computes blocks of BLOCK rows and columns of Z, those with the longest sums first.
extern "C" __global__ void __launch_bounds__(THREADS, 2) square(const __grid_constant__ squaring q)
{
	extern __shared__ __align__(16) double shared[];
	const int stageSize = 2 * CHUNK * BLOCK;
	int left = gridDim.x - 1 - blockIdx.x, last = (int)sqrtf((float)left);
	last += (last + 1) * (last + 1) <= left;
	last -= last * last > left;
	left -= last * last;
	int i0 = left <= last ? last * BLOCK : (left - last - 1) * BLOCK, j0 = left <= last ? left * BLOCK : last * BLOCK;
	int chunks = last * (BLOCK / CHUNK), next = 0;
	auto load = [&]() {
		if (next < chunks) {
			double *to = shared + next % SQUARE_STAGES * stageSize;
			i64 row = (i64)(next * CHUNK) * q.size;
			copyTile<CHUNK, BLOCK>(to, (const double *)q.columns + row + i0, q.size, BLOCK);
			copyTile<CHUNK, BLOCK>(to + CHUNK * BLOCK, (const double *)q.rows + row + j0, q.size, BLOCK);
		}
		next++;
		closeGroup();
	};
#pragma unroll
	for (int i = 0; i < SQUARE_STAGES - 1; i++)
		load();
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wi = warp % 4 * 16, wj = warp / 4 * 32;
	double2 c[4][2] = {};
	for (int chunk = 0; chunk < chunks; chunk++) {
		waitGroups<SQUARE_STAGES - 2>();
		__syncthreads();
		load();
		const double *at = shared + chunk % SQUARE_STAGES * stageSize;
		multiplyChunk<2, CHUNK, BLOCK, BLOCK, true>(c, at + CHUNK * BLOCK, at, wj, wi);
	}
	// The last BLOCK terms: k < i, and then, on the diagonal, k from i to j.
	waitGroups<0>();
	for (int part = i0 < j0 ? 1 : 0; part < (i0 > j0 ? 1 : 2); part++) {
		__syncthreads();
		for (int e = threadIdx.x; e < BLOCK * BLOCK; e += THREADS) {
			int k = e / BLOCK, h = e % BLOCK;
			i64 row = (i64)(last * BLOCK + k) * q.size;
			double *to = shared + k / CHUNK * stageSize + swizzled<BLOCK>(k % CHUNK, h);
			bool before = k < h;
			to[0] = i0 == last * BLOCK && before == (part == 1) ? 0 : ((const double *)q.columns)[row + i0 + h];
			to[CHUNK * BLOCK] = part == 1 && k > h ? 0 : ((const double *)q.rows)[row + j0 + h];
		}
		__syncthreads();
#pragma unroll
		for (int chunk = 0; chunk < SQUARE_STAGES; chunk++)
			multiplyChunk<2, CHUNK, BLOCK, BLOCK, true>(c, shared + chunk * stageSize + CHUNK * BLOCK, shared + chunk * stageSize, wj, wi);
	}
	double *z = (double *)q.z + i0 + wi + 2 * (lane % 4);
#pragma unroll
	for (int s = 0; s < 4; s++)
#pragma unroll
		for (int t = 0; t < 2; t++)
			*(double2 *)(z + 8 * t + (i64)(j0 + wj + 8 * s + lane / 4) * q.size) = c[s][t];
}

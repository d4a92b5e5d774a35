// The pivots of a step, picked among a few rows by one block of threads.
#pragma once
#include "elimination.cuh"
#include "reciprocal.cuh"
#include "tensor.cuh"

// Of CANDIDATES rows BLOCK are picked. With as many as BLOCK the last ones would have no choice,
// and seeds four or five bits less; with half as many again they have one less at most.
#define ROUNDS 3 // rows of a thread of the warp that picks
#define CANDIDATES (32 * ROUNDS)

// Columns are eliminated PART at a time: one warp has all rows of these columns, each in one
// thread, and needs to wait for no other. Its instructions are those for each column: a loop, in
// which the first column goes and the others move to its place, took 37 µs on an H100, not 23.
#define PART 16

// Pitches of numbers in shared memory, with which those that a warp reads are in different banks.
#define CANDIDATE_PITCH (CANDIDATES + 1)
#define FACTOR_PITCH (CANDIDATES + 4)
#define ROW_PITCH (BLOCK - PART + 4)
#define TRIANGLE_PITCH (BLOCK + 4)

// What threads need while a part's columns are eliminated.
struct partMemory {
	double factors[PART * FACTOR_PITCH]; // of all candidates, 0 of those that are picked
	double rows[PART * ROW_PITCH];       // of U, behind the part's columns
	double row[2][PART];
};

struct pickMemory {
	double a[BLOCK * CANDIDATE_PITCH]; // by columns; what products need between, at last
	union {
		partMemory part;
		double triangles[BLOCK * TRIANGLE_PITCH]; // L and U, or their inverses, by rows
	};
	double inverses[BLOCK]; // of the pivots
	int picked[BLOCK];
};

// pickColumn picks the pivot of column K of a part and eliminates the column, in the warp's rows.
template <int K> static __device__ __forceinline__ void pickColumn(double (&a)[ROUNDS][PART], bool (&free)[ROUNDS], int first, pickMemory &shared)
{
	int lane = threadIdx.x;
	u32 key = 0;
#pragma unroll
	for (int r = 0; r < ROUNDS; r++) {
		// The leading bits of the magnitude, above 0, and the row.
		u32 here = (u32)__double2hiint(a[r][K]) << 1 & ~255u | 128 | (127 - 32 * r - lane);
		key = max(key, free[r] ? here : 0);
	}
	int best = 127 - __reduce_max_sync(~0u, key) % 128;
	int of = best / 32;
	bool mine = lane == best % 32;
	double pivot = a[0][K];
#pragma unroll
	for (int r = 1; r < ROUNDS; r++)
		pivot = of == r ? a[r][K] : pivot;
	pivot = __shfl_sync(~0u, pivot, best % 32);
	double *row = shared.part.row[K % 2];
#pragma unroll
	for (int r = 0; r < ROUNDS; r++)
		if (mine && of == r) {
#pragma unroll
			for (int j = K / 2 * 2; j < PART; j += 2)
				*(double2 *)(row + j) = {a[r][j], a[r][j + 1]};
			free[r] = false;
		}
	double inverse = fastReciprocal(pivot);
	if (lane == 0) {
		shared.picked[first + K] = best;
		shared.inverses[first + K] = inverse;
	}
	__syncwarp();
	double m[ROUNDS];
#pragma unroll
	for (int r = 0; r < ROUNDS; r++) {
		m[r] = free[r] ? a[r][K] * inverse : 0;
		a[r][K] = free[r] ? m[r] : a[r][K];
		shared.part.factors[K * FACTOR_PITCH + 32 * r + lane] = m[r];
	}
#pragma unroll
	for (int j = K + 1; j < PART; j++) {
		double u = row[j];
#pragma unroll
		for (int r = 0; r < ROUNDS; r++)
			a[r][j] = fma(-m[r], u, a[r][j]);
	}
}

// pickPart eliminates a part's columns, in the first warp.
static __device__ __forceinline__ void pickPart(bool (&free)[ROUNDS], int first, pickMemory &shared)
{
	double a[ROUNDS][PART], *from = shared.a + first * CANDIDATE_PITCH + threadIdx.x;
#pragma unroll
	for (int j = 0; j < PART; j++)
#pragma unroll
		for (int r = 0; r < ROUNDS; r++)
			a[r][j] = from[j * CANDIDATE_PITCH + 32 * r];
	pickColumn<0>(a, free, first, shared);
	pickColumn<1>(a, free, first, shared);
	pickColumn<2>(a, free, first, shared);
	pickColumn<3>(a, free, first, shared);
	pickColumn<4>(a, free, first, shared);
	pickColumn<5>(a, free, first, shared);
	pickColumn<6>(a, free, first, shared);
	pickColumn<7>(a, free, first, shared);
	pickColumn<8>(a, free, first, shared);
	pickColumn<9>(a, free, first, shared);
	pickColumn<10>(a, free, first, shared);
	pickColumn<11>(a, free, first, shared);
	pickColumn<12>(a, free, first, shared);
	pickColumn<13>(a, free, first, shared);
	pickColumn<14>(a, free, first, shared);
	pickColumn<15>(a, free, first, shared);
#pragma unroll
	for (int j = 0; j < PART; j++)
#pragma unroll
		for (int r = 0; r < ROUNDS; r++)
			from[j * CANDIDATE_PITCH + 32 * r] = a[r][j];
}

// behindPart updates the columns behind a part: its rows of U are L^-1 of the pivot rows, and all
// rows lose the factors' product with them, by which the pivot rows become these.
static __device__ __forceinline__ void behindPart(int first, pickMemory &shared)
{
	int begin = first + PART, count = BLOCK - begin, lane = threadIdx.x % 32;
	if (threadIdx.x < count) {
		double x[PART];
		int at[PART];
#pragma unroll
		for (int k = 0; k < PART; k++) {
			at[k] = shared.picked[first + k];
			x[k] = shared.a[(begin + threadIdx.x) * CANDIDATE_PITCH + at[k]];
		}
#pragma unroll
		for (int k = 0; k < PART; k++) {
#pragma unroll
			for (int i = k + 1; i < PART; i++)
				x[i] = fma(-shared.part.factors[k * FACTOR_PITCH + at[i]], x[k], x[i]);
			shared.part.rows[k * ROW_PITCH + threadIdx.x] = x[k];
		}
	}
	__syncthreads();
	for (int tile = threadIdx.x / 32; tile < CANDIDATES / 8 * (count / 8); tile += THREADS / 32) {
		int i = tile % (CANDIDATES / 8) * 8, j = tile / (CANDIDATES / 8) * 8;
		double *to = shared.a + (begin + j + lane % 4 * 2) * CANDIDATE_PITCH + i + lane / 4;
		double2 c = {to[0], to[CANDIDATE_PITCH]};
#pragma unroll
		for (int k = lane % 4; k < PART; k += 4)
			multiplyAdd64(c, -shared.part.factors[k * FACTOR_PITCH + i + lane / 4], shared.part.rows[k * ROW_PITCH + j + lane / 4]);
		to[0] = c.x;
		to[CANDIDATE_PITCH] = c.y;
	}
	__syncthreads();
}

// invertCorners inverts the PART x PART triangles on the diagonals of L and U, a column to a
// thread.
static __device__ __forceinline__ void invertCorners(pickMemory &shared)
{
	if (threadIdx.x >= 2 * BLOCK)
		return;
	int j = threadIdx.x % PART, at = threadIdx.x % BLOCK / PART * PART;
	double *t = shared.triangles + at * TRIANGLE_PITCH + at, x[PART];
	bool upper = threadIdx.x >= BLOCK;
	// With the order turned around U is lower triangular, too.
#pragma unroll
	for (int i = 0; i < PART; i++)
		x[i] = 0;
#pragma unroll
	for (int i = 0; i < PART; i++) {
		int row = upper ? PART - 1 - i : i;
		double sum = row == j;
#pragma unroll
		for (int k = 0; k < i; k++)
			sum = fma(-t[row * TRIANGLE_PITCH + (upper ? PART - 1 - k : k)], x[k], sum);
		x[i] = upper ? sum * shared.inverses[at + row] : sum;
	}
	__syncwarp();
#pragma unroll
	for (int i = 0; i < PART; i++) {
		int row = upper ? PART - 1 - i : i;
		if (upper ? row <= j : row > j)
			t[row * TRIANGLE_PITCH + j] = x[i];
	}
}

// ofTriangle returns number (i, j) of the triangle U, or L with ones on its diagonal.
static __device__ __forceinline__ double ofTriangle(const pickMemory &shared, bool upper, int i, int j)
{
	double x = shared.triangles[i * TRIANGLE_PITCH + j];
	return upper ? i <= j ? x : 0 : i > j ? x : i == j;
}

// joinCorners makes of inverses of SIDE x SIDE triangles those of triangles twice as large:
//
//	(L^-1)[2,1] = -(L[2,2]^-1) (L[2,1] L[1,1]^-1)    (U^-1)[1,2] = -(U[1,1]^-1) (U[1,2] U[2,2]^-1)
//
// in a block of so many threads.
template <int SIDE> static __device__ __forceinline__ void joinCorners(pickMemory &shared, int threads)
{
	const int SIDES = SIDE / 8, TILES = SIDES * SIDES, PITCH = SIDE + 4;
	int lane = threadIdx.x % 32, row = lane / 4, k0 = lane % 4;
#pragma unroll
	for (int pass = 0; pass < 2; pass++) {
		for (int tile = threadIdx.x / 32; tile < BLOCK / SIDE * TILES; tile += threads / 32) {
			bool upper = tile / TILES % 2;
			int at = tile / (2 * TILES) * 2 * SIDE, i = tile % SIDES * 8, j = tile / SIDES % SIDES * 8;
			int up = upper ? at : at + SIDE, over = upper ? at + SIDE : at; // the rectangle
			double *between = shared.a + tile / TILES * SIDE * PITCH;
			double2 c = {0, 0};
#pragma unroll
			for (int k = k0; k < SIDE; k += 4)
				if (pass == 0)
					multiplyAdd64(c, shared.triangles[(up + i + row) * TRIANGLE_PITCH + over + k], ofTriangle(shared, upper, over + k, over + j + row));
				else
					multiplyAdd64(c, -ofTriangle(shared, upper, up + i + row, up + k), between[k * PITCH + j + row]);
			double *to = pass == 0 ? between + (i + row) * PITCH + j + 2 * k0 : shared.triangles + (up + i + row) * TRIANGLE_PITCH + over + j + 2 * k0;
			to[0] = c.x;
			to[1] = c.y;
		}
		__syncthreads();
	}
}

// storeInverses stores the inverses of the triangles of a step, which it makes in their place, in a
// block of so many threads, at least 2 BLOCK.
static __device__ __forceinline__ void storeInverses(const elimination &g, pickMemory &shared, int threads)
{
	invertCorners(shared);
	__syncthreads();
	joinCorners<16>(shared, threads);
	joinCorners<32>(shared, threads);
	double *lower = (double *)g.corner + (g.first - g.panel) * (g.width + 1), *upper = (double *)g.upper;
	for (int i = threadIdx.x; i < BLOCK * BLOCK; i += threads) {
		lower[i % BLOCK + i / BLOCK * g.width] = ofTriangle(shared, false, i % BLOCK, i / BLOCK);
		upper[i] = ofTriangle(shared, true, i / BLOCK, i % BLOCK);
	}
}

// pickRows picks the pivots of a step among the first rows of the order behind the pivots so far,
// whose numbers in the step's columns are in shared.a. It inverts the triangles of the pivots'
// block of these columns, and moves the pivots to the front of the order.
static __device__ __forceinline__ void pickRows(const elimination &g, pickMemory &shared)
{
	__shared__ int rows[CANDIDATES];
	__shared__ u32 taken[ROUNDS];
	int t = threadIdx.x, count = min(CANDIDATES, g.n - g.first), *order = (int *)g.order + g.first;
	if (t < count)
		rows[t] = order[t];
	if (t < ROUNDS)
		taken[t] = 0;
	bool free[ROUNDS];
#pragma unroll
	for (int r = 0; r < ROUNDS; r++)
		free[r] = 32 * r + t < count;
	for (int first = 0; first < BLOCK; first += PART) {
		if (t < 32)
			pickPart(free, first, shared);
		__syncthreads();
		if (first + PART < BLOCK)
			behindPart(first, shared);
	}
	for (int i = t; i < BLOCK * BLOCK; i += THREADS)
		shared.triangles[i / BLOCK * TRIANGLE_PITCH + i % BLOCK] = shared.a[i % BLOCK * CANDIDATE_PITCH + shared.picked[i / BLOCK]];
	__syncthreads();
	storeInverses(g, shared, THREADS);
	if (t < BLOCK) {
		int at = shared.picked[t];
		atomicOr(&taken[at / 32], 1u << at % 32);
		order[t] = rows[at];
		((int *)g.slot)[rows[at]] = g.first + t;
		if (shared.inverses[t] == 0)
			atomicOr((u32 *)g.status, SINGULAR);
	}
	__syncthreads();
	// Those that are not picked follow those that are.
	if (t >= count || taken[t / 32] >> t % 32 & 1)
		return;
	int before = 0;
#pragma unroll
	for (int r = 0; r < ROUNDS; r++)
		before += __popc(taken[r] & (r < t / 32 ? ~0u : r == t / 32 ? (1u << t % 32) - 1 : 0));
	order[BLOCK + t - before] = rows[t];
}

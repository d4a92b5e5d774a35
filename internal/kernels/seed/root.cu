// The inverse S of the Cholesky factor of a symmetric positive definite matrix in binary64, about,
// with which the factors of package linsolve begin. Nothing is known of its error.
//
// F = diag(2^exps) A diag(2^exps), padded by a unit matrix to order N, a multiple of BLOCK, is
// eliminated in place, BLOCK columns K at a time, as [F I] is to [L^T S]: with F[K,K] = L L^T,
// columns J before K, where S grows, and rows i and columns j behind K
//
//	P[J] = L^-1 F[K,J]    P[K] = L^-1    P[j] = L^-1 F[j,K]^T
//
//	F[K,J] = P[J]    F[K,K] = P[K]
//	F[i,J] -= P[i]^T P[J]    F[i,K] = -P[i]^T P[K]    F[i,j] -= P[i]^T P[j]
//
// of which the lower triangle is all that counts. As in seed.cu the steps of a panel of columns
// update these alone, and then one product all others, for which the rows of P of all steps are
// made one from the other.
#include "../common/leading.cuh"
#include "reciprocal.cuh"
#include "tensor.cuh"
#include "update.cuh"

struct root {
	vectors a;    // rows of A, or of its columns that the GPU has
	u64 exps;     // i64
	u64 status;   // u32
	u64 f;        // double: F by columns
	u64 inverse;  // double: L^-1 of the panel's steps, each by columns
	u64 p;        // double: P of the panel's steps, each BLOCK x N by rows
	int n, first; // N, the first column of the step
	int panel;    // the first column of the panel
	int pad;
};

// rootExponents finds the exponents of columns begin to end, from the diagonal.
extern "C" __global__ void __launch_bounds__(THREADS) rootExponents(const __grid_constant__ root g, int begin, int end)
{
	int i = begin + blockIdx.x * THREADS + threadIdx.x;
	if (i >= end)
		return;
	i64 e;
	if (!(leading(g.a.a, g.a.off + i * g.a.rs + (i - begin) * g.a.cs, e) > 0))
		atomicOr((u32 *)g.status, SINGULAR);
	((i64 *)g.exps)[i] = -(e >> 1);
}

// rootMatrix stores the lower triangle of F in columns from begin on.
extern "C" __global__ void __launch_bounds__(THREADS) rootMatrix(const __grid_constant__ root g, int begin)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = begin + blockIdx.y;
	if (i >= g.n)
		return;
	double x = i == j;
	if (i >= j && i < g.a.n) {
		i64 at = g.a.off + i * g.a.rs + (j - begin) * g.a.cs, e;
		x = leading(g.a.a, at, e);
		e += ((const i64 *)g.exps)[i] + ((const i64 *)g.exps)[j];
		bool special = g.a.a.kind == MP ? ((const u8 *)g.a.a.plane[2])[at] >> 1 > FINITE : !finite(term(g.a.a, at, 0));
		if (special || x != 0 && e > FAR)
			atomicOr((u32 *)g.status, NOT_FINITE);
		x = x == 0 || e < -FAR || e > FAR ? 0 : x * __longlong_as_double((e + 1023) << 52);
	}
	((double *)g.f)[i + (i64)j * g.n] = x;
}

// A step's block M lies in eight warps as sums of the tensor cores do: a thread has rows blockRow()
// and 8 below, columns blockColumn() + 8 t + 2 (lane mod 4) and the next one. What lies above the
// diagonal is of no use.
static __device__ __forceinline__ int blockRow() { return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4; }
static __device__ __forceinline__ int blockColumn() { return threadIdx.x / 128 * 32; }

// usefulBlock reports whether a warp has numbers below the diagonal.
static __device__ __forceinline__ bool usefulBlock() { return threadIdx.x / 32 % 4 * 16 + 15 >= blockColumn(); }

// Columns of a block that are eliminated between two barriers.
#define TOGETHER 4

// What threads of a block tell each other of a step: these columns and rows, in two halves, of
// which one is written while others may still read from the other one; and the pivots.
struct blockShared {
	double columns[2][TOGETHER * BLOCK], rows[2][TOGETHER * BLOCK], pivots[BLOCK];
};

// blockStep eliminates columns s to s + 3 of the block, s = 32 half + 8 PHASE + 4 part, unscaled:
// rows of L^-1 are to be divided by the roots of the pivots. It stores the pivots. Column s alone
// is eliminated by
//
//	M[i,j] += f_i r_j,  f_i = -M[i,s] / M[s,s] for i > s, else 0
//	r_j = M[s,j] for j < s, 1 for j = s, M[j,s] for j > s
//
// where M[i,s] counts as 0. What the columns before leave of a column or row is W times the four, W
// the inverse of the triangle of these columns with a unit diagonal. All threads make W; the sums
// of four products are one of the tensor cores.
template <int PHASE> static __device__ __forceinline__ void blockStep(double2 (&c)[2][4], int half, int part, blockShared &b, bool &regular)
{
	int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, s = 32 * half + 8 * PHASE + TOGETHER * part;
	int wi = threadIdx.x / 32 % 4 * 16, i0 = blockRow(), j0 = blockColumn();
	double *column = b.columns[part], *row = b.rows[part];
	bool own = j0 == 32 * half && q / 2 == part;
	if (own) {
		double *to = column + q % 2 * 2 * BLOCK + i0;
		to[0] = c[0][PHASE].x;
		to[BLOCK] = c[0][PHASE].y;
		to[8] = c[1][PHASE].x;
		to[BLOCK + 8] = c[1][PHASE].y;
		c[0][PHASE] = c[1][PHASE] = {0, 0};
	}
	if (wi == (s & ~15) && g / TOGETHER == part) {
#pragma unroll
		for (int t = 0; t < 4; t++)
			*(double2 *)(row + g % TOGETHER * BLOCK + j0 + 8 * t + 2 * q) = c[PHASE % 2][t];
	}
	__syncthreads();
	if (!usefulBlock())
		return;
	double t[TOGETHER][TOGETHER], by[TOGETHER][TOGETHER], inverse[TOGETHER];
#pragma unroll
	for (int h = 0; h < TOGETHER; h++)
#pragma unroll
		for (int e = h; e < TOGETHER; e++)
			t[e][h] = column[h * BLOCK + s + e];
#pragma unroll
	for (int h = 0; h < TOGETHER; h++) {
		double pivot = t[h][h];
		if (!(pivot > 0x1p-80)) {
			regular = false;
			pivot = 1;
		}
		if (threadIdx.x == 0)
			b.pivots[s + h] = pivot;
		inverse[h] = fastReciprocal(pivot);
#pragma unroll
		for (int e = h + 1; e < TOGETHER; e++)
			by[e][h] = -t[e][h] * inverse[h];
#pragma unroll
		for (int e = h + 1; e < TOGETHER; e++)
#pragma unroll
			for (int k = h + 1; k <= e; k++)
				t[e][k] = fma(by[e][h], t[k][h], t[e][k]);
	}
	double w20 = fma(by[2][1], by[1][0], by[2][0]), w31 = fma(by[3][2], by[2][1], by[3][1]);
	double w30 = fma(by[3][2], w20, fma(by[3][1], by[1][0], by[3][0]));
	// row q of W
	double w[TOGETHER] = {
		q == 0 ? 1 : q == 1 ? by[1][0] : q == 2 ? w20 : w30,
		q == 0 ? 0 : q == 1 ? 1 : q == 2 ? by[2][1] : w31,
		q < 2 ? 0 : q == 2 ? 1 : by[3][2],
		q < 3 ? 0. : 1.,
	};
	double scale = -(q < 2 ? q == 0 ? inverse[0] : inverse[1] : q == 2 ? inverse[2] : inverse[3]), f[2];
#pragma unroll
	for (int below = 0; below < 2; below++) {
		int i = i0 + 8 * below;
		double x = 0;
#pragma unroll
		for (int h = 0; h < TOGETHER; h++)
			x = fma(w[h], column[h * BLOCK + i], x);
		f[below] = i > s + q ? x * scale : 0;
	}
#pragma unroll
	for (int t = 0; t < 4; t++) {
		int j = j0 + 8 * t + g;
		const double *from = (j < s ? row : column) + j;
		double x = 0;
#pragma unroll
		for (int h = 0; h < TOGETHER; h++)
			x = fma(w[h], (u32)(j - s) < TOGETHER ? (j - s == h ? 1. : 0.) : from[h * BLOCK], x);
		multiplyAdd64(c[0][t], c[1][t], f[0], f[1], x);
	}
}

// invertBlock makes L^-1 of the block, and stores it.
static __device__ __forceinline__ void invertBlock(double2 (&c)[2][4], blockShared &b, double *to, u64 status)
{
	bool regular = true;
#pragma unroll 1
	for (int half = 0; half < 2; half++) {
#pragma unroll 1
		for (int part = 0; part < 2; part++)
			blockStep<0>(c, half, part, b, regular);
#pragma unroll 1
		for (int part = 0; part < 2; part++)
			blockStep<1>(c, half, part, b, regular);
#pragma unroll 1
		for (int part = 0; part < 2; part++)
			blockStep<2>(c, half, part, b, regular);
#pragma unroll 1
		for (int part = 0; part < 2; part++)
			blockStep<3>(c, half, part, b, regular);
	}
	if (threadIdx.x == 0 && !regular)
		atomicOr((u32 *)status, SINGULAR);
	__syncthreads();
#pragma unroll
	for (int below = 0; below < 2; below++) {
		int i = blockRow() + 8 * below;
		double scale = 1 / sqrt(b.pivots[i]);
#pragma unroll
		for (int t = 0; t < 4; t++) {
			int j = blockColumn() + 8 * t + threadIdx.x % 4 * 2;
			double2 x = c[below][t];
			to[j * BLOCK + i] = j > i ? 0 : j == i ? scale : x.x * scale;
			to[(j + 1) * BLOCK + i] = j + 1 > i ? 0 : j + 1 == i ? scale : x.y * scale;
		}
	}
}

// loadBlock loads the lower triangle of the block at column first.
static __device__ __forceinline__ void loadBlock(double2 (&c)[2][4], const root &g, int first)
{
	const double *f = (const double *)g.f + first + (i64)first * g.n;
#pragma unroll
	for (int below = 0; below < 2; below++)
#pragma unroll
		for (int t = 0; t < 4; t++) {
			int i = blockRow() + 8 * below, j = blockColumn() + 8 * t + threadIdx.x % 4 * 2;
			c[below][t].x = i >= j ? f[i + (i64)j * g.n] : 0;
			c[below][t].y = i >= j + 1 ? f[i + (i64)(j + 1) * g.n] : 0;
		}
}

static_assert(THREADS == 256 && BLOCK == 64, "warps of a step's block");

// rootBlock inverts the Cholesky factor of the step's block, in one block of threads.
extern "C" __global__ void __launch_bounds__(THREADS, 1) rootBlock(const __grid_constant__ root g)
{
	__shared__ blockShared b;
	double2 c[2][4];
	loadBlock(c, g, g.first);
	invertBlock(c, b, (double *)g.inverse + (g.first - g.panel) * BLOCK, g.status);
}

// nextBlock does that for the block behind depth columns, from column from on, whose P have not
// been subtracted from it.
static __device__ __forceinline__ void nextBlock(const root &g, int from, int depth, double *to, double *shared)
{
	int first = from + depth, lane = threadIdx.x % 32, i = blockRow(), j = blockColumn() + lane / 4;
	double2 c[2][4];
	for (int k0 = 0; k0 < depth; k0 += BLOCK) {
		copyTile<BLOCK, BLOCK>(shared, (const double *)g.p + (i64)(from - g.panel + k0) * g.n + first, g.n, BLOCK);
		closeGroup();
		if (k0 == 0)
			loadBlock(c, g, first);
		waitGroups<0>();
		__syncthreads();
		if (usefulBlock()) {
#pragma unroll 2
			for (int k = lane % 4; k < BLOCK; k += 4) {
				double x = -shared[swizzled<BLOCK>(k, i)], y = -shared[swizzled<BLOCK>(k, i + 8)];
#pragma unroll
				for (int t = 0; t < 4; t++)
					multiplyAdd64(c[0][t], c[1][t], x, y, shared[swizzled<BLOCK>(k, j + 8 * t)]);
			}
		}
		__syncthreads();
	}
	invertBlock(c, *(blockShared *)shared, to, g.status);
}

// rootPanel makes the step's P of columns from begin on, of which F has what the steps before have
// left, and stores the rows of S.
extern "C" __global__ void __launch_bounds__(THREADS) rootPanel(const __grid_constant__ root g, int begin)
{
	extern __shared__ __align__(16) double shared[];
	double *triangle = shared, *strip = shared + BLOCK * BLOCK, *f = (double *)g.f;
	int j0 = begin + blockIdx.x * STRIP, before = g.first - g.panel;
	copyTile<BLOCK, BLOCK>(triangle, (const double *)g.inverse + before * BLOCK, BLOCK, BLOCK);
	closeGroup();
	for (int i = threadIdx.x; i < BLOCK * STRIP; i += THREADS)
		if (j0 >= g.first + BLOCK)
			strip[swizzled<STRIP>(i / STRIP, i % STRIP)] = f[j0 + i % STRIP + (i64)(g.first + i / STRIP) * g.n];
		else {
			int k = i % BLOCK, j = j0 + i / BLOCK;
			strip[swizzled<STRIP>(k, i / BLOCK)] = j >= g.first ? j - g.first == k : f[g.first + k + (i64)j * g.n];
		}
	waitGroups<0>();
	__syncthreads();
	double2 c[2] = {};
	multiplyStrip<false>(c, triangle, strip);
	int j = j0 + stripColumn() + threadIdx.x % 4 * 2;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int k = stripRow() + 8 * half;
		*(double2 *)((double *)g.p + (i64)(before + k) * g.n + j) = c[half];
		if (j0 < g.first + BLOCK) {
			f[g.first + k + (i64)j * g.n] = c[half].x;
			f[g.first + k + (i64)(j + 1) * g.n] = c[half].y;
		}
	}
}

// rootRows makes P of all steps of a panel of so many columns, of columns before the panel from
// begin on, and stores the rows of S.
extern "C" __global__ void __launch_bounds__(THREADS) rootRows(const __grid_constant__ root g, int begin, int width)
{
	extern __shared__ __align__(16) double shared[];
	double *strips = shared + 2 * BLOCK * BLOCK, *f = (double *)g.f;
	int j0 = begin + blockIdx.x * STRIP, steps = width / BLOCK, parity = 0, nextT = 0, nextS = 0;
	auto fetch = [&]() {
		if (nextT < steps) {
			double *to = shared + parity * BLOCK * BLOCK;
			if (nextS == nextT)
				copyTile<BLOCK, BLOCK>(to, (const double *)g.inverse + nextT * BLOCK * BLOCK, BLOCK, BLOCK);
			else
				copyTile<BLOCK, BLOCK>(to, (const double *)g.p + (i64)(nextS * BLOCK) * g.n + g.panel + nextT * BLOCK, g.n, BLOCK);
			parity ^= 1;
			if (++nextS > nextT) {
				nextT++;
				nextS = 0;
			}
		}
		closeGroup();
	};
	fetch();
	for (int i = threadIdx.x; i < width * STRIP; i += THREADS)
		strips[swizzled<STRIP>(i % width, i / width)] = f[g.panel + i % width + (i64)(j0 + i / width) * g.n];
	int row = stripRow(), column = stripColumn() + threadIdx.x % 4 * 2;
	for (int t = 0; t < steps; t++) {
		double *strip = strips + t * BLOCK * STRIP;
		double2 *mine = (double2 *)(strip + swizzled<STRIP>(row, column)), *below = (double2 *)(strip + swizzled<STRIP>(row + 8, column)), c[2];
		for (int s = 0; s <= t; s++) {
			waitGroups<0>();
			__syncthreads();
			const double *triangle = shared + (parity ^ 1) * BLOCK * BLOCK;
			fetch();
			if (s == t) {
				c[0] = c[1] = {0, 0};
				multiplyStrip<false>(c, triangle, strip);
				__syncthreads();
			} else {
				if (s == 0) {
					c[0] = *mine;
					c[1] = *below;
				}
				multiplyStrip<true>(c, triangle, strips + s * BLOCK * STRIP);
			}
			if (s >= t - 1) {
				*mine = c[0];
				*below = c[1];
			}
		}
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int k = t * BLOCK + row + 8 * half;
			*(double2 *)((double *)g.p + (i64)k * g.n + j0 + column) = c[half];
			f[g.panel + k + (i64)(j0 + column) * g.n] = c[half].x;
			f[g.panel + k + (i64)(j0 + column + 1) * g.n] = c[half].y;
		}
	}
}

// What tiles an update has: of rows from row on in columns begin to end, and of the lower triangle
// in columns triangle to until.
struct rootTiles {
	int row, begin, end, triangle, until;
};

// enumerated numbers them: those of the rows, of the triangle's square, and of the rows below.
template <int WIDE> struct enumerated {
	rootTiles t;
	int n;

	static __device__ __forceinline__ int tall(int from, int to) { return (to - from + TALL - 1) / TALL; }
	__device__ __forceinline__ int ofRows() const { return tall(t.row, n) * ((t.end - t.begin + WIDE - 1) / WIDE); }
	__device__ __forceinline__ int ofSquare() const
	{
		int side = tall(t.triangle, t.until);
		return side * (side + 1) / 2 * (TALL / WIDE);
	}
	__device__ __forceinline__ int count() const { return ofRows() + ofSquare() + tall(t.until, n) * ((t.until - t.triangle) / WIDE); }
	__device__ __forceinline__ void at(int tile, int &i0, int &j0) const
	{
		int rows = tall(t.row, n);
		if (tile < ofRows()) {
			i0 = t.row + tile % rows * TALL;
			j0 = t.begin + tile / rows * WIDE;
			return;
		}
		tile -= ofRows();
		if (tile < ofSquare()) {
			int i = (int)((sqrt(8.0 * (tile / (TALL / WIDE)) + 1) - 1) / 2); // exact for squares
			i0 = t.triangle + i * TALL;
			j0 = t.triangle + (tile - i * (i + 1) / 2 * (TALL / WIDE)) * WIDE;
			return;
		}
		tile -= ofSquare();
		rows = tall(t.until, n);
		i0 = t.until + tile % rows * TALL;
		j0 = t.triangle + tile / rows * WIDE;
	}
};

// updateRoot subtracts P^T P of depth columns from column from on, which count as 0, in blocks of
// threads from number first on. It leaves out the block at column without.
template <int T, int WIDE, bool ONE> static __device__ __forceinline__ void updateRoot(const root &g, int from, int depth, const rootTiles &t, double *shared, int first, int without)
{
	rankUpdate r = {(double *)g.f, (const double *)g.p, (const double *)g.p, 0, g.n, from, depth, from - g.panel, first, without};
	update<T, WIDE, true, ONE>(r, enumerated<WIDE>{t, g.n}, g.n, shared);
}

// rootStep updates few columns, or by P of a step. If inverse is not null, the first block of
// threads makes L^-1 of the block behind the depth columns, which waits for nothing else, and
// stores it there; what is left of that block itself nobody reads.
extern "C" __global__ void __launch_bounds__(THREADS, 2) rootStep(const __grid_constant__ root g, int from, int depth, const __grid_constant__ rootTiles t, u64 inverse)
{
	extern __shared__ __align__(16) double shared[];
	if (inverse != 0 && blockIdx.x == 0)
		nextBlock(g, from, depth, (double *)inverse, shared);
	else
		updateRoot<4, 64, true>(g, from, depth, t, shared, inverse != 0, inverse != 0 ? from + depth : -1);
}

// rootUpdate updates many columns by P of a panel.
extern "C" __global__ void __launch_bounds__(THREADS, 1) rootUpdate(const __grid_constant__ root g, int from, int depth, const __grid_constant__ rootTiles t)
{
	extern __shared__ __align__(16) double shared[];
	updateRoot<8, 128, false>(g, from, depth, t, shared, 0, -1);
}

// rootInverse stores columns j of S from begin on, in numbers off + i rs + (j - begin) cs of F64.
extern "C" __global__ void __launch_bounds__(THREADS) rootInverse(const __grid_constant__ root g, int begin, u64 to, i64 rs, i64 cs)
{
	int i = blockIdx.x * THREADS + threadIdx.x, j = begin + blockIdx.y;
	if (i >= g.a.n)
		return;
	double x = i < j ? 0 : ((const double *)g.f)[i + (i64)j * g.n];
	if (!finite(x) || i == j && !(x > 0))
		atomicOr((u32 *)g.status, NOT_FINITE);
	((double *)to)[i * rs + (j - begin) * cs] = x;
}

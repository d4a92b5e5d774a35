// GEMM by constant splits into float32 matrices, package ozaki.
#include "ozaki.cuh"
#include "sgemm.cuh"
#include "doublefloat.cuh"
#include "vectors.cuh"

// ozakiMaxima raises bits[v] to the bits of the largest finite |x| of vector v, and sets
// special[v] and any if it has others. A block has CHUNK entries of WIDE vectors.
template <bool ALONG> static __device__ __forceinline__ void maxima(const vectorsOf &x, u64 *bits, int *special, int *any)
{
	__shared__ u64 best[WIDE];
	if (threadIdx.x < WIDE)
		best[threadIdx.x] = 0;
	__syncthreads();
	u64 m = 0;
	bool other = false;
	int first = blockIdx.x * WIDE;
	eachEntry<ALONG>(x, first, blockIdx.y * CHUNK, [&](int, int, double e) {
		u64 b = (u64)__double_as_longlong(e) & ~(1ull << 63);
		if (b >= 0x7ffull << 52)
			other = true;
		else if (b > m)
			m = b;
	});
	int v = threadIdx.x % WIDE;
	if (m)
		atomicMax(&best[v], m);
	if (other)
		special[first + v] = *any = 1;
	__syncthreads();
	if (threadIdx.x < WIDE && best[v])
		atomicMax(&bits[first + v], best[v]);
}

extern "C" __global__ void __launch_bounds__(THREADS) ozakiMaxima(vectorsOf x, u64 *bits, int *special, int *any)
{
	maxima<false>(x, bits, special, any);
}

extern "C" __global__ void __launch_bounds__(THREADS) ozakiMaximaAlong(vectorsOf x, u64 *bits, int *special, int *any)
{
	maxima<true>(x, bits, special, any);
}

// The slices that one launch makes.
#define MOST_SLICES 8

// Slice t of vectors of α bits, first <= t < first + count, goes to place q[t - first] of out,
// its remainder to r[t - first]; a place below 0 is none. Entry h of vector v of place s is
// number s stride + h ld + v. Bit t of nonzero[0] is set if q_t is not 0, of nonzero[1] if r_t
// is not, if anyone wants to know. If there are squares, those of a chunk are summed there, by 32
// lanes that are added pairwise: number ((chunk 2 + kind) slices + t) ld + v, kind 0 of slices, 1
// of remainders, whose size counts as 2^-126 at least; and lossy[v] is set if r_1 is inexact.
struct splitting {
	vectorsOf x;
	u64 bits, out, nonzero, squares, lossy;
	i64 ld, stride;
	int alpha, first, count, slices;
	signed char q[MOST_SLICES], r[MOST_SLICES];
};

template <bool ALONG> static __device__ __forceinline__ void split(const splitting &p)
{
	double sumQ[MOST_SLICES] = {}, sumR[MOST_SLICES] = {};
	u32 seen = 0; // bit t: a q that is not 0; bit 8 + t: an r
	bool lossy = false;
	int first = blockIdx.x * WIDE, own = threadIdx.x % WIDE;
	int shift = first + own < p.x.n ? p.alpha - exponentOf(((const u64 *)p.bits)[first + own]) : 0;
	double up = power(p.alpha + 1);
	float *out = (float *)p.out;
	eachEntry<ALONG>(p.x, first, blockIdx.y * CHUNK, [&](int v, int h, double x) {
		double r = firstRemainder(x, shift), q;
		float rest;
		bool inside = first + v < p.ld && h < p.x.len;
		float *to = out + h * p.ld + first + v;
		lossy |= x != 0 && finite(x) && fabs(r) < 0x1p-1022;
		for (int t = 0; t < p.first; t++)
			nextSlice(r, up, q, rest);
#pragma unroll
		for (int t = 0; t < MOST_SLICES; t++) {
			if (t >= p.count)
				break;
			bool hasRemainder = r != 0;
			seen |= hasRemainder ? 256u << t : 0;
			nextSlice(r, up, q, rest);
			seen |= q != 0 ? 1u << t : 0;
			if (p.q[t] >= 0 && inside)
				to[p.q[t] * p.stride] = (float)q;
			if (p.r[t] >= 0 && inside)
				to[p.r[t] * p.stride] = rest;
			if (p.squares) {
				double size = hasRemainder ? fmax(fabs((double)rest), 0x1p-126) : 0;
				sumQ[t] = __dadd_rn(sumQ[t], __dmul_rn(q, q));
				sumR[t] = __dadd_rn(sumR[t], __dmul_rn(size, size));
			}
		}
	});
	seen = __reduce_or_sync(~0u, seen);
	if (p.nonzero && threadIdx.x % 32 == 0 && seen) {
		u64 *nonzero = (u64 *)p.nonzero;
		u64 q = (u64)(seen & 255) << p.first, r = (u64)(seen >> 8) << p.first;
		if (q & ~*(volatile u64 *)&nonzero[0])
			atomicOr(&nonzero[0], q);
		if (r & ~*(volatile u64 *)&nonzero[1])
			atomicOr(&nonzero[1], r);
	}
	if (!p.squares)
		return;
	if (lossy)
		((int *)p.lossy)[first + own] = 1;
	__shared__ double sums[4][LANES][WIDE + 1];
	int lane = threadIdx.x / WIDE;
#pragma unroll
	for (int part = 0; part < 4 * MOST_SLICES / 8; part++) {
		double(&from)[MOST_SLICES] = part < 2 ? sumQ : sumR;
		int t0 = part % 2 * 4;
		if (t0 >= p.count)
			continue;
		__syncthreads();
#pragma unroll
		for (int t = 0; t < 4; t++)
			sums[t][lane][own] = from[t0 + t];
		for (int step = LANES / 2; step > 0; step /= 2) {
			__syncthreads();
			if (lane < step)
#pragma unroll
				for (int t = 0; t < 4; t++)
					sums[t][lane][own] = __dadd_rn(sums[t][lane][own], sums[t][lane + step][own]);
		}
		__syncthreads();
		if (lane < 4 && t0 + lane < p.count && first + own < p.x.n) {
			i64 row = (i64)(blockIdx.y * 2 + part / 2) * p.slices + p.first + t0 + lane;
			((double *)p.squares)[row * p.ld + first + own] = sums[lane][0][own];
		}
	}
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) ozakiSplit(splitting p) { split<false>(p); }

extern "C" __global__ void __launch_bounds__(THREADS, 2) ozakiSplitAlong(splitting p) { split<true>(p); }

// ozakiNorms sets norms, number (kind slices + t) ld + v, to upper bounds of the 2-norms of
// vectors of that many entries, whose squares are sums of chunks.
extern "C" __global__ void __launch_bounds__(256) ozakiNorms(const double *squares, const int *lossy, double *norms, i64 ld, int n, int length, int slices, int chunks)
{
	i64 at = (i64)blockIdx.x * 256 + threadIdx.x;
	int row = (int)(at / n), v = (int)(at % n);
	if (row >= 2 * slices)
		return;
	double sum = 0;
	for (int c = 0; c < chunks; c++)
		sum = __dadd_rn(sum, squares[((i64)c * 2 * slices + row) * ld + v]);
	double factor = 1 + 0x1p-43;
	if (row >= slices) {
		factor = 1 + (double)(length + 8) * 0x1p-53;
		if (lossy[v] && sum == 0)
			sum = 0x1p-252;
	}
	norms[row * ld + v] = __dmul_rn(__dsqrt_rn(sum), factor);
}

// The bounds of the sums of a block of k: see errorBound of ozaki/bound.go. Number s xLd + i of
// x, and s yLd + j of y; row terms has the weighted sums. Entry (i, j) of bounds is number
// i + j ld.
struct bounding {
	u64 x, y, bounds;
	i64 xLd, yLd, ld;
	double tau;
	int rows, cols, terms, more; // more: bounds of blocks before are there
};

extern "C" __global__ void __launch_bounds__(256) ozakiBound(bounding p)
{
	i64 at = (i64)blockIdx.x * 256 + threadIdx.x;
	if (at >= (i64)p.rows * p.cols)
		return;
	int i = (int)(at % p.rows), j = (int)(at / p.rows);
	const double *x = (const double *)p.x + i, *y = (const double *)p.y + j;
	double sum = __dmul_rn(x[p.terms * p.xLd], y[p.terms * p.yLd]);
	for (int s = 0; s < p.terms; s++) {
		double e = __dmul_rn(x[s * p.xLd], y[s * p.yLd]);
		if (e != 0)
			sum = __dadd_rn(sum, __dadd_rn(e, p.tau));
	}
	sum = __dmul_rn(sum, 1 + 0x1p-43);
	double *to = (double *)p.bounds + j * p.ld + i;
	*to = __dadd_rn(p.more ? *to : 0, sum);
}

// The numbers of a product with infinite and NaN operands.
struct specials {
	vectorsOf a, b; // rows of the left and columns of the right factor
	u64 left, right; // special vectors
	u64 c, bound;
	i64 rs, cs, boundRs, boundCs;
	double alpha, beta;
};

// specialSum adds the products of row i and column j with entries of x, one of them, that are
// infinite or NaN.
static __device__ double specialSum(const specials &p, const vectorsOf &x, int v, int i, int j, double sum)
{
	for (int h = 0; h < x.len; h++)
		if (!finite(entryAt(x, v, h)))
			sum = __dadd_rn(sum, __dmul_rn(entryAt(p.a, i, h), entryAt(p.b, j, h)));
	return sum;
}

// ozakiSpecial sets the entries of row v of C, or of column v for columns, if it is special: C
// = α Σ' a_ih b_hj + β C, the sum being over products that are infinite or NaN, and β C
// counting only if it is one.
extern "C" __global__ void __launch_bounds__(256) ozakiSpecial(specials p, int columns)
{
	int others = (columns ? p.a : p.b).n, tiles = (others + 255) / 256;
	int v = blockIdx.x / tiles, other = blockIdx.x % tiles * 256 + threadIdx.x;
	const int *left = (const int *)p.left, *right = (const int *)p.right;
	if (!(columns ? right : left)[v] || other >= others)
		return;
	int i = columns ? other : v, j = columns ? v : other;
	if (columns && left[i])
		return; // set with the row
	double sum = 0;
	if (left[i])
		sum = specialSum(p, p.a, i, i, j, sum);
	if (right[j])
		sum = specialSum(p, p.b, j, i, j, sum);
	double *c = (double *)p.c + i * p.rs + j * p.cs, old = p.beta == 0 ? 0 : *c;
	double addend = finite(p.beta) && finite(old) ? 0 : __dmul_rn(p.beta, old);
	*c = __dadd_rn(__dmul_rn(p.alpha, sum), addend);
	if (p.bound)
		((double *)p.bound)[i * p.boundRs + j * p.boundCs] = 0;
}

// The sum of products over a block of k, in order: T = T 2^(-down w) + P for the down of each,
// T 2^(-last w) in the end. T begins as 0, or as what a launch before left at t; it stays
// there if there are more products to come. Then T is added to what blocks before left at
// sum, and stays there, or C = α sum 2^(e_i + f_j - shift) + β C.
struct summing {
	u64 p, t, sum, c, left, right, specialLeft, specialRight;
	u64 bounds, bound; // of sum, in its units, and of C; 0 where not wanted
	i64 ld, stride;    // of products; entry (i, j) of t, sum and bounds is number i + j ld
	i64 rs, cs;        // of C
	i64 boundRs, boundCs;
	double m, beta; // α = m 2^e
	int e, shift, w, last;
	int rows, cols, count;
	int moreT, endT, moreSum;
	u8 down[MOST_PAIRS];
};

static __device__ __forceinline__ void loadQuad(double (&x)[4], u64 from, i64 place)
{
	double2 a = *(const double2 *)((const double *)from + place), b = *(const double2 *)((const double *)from + place + 2);
	x[0] = a.x, x[1] = a.y, x[2] = b.x, x[3] = b.y;
}

static __device__ __forceinline__ void storeQuad(u64 to, i64 place, const double (&x)[4])
{
	*(double2 *)((double *)to + place) = make_double2(x[0], x[1]);
	*(double2 *)((double *)to + place + 2) = make_double2(x[2], x[3]);
}

// A thread has 4 entries of a column. Entries of rows or columns with special numbers are left
// to ozakiSpecial.
extern "C" __global__ void __launch_bounds__(256) ozakiSum(summing p)
{
	i64 quads = (p.rows + 3) / 4, at = (i64)blockIdx.x * 256 + threadIdx.x;
	if (at >= quads * p.cols)
		return;
	int i = (int)(at % quads) * 4, j = (int)(at / quads);
	i64 place = j * p.ld + i;
	const float *from = (const float *)p.p + place;
	double t[4] = {};
	if (p.moreT)
		loadQuad(t, p.t, place);
#pragma unroll 4
	for (int g = 0; g < p.count; g++) {
		float4 x = *(const float4 *)(from + g * p.stride);
		double f = power(-p.down[g] * p.w); // products with it are exact
		t[0] = __fma_rn(t[0], f, x.x);
		t[1] = __fma_rn(t[1], f, x.y);
		t[2] = __fma_rn(t[2], f, x.z);
		t[3] = __fma_rn(t[3], f, x.w);
	}
	if (!p.endT) {
		storeQuad(p.t, place, t);
		return;
	}
	double f = power(-p.last * p.w);
#pragma unroll
	for (int k = 0; k < 4; k++)
		t[k] = __dmul_rn(t[k], f);
	if (p.moreSum) {
		double s[4];
		loadQuad(s, p.sum, place);
#pragma unroll
		for (int k = 0; k < 4; k++)
			t[k] = __dadd_rn(s[k], t[k]);
	}
	if (!p.c) {
		storeQuad(p.sum, place, t);
		return;
	}
	if (((const int *)p.specialRight)[j])
		return;
	int column = exponentOf(((const u64 *)p.right)[j]) - p.shift;
#pragma unroll
	for (int k = 0; k < 4; k++) {
		if (i + k >= p.rows || ((const int *)p.specialLeft)[i + k])
			continue;
		double *c = (double *)p.c + (i + k) * p.rs + j * p.cs, old = p.beta == 0 ? 0 : *c;
		int x = exponentOf(((const u64 *)p.left)[i + k]) + column;
		double z = combine(t[k], x, p.m, p.e, p.beta, old);
		*c = z;
		if (p.bound)
			((double *)p.bound)[(i + k) * p.boundRs + j * p.boundCs] =
				boundOf(p.bounds ? ((const double *)p.bounds)[place + k] : 0, t[k], p.m, x + p.e, p.beta, old, z);
	}
}

// Of the tiles of 64 x 64 to 256 x 128 that were tried on an H100, with 64 to 256 threads, the
// smallest are the fastest up to n = 2048 and close to the fastest at 4096.
extern "C" __global__ void __launch_bounds__(64, 4) ozakiSgemm(floatProducts p) { multiplyFloats<64, 64, 2, 2, 8, 3>(p); }

// ozakiPairs sets high and low to the double-floats of x 2^-e, entry h of vector v number
// h ld + v.
template <bool ALONG> static __device__ __forceinline__ void makePairs(const vectorsOf &x, const u64 *bits, float *high, float *low, i64 ld)
{
	int first = blockIdx.x * WIDE, own = threadIdx.x % WIDE;
	int shift = first + own < x.n ? -exponentOf(bits[first + own]) : 0;
	eachEntry<ALONG>(x, first, blockIdx.y * CHUNK, [&](int v, int h, double e) {
		double y = firstRemainder(e, shift);
		float top = __double2float_rn(y);
		if (first + v < ld && h < x.len) {
			high[h * ld + first + v] = top;
			low[h * ld + first + v] = __double2float_rn(__dsub_rn(y, (double)top));
		}
	});
}

extern "C" __global__ void __launch_bounds__(THREADS) ozakiPairs(vectorsOf x, const u64 *bits, float *high, float *low, i64 ld)
{
	makePairs<false>(x, bits, high, low, ld);
}

extern "C" __global__ void __launch_bounds__(THREADS) ozakiPairsAlong(vectorsOf x, const u64 *bits, float *high, float *low, i64 ld)
{
	makePairs<true>(x, bits, high, low, ld);
}

extern "C" __global__ void __launch_bounds__(256, 2) ozakiDouble(pairProduct p) { multiplyDoubles(p); }

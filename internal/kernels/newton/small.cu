// Small systems of linear equations A X = B, one system a block of threads: a float64 inverse, and
// residuals in integers, by the method and the proof of internal/proof/residual. Differences:
//
// An integer is in units of 2^(2 - 32 words), words even, and is stored as digits -2^31 <= s < 2^31
// of base 2^32: its magnitude is less than 2^(32 words - 2), so that the first digit has no carry.
//
// Digits d of solutions have magnitudes of at most 2^25, which is tested. So a sum of products of
// digits s d, 64 of them, is less than 2^62. The first step multiplies by 2^first instead of
// 2^delta, first <= delta, because the first digits are as large as the norm of the inverse.
//
// A system without a proof is left to the host, and so are infinities, NaN and results outside of
// the normal range.
#include "../common/round.cuh"

// Matrices A and B of a system, and X, which is stored by columns. Addresses are those of entries
// (0, 0).
struct smallSystem {
	u64 a[3], b[3], x[3]; // planes
	i64 rs[2], cs[2];     // of A and B
	int n, k;             // A is n x n, B n x k
};

// A format of numbers: MP, F64 or F32.
struct smallFormat {
	int kind, limbs, prec; // limbs: 64-bit words of a significand
};

struct smallBatch {
	u64 systems, done; // done: int, whether the system is solved
	u64 scratch;       // of n n words integers for each block; 0: these are in shared memory
	i64 stride;        // integers of scratch for a block
	smallFormat a, b, x;
	int count, order; // systems; largest n
	int words;        // at most, even
	int places;       // 32-bit words of a solution
	int pad;
};

// What is known about a system.
struct smallPlan {
	double start;     // bounds the first error
	double q, first;  // what a step, and the first, leaves of an error
	int delta, begin; // bits of a step, and of the first
	int words;
	int least, most; // lengths of the first digits
};

// The shared memory of a block.
struct smallRoom {
	double *inverse, *f; // row by row, ld apart
	double *row, *col;
	int ld;
	i64 *sums; // word by word, n apart; in the place of f
	u32 *r;    // words + 2 words, n apart
	u32 *y;    // places words, n apart
	int *d;
	int *pivots;
	int *tops;
	smallPlan *plan;
	int *digits; // of A: word by word of column by column, n apart
};

#define DIGIT 0x1p25
#define DIGIT_BITS 25
#define LEAST_SHIFT 12
#define GUARD_BITS 10

static __device__ __forceinline__ numbers smallNumbers(const u64 *plane, const smallFormat &f)
{
	return {{plane[0], plane[1], plane[2], 0}, f.kind, f.limbs};
}

// classOf returns the class of number at, with 0.S 2^exp its magnitude, the first bit of S set.
static __device__ int classOf(const numbers &a, i64 at, bool &neg, int &exp)
{
	if (a.kind == MP) {
		u8 c = ((const u8 *)a.plane[2])[at];
		neg = c & 1;
		exp = ((const int *)a.plane[1])[at];
		return c >> 1;
	}
	double x = term(a, at, 0);
	neg = (u64)__double_as_longlong(x) >> 63;
	if (!finite(x))
		return INF;
	int e;
	u64 m = decompose(x, e);
	exp = e + 64 - __clzll(m);
	return m ? FINITE : ZERO;
}

// wordOf returns word k of S of a finite number, the lowest first.
static __device__ __forceinline__ u64 wordOf(const numbers &a, i64 at, int k)
{
	if (a.kind == MP)
		return ((const u64 *)a.plane[0])[at * a.limbs + k];
	int e;
	u64 m = decompose(term(a, at, 0), e);
	return m << __clzll(m);
}

// bitsOf returns 32 bits of S from bit pos on.
static __device__ __forceinline__ u32 bitsOf(const numbers &a, i64 at, int pos)
{
	if (pos <= -32 || pos >= 64 * a.limbs)
		return 0;
	int i = pos >> 6, s = pos & 63;
	u64 low = i >= 0 ? wordOf(a, at, i) : 0;
	if (s == 0)
		return (u32)low;
	u64 high = i + 1 < a.limbs ? wordOf(a, at, i + 1) : 0;
	return (u32)(low >> s | high << (64 - s));
}

// largest returns the largest x of the threads i < n, in shared memory at room.
static __device__ double largest(double *room, int n, double x)
{
	int t = threadIdx.x;
	__syncthreads();
	if (t < n)
		room[t] = x;
	__syncthreads();
	double most = 0;
#pragma unroll 1
	for (int i = 0; i < n; i++)
		most = room[i] > most || room[i] != room[i] ? room[i] : most;
	return most;
}

// rows finds the exponents of the rows of A, and the number of words. It is false for infinities,
// NaN and rows of zeros, and where words do not suffice.
static __device__ bool rowsOf(const smallBatch &p, const smallSystem &s, const smallRoom &m)
{
	int t = threadIdx.x;
	bool odd = false;
	int width = 0;
	if (t < s.n) {
		numbers a = smallNumbers(s.a, p.a), b = smallNumbers(s.b, p.b);
		i64 top = -(1ll << 40), low = 1ll << 40;
#pragma unroll 1
		for (int j = 0; j < s.n; j++) {
			bool neg;
			int e;
			int c = classOf(a, t * s.rs[0] + j * s.cs[0], neg, e);
			odd |= c > FINITE;
			if (c == FINITE) {
				top = max64(top, e);
				low = min64(low, e);
			}
		}
		odd |= top < low;
		m.tops[t] = (int)top;
		width = (int)min64(top - low + p.a.prec, 1 << 20);
	}
	__syncthreads();
	// A thread looks at columns of B.
#pragma unroll 1
	for (int j = t; j < s.k; j += blockDim.x) {
		numbers b = smallNumbers(s.b, p.b);
		i64 top = -(1ll << 40), low = 1ll << 40;
#pragma unroll 1
		for (int i = 0; i < s.n; i++) {
			bool neg;
			int e;
			int c = classOf(b, i * s.rs[1] + j * s.cs[1], neg, e);
			odd |= c > FINITE;
			if (c == FINITE) {
				top = max64(top, (i64)e - m.tops[i]);
				low = min64(low, (i64)e - m.tops[i]);
			}
		}
		if (top >= low)
			width = (int)max64(width, min64(top - low + p.b.prec, 1 << 20));
	}
	if (t == 0)
		m.plan->words = 0;
	__syncthreads();
	atomicMax(&m.plan->words, (width + 2 + 63) / 64 * 2);
	return !__syncthreads_or(odd || (width + 2 + 63) / 64 * 2 > p.words);
}

// invert replaces the matrix at m.inverse by an approximate inverse, by elimination with exchanges
// of rows. It is false if a pivot is 0. side is the power of two from n on.
static __device__ bool invert(const smallRoom &m, int n, int side)
{
	int t = threadIdx.x, ld = m.ld, j = t & (side - 1);
	double *x = m.inverse;
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		double best = -1;
		int at = k;
#pragma unroll 1
		for (int i = k + t % 32; i < n; i += 32) {
			double v = fabs(x[i * ld + k]);
			if (v > best) {
				best = v;
				at = i;
			}
		}
#pragma unroll 1
		for (int d = 16; d > 0; d /= 2) {
			double other = __shfl_xor_sync(~0u, best, d);
			int there = __shfl_xor_sync(~0u, at, d);
			if (other > best || (other == best && there < at)) {
				best = other;
				at = there;
			}
		}
		if (!(best > 0))
			return false;
		double above = 0, upper = 0, c = 0, scale = 1 / x[at * ld + k];
		if (t < n) {
			above = x[at * ld + t];
			upper = x[k * ld + t];
			c = t == at ? x[k * ld + k] : x[t * ld + k];
		}
		__syncthreads();
		if (t < n) {
			double v = (t == k ? 1 : above) * scale;
			m.row[t] = v;
			m.col[t] = c;
			if (at != k)
				x[at * ld + t] = upper;
			x[k * ld + t] = v;
			if (t == 0)
				m.pivots[k] = at;
		}
		__syncthreads();
		if (j < n) {
			double v = m.row[j];
#pragma unroll 4
			for (int i = t / side; i < n; i += blockDim.x / side)
				if (i != k)
					x[i * ld + j] = __fma_rn(-m.col[i], v, j == k ? 0 : x[i * ld + j]);
		}
		__syncthreads();
	}
	if (t < n)
#pragma unroll 1
		for (int k = n - 1; k >= 0; k--) {
			int at = m.pivots[k];
			double v = x[t * ld + k];
			x[t * ld + k] = x[t * ld + at];
			x[t * ld + at] = v;
		}
	__syncthreads();
	return true;
}

// seed computes F~, an inverse R and the plan, and is false if steps decide too few bits.
static __device__ bool seed(const smallBatch &p, const smallSystem &s, const smallRoom &m, int side)
{
	int t = threadIdx.x, n = s.n, ld = m.ld;
	numbers a = smallNumbers(s.a, p.a);
#pragma unroll 1
	for (int e = t; e < n * n; e += blockDim.x) {
		int i = e % n, j = e / n, exp;
		bool neg;
		i64 at = i * s.rs[0] + j * s.cs[0];
		double x = 0;
		if (classOf(a, at, neg, exp) == FINITE) {
			x = (double)wordOf(a, at, a.limbs - 1) * pow2((i64)exp - m.tops[i] - 64);
			x = neg ? -x : x;
		}
		m.f[i * ld + j] = x;
		m.inverse[i * ld + j] = x;
	}
	__syncthreads();
	if (!invert(m, n, side))
		return false;
	double normR = 0, normF = 0;
	if (t < n)
#pragma unroll 1
		for (int j = 0; j < n; j++) {
			normR += fabs(m.inverse[t * ld + j]);
			normF += fabs(m.f[t * ld + j]);
		}
	normR = largest(m.row, n, normR);
	normF = largest(m.row, n, normF);
	// Tiles of 4 x 4 entries of R F~ - I, as many as threads at most.
	int tiles = (n + 3) / 4, i0 = t / tiles * 4, j0 = t % tiles * 4;
	double part[4] = {0, 0, 0, 0};
	if (t < tiles * tiles) {
		double sum[4][4] = {};
#pragma unroll 1
		for (int h = 0; h < n; h++) {
			double x[4], y[4];
			for (int k = 0; k < 4; k++) {
				x[k] = i0 + k < n ? m.inverse[(i0 + k) * ld + h] : 0;
				y[k] = j0 + k < n ? m.f[h * ld + j0 + k] : 0;
			}
			for (int k = 0; k < 4; k++)
				for (int l = 0; l < 4; l++)
					sum[k][l] = __fma_rn(x[k], y[l], sum[k][l]);
		}
		for (int k = 0; k < 4; k++)
			for (int l = 0; l < 4; l++)
				if (i0 + k < n && j0 + l < n)
					part[k] += fabs(sum[k][l] - (i0 + k == j0 + l));
	}
	__syncthreads();
	if (t < tiles * tiles)
		for (int k = 0; k < 4 && i0 + k < n; k++)
			m.f[(i0 + k) * tiles + t % tiles] = part[k];
	__syncthreads();
	double rest = 0;
	if (t < n)
#pragma unroll 1
		for (int j = 0; j < tiles; j++)
			rest += m.f[t * tiles + j];
	rest = largest(m.row, n, rest);
	// As in internal/proof/residual. The factor covers the errors of the sums of magnitudes, and of
	// these bounds.
	const double up = 1 + 0x1p-40;
	normR *= up;
	normF = up * (normF + n * 0x1p-52);
	double product = normR * normF, rho = up * rest + (2 * n + 8) * 0x1p-53 * (1 + product);
	if (!(rho < 0x1p-16))
		return false;
	double bound = rho + (n + 4) * 0x1p-52 * product, start = 1.0001 * normR / (1 - rho);
	int delta = min(DIGIT_BITS, 1023 - (int)(__double_as_longlong(bound) >> 52 & 0x7ff) - 4), begin = delta;
	while (begin > 0 && (start + 2) * 1.01 * (double)(1 << begin) >= DIGIT)
		begin--;
	if (delta < LEAST_SHIFT || begin < 1)
		return false;
	if (t == 0) {
		m.plan->start = start;
		m.plan->delta = delta;
		m.plan->begin = begin;
		m.plan->q = bound * (double)(1 << delta);
		m.plan->first = bound * (double)(1 << begin);
	}
	__syncthreads();
	return true;
}

// digitsOf stores the digits of A.
static __device__ void digitsOf(const smallBatch &p, const smallSystem &s, const smallRoom &m)
{
	int n = s.n, words = m.plan->words;
	numbers a = smallNumbers(s.a, p.a);
#pragma unroll 1
	for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
		int i = e % n, j = e / n, exp;
		bool neg;
		i64 at = i * s.rs[0] + j * s.cs[0];
		int *to = m.digits + (i64)j * words * n + i;
		bool some = classOf(a, at, neg, exp) == FINITE;
		// The integer is S 2^-from.
		int from = 64 * a.limbs - 32 * words + 2 + (some ? m.tops[i] - exp : 0);
		u32 flip = neg ? ~0u : 0;
		u64 minus = neg, carry = 0; // of the two's complement, and of the digits
#pragma unroll 1
		for (int w = 0; w < words; w++) {
			minus += (some ? bitsOf(a, at, from + 32 * w) : 0) ^ flip;
			carry += (u32)minus;
			to[w * n] = (int)(u32)carry;
			carry = (carry + (1u << 31)) >> 32;
			minus >>= 32;
		}
	}
	__syncthreads();
}

// side stores column j of B, and returns the power of two that it was divided by.
static __device__ i64 sideOf(const smallBatch &p, const smallSystem &s, const smallRoom &m, int j, bool &zero)
{
	int t = threadIdx.x, n = s.n, words = m.plan->words;
	numbers b = smallNumbers(s.b, p.b);
	i64 sigma = -(1ll << 40);
	bool neg;
	int e;
#pragma unroll 1
	for (int i = 0; i < n; i++)
		if (classOf(b, i * s.rs[1] + j * s.cs[1], neg, e) == FINITE)
			sigma = max64(sigma, (i64)e - m.tops[i]);
	zero = sigma == -(1ll << 40);
	if (zero || t >= n)
		return sigma;
	i64 at = t * s.rs[1] + j * s.cs[1];
	bool some = classOf(b, at, neg, e) == FINITE;
	int from = 64 * b.limbs - 32 * words + 2 + (some ? (int)(sigma - ((i64)e - m.tops[t])) : 0);
	u32 flip = some && neg ? ~0u : 0;
	u64 carry = flip & 1;
#pragma unroll 1
	for (int w = 0; w < words + 2; w++) {
		carry += (some && w < words ? bitsOf(b, at, from + 32 * w) : 0) ^ flip;
		m.r[w * n + t] = (u32)carry;
		carry >>= 32;
	}
	return sigma;
}

// shorten stores r~, and reports whether r is not 0.
static __device__ bool shorten(const smallRoom &m, int n, int words)
{
	int t = threadIdx.x;
	if (t >= n)
		return false;
	const u32 *r = m.r + t;
	u64 high = (u64)r[(words + 1) * n] << 32 | r[words * n], low = (u64)r[(words - 1) * n] << 32 | r[(words - 2) * n];
	u64 sign = (u64)((i64)high >> 63);
	low = (low ^ sign) + (sign & 1);
	high = (high ^ sign) + (sign & 1 && low == 0);
	double v = (double)high * 4 + (double)low * 0x1p-62;
	m.row[t] = sign ? -v : v;
	u32 any = 0;
#pragma unroll 1
	for (int w = 0; w < words + 2; w++)
		any |= r[w * n];
	return any;
}

// step computes digits of the solution and the next residual, and is false if digits are too large.
// some reports whether the residual is not 0.
static __device__ bool step(const smallBatch &p, const smallRoom &m, int n, int side, int shift, bool &some)
{
	int t = threadIdx.x, words = m.plan->words;
	int lanes = min(blockDim.x / side, 32), row = t / lanes;
	double sum = 0;
	if (row < n)
#pragma unroll 4
		for (int h = t % lanes; h < n; h += lanes)
			sum = __fma_rn(m.inverse[row * m.ld + h], m.row[h], sum);
#pragma unroll 1
	for (int d = lanes / 2; d > 0; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	double v = rint(sum * (double)(1 << shift));
	bool odd = row < n && !(fabs(v) <= DIGIT);
	if (row < n && t % lanes == 0)
		m.d[row] = odd ? 0 : (int)v;
	if (__syncthreads_or(odd))
		return false;
#pragma unroll 1
	for (int e = t; e < n * words; e += blockDim.x) {
		const int *a = m.digits + e;
		i64 x = 0;
#pragma unroll 8
		for (int j = 0; j < n; j++)
			x += (i64)a[(i64)j * n * words] * m.d[j];
		m.sums[e] = x;
	}
	__syncthreads();
	if (t < n) {
		i64 carry = 0;
		u32 below = 0;
#pragma unroll 2
		for (int w = 0; w < words + 2; w++) {
			u32 *to = m.r + w * n + t, now = *to;
			carry += __funnelshift_l(below, now, shift);
			if (w < words)
				carry -= m.sums[w * n + t];
			*to = (u32)carry;
			carry >>= 32;
			below = now;
		}
	} else if (t < 2 * n) {
		i64 carry = m.d[t - n];
		u32 below = 0;
#pragma unroll 2
		for (int w = 0; w < p.places; w++) {
			u32 *to = m.y + w * n + t - n, now = *to;
			carry += __funnelshift_l(below, now, shift);
			*to = (u32)carry;
			carry >>= 32;
			below = now;
		}
	}
	some = __syncthreads_or(shorten(m, n, words));
	return true;
}

// steps returns how many steps are likely to decide all entries of a column.
static __device__ int stepsOf(const smallBatch &p, const smallRoom &m, int n)
{
	int t = threadIdx.x;
	smallPlan &q = *m.plan;
	if (t == 0) {
		q.least = 64;
		q.most = 0;
	}
	__syncthreads();
	if (t < n) {
		int length = 32 - __clz(abs(m.d[t]));
		atomicMax(&q.most, length);
		if (length > 0)
			atomicMin(&q.least, length);
	}
	__syncthreads();
	return 1 + max(0, p.x.prec + GUARD_BITS - max(q.least, q.most - 40) + q.delta - 1) / q.delta;
}

// roundOne rounds entry t of a column from its digits, known up to bound, and reports whether it is
// decided.
static __device__ bool roundOne(const smallBatch &p, const smallRoom &m, const target &x, i64 to, int n, i64 exp, double bound)
{
	integer y = {m.y + threadIdx.x, n, p.places};
	bool neg = y.magnitude();
	int length = y.length();
	bool done;
	if (length == 0) {
		done = bound == 0;
		if (done)
			storeZero(x, to, false);
	} else {
		done = store(x, to, y, length, neg, exp, bound);
	}
	if (!done && neg)
		y.negate();
	return done;
}

// column solves for column j of B and reports whether it has decided all entries.
static __device__ bool column(const smallBatch &p, const smallSystem &s, const smallRoom &m, int side, int j)
{
	int t = threadIdx.x, n = s.n;
	target x = {smallNumbers(s.x, p.x), 0, 1, n, p.x.prec};
	bool zero;
	i64 to = (i64)j * n + t, exp = sideOf(p, s, m, j, zero);
	if (zero) {
		if (t < n)
			storeZero(x, to, false);
		return true;
	}
#pragma unroll 1
	for (int w = 0; w < p.places && t < n; w++)
		m.y[w * n + t] = 0;
	bool some = __syncthreads_or(shorten(m, n, m.plan->words));
	const smallPlan &q = *m.plan;
	double bound = q.start;
	int most = 1, limit = 1;
	bool open = t < n;
#pragma unroll 1
	for (int steps = 0;; steps++) {
		if (!some)
			bound = 0;
		if (!some || steps >= most) {
			if (open)
				open = !roundOne(p, m, x, to, n, exp, bound);
			if (!__syncthreads_or(open))
				return true;
			if (!some || steps >= limit)
				return false;
		}
		int shift = steps ? q.delta : q.begin;
		if (!step(p, m, n, side, shift, some))
			return false;
		exp -= shift;
		bound = 1.0001 * (steps ? q.q : q.first) * bound + 0.51;
		if (steps == 0) {
			most = max(stepsOf(p, m, n), 2);
			// The digits of steps take DIGIT_BITS + 2 bits and delta more a step.
			limit = min(most + 2, 1 + (32 * p.places - DIGIT_BITS - 4) / q.delta);
			if (most > limit)
				return false;
		}
	}
}

// solveSmall solves systems, a block one after the other.
extern "C" __global__ void __launch_bounds__(256) solveSmall(const __grid_constant__ smallBatch p)
{
	extern __shared__ u64 memory[];
	int ld = p.order | 1, side = 4;
	while (side < p.order)
		side *= 2;
	smallRoom m;
	m.ld = ld;
	m.plan = (smallPlan *)memory;
	m.inverse = (double *)(m.plan + 1);
	m.row = m.inverse + p.order * ld;
	m.col = m.row + p.order;
	m.f = m.col + p.order;
	m.sums = (i64 *)m.f;
	m.r = (u32 *)(m.sums + p.order * p.words);
	m.y = m.r + p.order * (p.words + 2);
	// The digits of A, if they are in shared memory, come behind both F and what takes its place.
	int inF = 2 * p.order * ld, inPlace = p.order * (2 * p.words + p.words + 2 + p.places);
	m.d = (int *)m.f + max(inF, inPlace);
	m.pivots = m.d + p.order;
	m.tops = m.pivots + p.order;
	m.digits = p.scratch ? (int *)p.scratch + blockIdx.x * p.stride : m.tops + p.order;
#pragma unroll 1
	for (int i = blockIdx.x; i < p.count; i += gridDim.x) {
		const smallSystem &s = ((const smallSystem *)p.systems)[i];
		bool ok = rowsOf(p, s, m) && seed(p, s, m, side);
		if (ok)
			digitsOf(p, s, m);
#pragma unroll 1
		for (int j = 0; ok && j < s.k; j++)
			ok = column(p, s, m, side, j);
		if (threadIdx.x == 0)
			((int *)p.done)[i] = ok;
		__syncthreads();
	}
}

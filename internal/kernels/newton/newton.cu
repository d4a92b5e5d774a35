// What Newton's method of package linsolve does entry by entry: Z = diag(2^rows) X diag(2^cols),
// and the sum of two matrices, rounded, or as far as its errors let its rounding be known.
#include "stage.cuh"
#include "../common/round.cuh"

// Exponents beyond this are left to the host.
#define FAR (1ll << 29)

struct shifting {
	vectors x; // rows of F32, F64 or MP
	target z;  // MP of at least as many bits
	u64 rows, cols; // i64; null: zeros
	u64 odd;   // u32: numbers that are not finite, or of exponents or shifts that are FAR
};

static __device__ __forceinline__ i64 at(u64 list, int i) { return list ? ((const i64 *)list)[i] : 0; }

// shiftHead stores the class and the exponent of x_ij 2^by, and the significand of a number of F32
// or F64, and reports whether it can. It stores zeros for infinities and NaN: what is stored may be
// read before the count is.
static __device__ __forceinline__ bool shiftHead(const shifting &s, int i, int j, i64 by)
{
	const numbers &x = s.x.a, &z = s.z.a;
	i64 from = s.x.off + i * s.x.rs + j * s.x.cs, to = s.z.off + i * s.z.rs + j * s.z.cs, e;
	u32 cls;
	u8 &stored = ((u8 *)z.plane[2])[to];
	if (x.kind == MP) {
		cls = ((const u8 *)x.plane[2])[from];
		if (cls >> 1 > FINITE) {
			stored = ZERO << 1;
			return false;
		}
		e = ((const int *)x.plane[1])[from];
	} else {
		double v = term(x, from, 0);
		if (!finite(v)) {
			stored = ZERO << 1;
			return false;
		}
		int low;
		u64 m = decompose(v, low);
		cls = (m ? FINITE : ZERO) << 1 | (u32)((u64)__double_as_longlong(v) >> 63);
		int zeros = m ? __clzll((i64)m) : 0;
		e = low + 64 - zeros;
		u64 *sig = (u64 *)z.plane[0] + to * z.limbs;
		for (int k = 0; m && k < z.limbs; k++)
			sig[k] = k < z.limbs - 1 ? 0 : m << zeros;
	}
	stored = (u8)cls;
	if (cls >> 1 == ZERO)
		return true;
	if (max64(e, -e) > FAR || max64(by, -by) > FAR)
		return false;
	((int *)z.plane[1])[to] = (int)(e + by);
	return true;
}

#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS) shifted(const __grid_constant__ shifting s)
{
	int limbs = s.z.a.limbs, above = limbs - s.x.a.limbs;
	for (int j = blockIdx.y; j < s.x.k; j += gridDim.y) {
		i64 by = at(s.cols, j);
		for (int i0 = blockIdx.x * blockDim.x; i0 < s.x.n; i0 += gridDim.x * blockDim.x) {
			int i = i0 + threadIdx.x;
			if (i < s.x.n && !shiftHead(s, i, j, at(s.rows, i) + by))
				atomicAdd((u32 *)s.odd, 1);
			if (s.x.a.kind != MP)
				continue;
			const u64 *from = (const u64 *)s.x.a.plane[0] + (s.x.off + i0 * s.x.rs + j * s.x.cs) * s.x.a.limbs;
			u64 *to = (u64 *)s.z.a.plane[0] + (s.z.off + i0 * s.z.rs + j * s.z.cs) * limbs;
			eachWord(min((int)blockDim.x, s.x.n - i0), limbs, [&](int number, int word) {
				to[number * s.z.rs * limbs + word] = word < above ? 0 : from[number * s.x.rs * s.x.a.limbs + word - above];
			});
		}
	}
}

struct summing {
	vectors x, d; // rows, of finite numbers of MP
	target z;
	leftovers rest; // entries that are not stored
	// i64: entries of column j of X + D are in error by 2^errors[j], or those of row i by
	// 2^errors[i]; null: X + D is rounded as it is, but for what is cut off
	u64 errors;
	u64 rows, cols; // i64: exponents that results are scaled by; null: zeros
	i64 unit;       // without errors sums are cut off to multiples of 2^unit
	int words;      // of the windows that sums are made in, beside one for the carry
	int triangle;   // 'U', 'L' or 0
	int byRows;     // errors are those of rows
	int pad;
};

// A magnitude, whose words of 32 bits are taken from some bit of a significand on, which may lie
// below it.
struct magnitude {
	const u32 *at;
	int count; // 0 for zero
	i64 next;
	u32 below, shift;

	__device__ __forceinline__ u32 raw(i64 i) const { return i >= 0 && i < count ? at[i] : 0; }

	__device__ __forceinline__ void begin(i64 bit)
	{
		next = bit >> 5;
		shift = (u32)bit & 31;
		below = raw(next);
	}

	__device__ __forceinline__ u32 word()
	{
		u32 above = raw(++next), w = __funnelshift_r(below, above, shift);
		below = above;
		return w;
	}
};

// read returns number i, whose significand is at sig, and its exponent, which is that of nothing
// for zero.
static __device__ __forceinline__ magnitude read(const numbers &a, i64 i, const u64 *sig, i64 &exp, bool &neg)
{
	u32 cls = ((const u8 *)a.plane[2])[i];
	neg = cls & 1;
	exp = -(1ll << 40);
	if (cls >> 1 == ZERO)
		return {0, 0};
	exp = ((const int *)a.plane[1])[i];
	return {(const u32 *)sig, 2 * a.limbs};
}

// A sum: v 2^exp, up to an error in units of v. Nothing is known of it if the error covers it.
struct sum {
	integer v;
	i64 exp;
	int n; // length of v
	bool neg, known;
	double error;
};

// conclude makes a magnitude of the sum in r.v, and finds what is known of it.
static __device__ __forceinline__ void conclude(const summing &s, sum &r, int i, int j)
{
	const integer v = r.v;
	r.neg ^= r.v.magnitude();
	r.n = r.v.length();
	if (s.errors) {
		i64 e = ((const i64 *)s.errors)[s.byRows ? i : j] - r.exp;
		if (r.n <= max64(e, 0)) {
			r.known = false;
			return;
		}
		int spare = (int)max64(e - 26, 0) / 32; // words that the error covers
		r.v.at += spare * v.stride;
		r.v.words -= spare;
		r.exp += 32 * spare;
		e -= 32 * spare;
		r.n -= 32 * spare;
		// what is cut off, and what is less than a unit
		r.error = 4 + (e >= 0 ? (double)(1ll << e) : 0);
	} else if (s.unit > r.exp) {
		i64 drop = s.unit - r.exp; // bits below the unit
		for (int k = 0; k < v.words && drop > 0; k++, drop -= 32)
			v.at[k * v.stride] &= drop < 32 ? ~0u << drop : 0;
		r.n = r.v.length();
	}
}

// add makes the sum of entry (i, j) in a window of words of v, from significands at x and at d.
// What is cut off of them is less than two units of the window's last place, whose first one is
// that of the larger of both.
static __device__ __forceinline__ sum add(const summing &s, integer v, const u64 *x, const u64 *d, int i, int j)
{
	sum r = {v, 0, 0, false, true, 0};
	i64 ex, ed;
	bool other;
	magnitude p = read(s.x.a, s.x.off + i * s.x.rs + j * s.x.cs, x, ex, r.neg);
	magnitude q = read(s.d.a, s.d.off + i * s.d.rs + j * s.d.cs, d, ed, other);
	if (p.count == 0 && q.count == 0) {
		r.known = !s.errors;
		return r;
	}
	r.exp = max64(ex, ed) - 32 * s.words;
	p.begin(r.exp - (ex - 32 * p.count));
	q.begin(r.exp - (ed - 32 * q.count));
	u32 flip = r.neg != other ? ~0u : 0;
	u64 carry = flip & 1;
	for (int k = 0; k <= s.words; k++) {
		carry += (u64)p.word() + (q.word() ^ flip);
		v.at[k * v.stride] = (u32)carry;
		carry >>= 32;
	}
	conclude(s, r, i, j);
	return r;
}

// Sums of numbers of at most SHORT_LIMBS limbs are made in windows of SHORT_WORDS words, by threads
// of their own.
#define SHORT_LIMBS 2
#define SHORT_WORDS 6

// A shortWindow is a magnitude of SHORT_WORDS words and one for the carry.
struct shortWindow {
	u32 w[SHORT_WORDS + 1];

	// align sets it to a significand whose exponent is below bits below the window's.
	__device__ __forceinline__ void align(const u64 (&sig)[SHORT_LIMBS], i64 below)
	{
#pragma unroll
		for (int k = 0; k <= SHORT_WORDS; k++)
			w[k] = 0;
#pragma unroll
		for (int k = 0; k < SHORT_LIMBS; k++) {
			w[SHORT_WORDS - 2 * SHORT_LIMBS + 2 * k] = (u32)sig[k];
			w[SHORT_WORDS - 2 * SHORT_LIMBS + 2 * k + 1] = (u32)(sig[k] >> 32);
		}
		int down = (int)min64(below, 32 * SHORT_WORDS), words = down >> 5;
#pragma unroll
		for (int by = 4; by > 0; by /= 2)
			if (words & by) {
#pragma unroll
				for (int k = 0; k < SHORT_WORDS; k++)
					w[k] = k + by < SHORT_WORDS ? w[k + by] : 0;
			}
#pragma unroll
		for (int k = 0; k < SHORT_WORDS; k++)
			w[k] = __funnelshift_r(w[k], w[k + 1], down & 31);
	}
};

static_assert(SHORT_WORDS < 8 && 2 * SHORT_LIMBS <= SHORT_WORDS, "shifts of shortWindow");

// loadShort loads a number of MP or a finite one of F64 for a window.
static __device__ __forceinline__ void loadShort(u64 (&sig)[SHORT_LIMBS], i64 &exp, bool &neg, const numbers &a, i64 i)
{
	if (a.kind == F64) {
		double x = term(a, i, 0);
		neg = x < 0;
		exp = -(1ll << 40);
		sig[0] = sig[1] = 0;
		if (x == 0)
			return;
		int e;
		u64 m = decompose(x, e);
		int up = __clzll((i64)m);
		sig[1] = m << up;
		exp = e + 64 - up;
		return;
	}
	u32 cls = ((const u8 *)a.plane[2])[i];
	int e = ((const int *)a.plane[1])[i];
	const u64 *from = (const u64 *)a.plane[0] + i * a.limbs;
	sig[1] = from[a.limbs - 1];
	sig[0] = a.limbs > 1 ? from[0] : 0;
	neg = cls & 1;
	exp = e;
	if (cls >> 1 == ZERO) {
		exp = -(1ll << 40);
		sig[0] = sig[1] = 0;
	}
}

// addShort is add for numbers of few limbs.
static __device__ __forceinline__ sum addShort(const summing &s, integer v, int i, int j)
{
	sum r = {v, 0, 0, false, true, 0};
	i64 ex, ed;
	bool other;
	u64 x[SHORT_LIMBS], d[SHORT_LIMBS];
	loadShort(x, ex, r.neg, s.x.a, s.x.off + i * s.x.rs + j * s.x.cs);
	loadShort(d, ed, other, s.d.a, s.d.off + i * s.d.rs + j * s.d.cs);
	i64 top = max64(ex, ed);
	if (top == -(1ll << 40)) {
		r.known = !s.errors;
		return r;
	}
	r.exp = top - 32 * SHORT_WORDS;
	shortWindow p, q;
	p.align(x, top - ex);
	q.align(d, top - ed);
	u32 flip = r.neg != other ? ~0u : 0;
	u64 carry = flip & 1;
#pragma unroll
	for (int k = 0; k <= SHORT_WORDS; k++) {
		carry += (u64)p.w[k] + (q.w[k] ^ flip);
		v.at[k * v.stride] = (u32)carry;
		carry >>= 32;
	}
	conclude(s, r, i, j);
	return r;
}

// summedShort is summed for numbers of few limbs, and results of F32, F64 or MP of few limbs.
extern "C" __global__ void __launch_bounds__(THREADS) summedShort(const __grid_constant__ summing s)
{
	__shared__ u32 room[(SHORT_WORDS + 1) * THREADS];
	integer v = {room + threadIdx.x, THREADS, SHORT_WORDS + 1};
	int i0 = blockIdx.x * THREADS, i = i0 + threadIdx.x;
	if (i >= s.x.n)
		return;
	i64 row = at(s.rows, i);
	for (int j = blockIdx.y; j < s.x.k; j += gridDim.y) {
		if (s.triangle == 'U' && i > j || s.triangle == 'L' && i < j)
			continue;
		sum r = addShort(s, v, i, j);
		i64 to = s.z.off + i * s.z.rs + j * s.z.cs;
		bool ok = r.known;
		if (ok && r.n == 0)
			storeZero(s.z, to, false);
		else if (ok)
			ok = store(s.z, to, r.v, r.n, r.neg, r.exp + row + at(s.cols, j), r.error);
		if (!ok)
			leave(s.rest, i, j);
	}
}

extern "C" __global__ void __launch_bounds__(THREADS) summed(const __grid_constant__ summing s)
{
	// Word k of the window of thread t at k blockDim + t, and what goes in and what comes out in
	// one place.
	extern __shared__ u64 room[];
	__shared__ bool stored[THREADS];
	int t = threadIdx.x;
	integer v = {(u32 *)room + t, (int)blockDim.x, s.words + 1};
	u64 *next = room + ((s.words + 1) * (int)blockDim.x + 1) / 2;
	stage x(next, s.x.a), d(x.of(blockDim.x), s.d.a), z(next, s.z.a);
	bool mp = s.z.a.kind == MP;
	for (int j = blockIdx.y; j < s.x.k; j += gridDim.y)
		for (int i0 = blockIdx.x * blockDim.x; i0 < s.x.n; i0 += gridDim.x * blockDim.x) {
			int count = min((int)blockDim.x, s.x.n - i0), i = i0 + t;
			if (s.triangle == 'U' && i0 > j || s.triangle == 'L' && i0 + count <= j)
				continue;
			x.load(s.x, i0, j, count);
			d.load(s.d, i0, j, count);
			asm volatile("cp.async.commit_group;" ::: "memory");
			asm volatile("cp.async.wait_group 0;" ::: "memory");
			__syncthreads();
			bool mine = t < count && !(s.triangle == 'U' && i > j || s.triangle == 'L' && i < j);
			sum r;
			if (mine)
				r = add(s, v, x.of(t), d.of(t), i, j);
			__syncthreads();
			stored[t] = false;
			if (mine) {
				i64 to = s.z.off + i * s.z.rs + j * s.z.cs, exp = r.exp + at(s.rows, i) + at(s.cols, j);
				target c = s.z;
				if (mp) // the significand of number to has its place in the stage
					c.a.plane[0] = (u64)z.of(t) - 8 * to * z.limbs;
				bool ok = r.known;
				if (ok && r.n == 0)
					storeZero(c, to, false);
				else if (ok)
					ok = stored[t] = terms(c.a) > 1 && !mp ? storeTerms(c, to, r.v, r.neg, exp, r.error) : store(c, to, r.v, r.n, r.neg, exp, r.error);
				if (!ok)
					leave(s.rest, i, j);
			}
			if (!mp)
				continue; // X and D are read before the barrier above
			__syncthreads();
			u64 *to = (u64 *)s.z.a.plane[0] + (s.z.off + i0 * s.z.rs + j * s.z.cs) * z.limbs;
			eachWord(count, z.limbs, [&](int number, int word) {
				if (stored[number])
					to[number * s.z.rs * z.limbs + word] = z.of(number)[word];
			});
			__syncthreads();
		}
}

// What becomes of numbers d_i: (d_i - z_i^2)/2, rounded.
struct squaring {
	target d;  // number off + i rs, of MP of at most LESS_LIMBS limbs
	vectors z; // number off + i rs, finite, of MP of at most SQUARED_LIMBS limbs
	leftovers rest;
};

#define LESS_LIMBS 8
#define SQUARED_LIMBS 4

// lessSquares makes each sum in a window as add does.
extern "C" __global__ void __launch_bounds__(THREADS) lessSquares(const __grid_constant__ squaring s)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= s.z.n)
		return;
	const numbers &a = s.d.a, &b = s.z.a;
	i64 to = s.d.off + i * s.d.rs, from = s.z.off + i * s.z.rs, ed, ez;
	u32 square[4 * SQUARED_LIMBS], window[2 * LESS_LIMBS + 3];
	bool neg, other;
	magnitude q = read(b, from, (const u64 *)b.plane[0] + from * b.limbs, ez, other);
	if (q.count != 0) {
		for (int k = 0; k < 2 * q.count; k++)
			square[k] = 0;
		for (int k = 0; k < q.count; k++) {
			u64 carry = 0;
			for (int h = 0; h < q.count; h++) {
				carry += (u64)q.at[k] * q.at[h] + square[k + h];
				square[k + h] = (u32)carry;
				carry >>= 32;
			}
			square[k + q.count] = (u32)carry;
		}
		q.at = square;
		q.count *= 2;
		ez *= 2;
	}
	magnitude p = read(a, to, (const u64 *)a.plane[0] + to * a.limbs, ed, neg);
	if (p.count == 0 && q.count == 0)
		return;
	int words = 2 * a.limbs + 2;
	i64 exp = max64(ed, ez) - 32 * words;
	p.begin(exp - (ed - 32 * p.count));
	q.begin(exp - (ez - 32 * q.count));
	u32 flip = neg ? 0 : ~0u;
	u64 carry = flip & 1;
	for (int k = 0; k <= words; k++) {
		carry += (u64)p.word() + (q.word() ^ flip);
		window[k] = (u32)carry;
		carry >>= 32;
	}
	integer v = {window, 1, words + 1};
	neg ^= v.magnitude();
	int n = v.length();
	if (n == 0)
		storeZero(s.d, to, false);
	else if (!store(s.d, to, v, n, neg, exp - 1, 0))
		leave(s.rest, i, 0);
}

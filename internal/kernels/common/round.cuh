// The one rounding: integers with an error bound to the nearest numbers of a format.
#pragma once
#include "common.cuh"

// Where results go: entry (i, j) is number off + i rs + j cs of a, whose significands have
// prec bits if its format is F32, F64 or MP.
struct target {
	numbers a;
	i64 off, rs, cs;
	i64 prec;
};

// Entries that are left for another pass. The count goes on where the list is full.
struct leftovers {
	u64 count; // u32
	u64 list;  // u64: column << 32 | row
	i64 capacity;
};

static __device__ void leave(const leftovers &l, int i, int j)
{
	u32 at = atomicAdd((u32 *)l.count, 1);
	if (at < l.capacity)
		((u64 *)l.list)[at] = (u64)j << 32 | (u32)i;
}

// An integer of words 32-bit words in two's complement, stride words apart.
struct integer {
	u32 *at;
	int stride, words;

	__device__ __forceinline__ u32 word(int i) const { return (u32)i < (u32)words ? at[i * stride] : 0; }

	// The 64 bits from position pos on, for a non-negative integer.
	__device__ u64 bits(int pos) const
	{
		int i = pos >> 5, s = pos & 31;
		u32 a = word(i), b = word(i + 1), c = word(i + 2);
		return (u64)__funnelshift_r(b, c, s) << 32 | __funnelshift_r(a, b, s);
	}

	// Whether a bit below position pos is set.
	__device__ bool below(int pos) const
	{
		int i = 0;
		for (; 32 * (i + 1) <= pos; i++)
			if (word(i))
				return true;
		return pos > 32 * i && word(i) << (32 - (pos - 32 * i));
	}

	__device__ void negate()
	{
		u32 carry = 1;
		for (int i = 0; i < words; i++) {
			u64 t = (u64)~at[i * stride] + carry;
			at[i * stride] = (u32)t;
			carry = (u32)(t >> 32);
		}
	}

	// makes the magnitude of it and reports whether it was negative.
	__device__ bool magnitude()
	{
		if (!(at[(words - 1) * stride] >> 31))
			return false;
		negate();
		return true;
	}

	// x - floor(x 2^-drop) 2^drop takes the place of a non-negative x or, if up is set, 2^drop
	// minus that.
	__device__ void rest(int drop, bool up)
	{
		words = (drop + 31) / 32;
		if (up)
			negate();
		if (drop & 31)
			at[(words - 1) * stride] &= (1u << (drop & 31)) - 1;
	}

	__device__ int length() const
	{
		int i = words - 1;
		while (i >= 0 && at[i * stride] == 0)
			i--;
		return i < 0 ? 0 : 32 * i + 32 - __clz(at[i * stride]);
	}
};

// Ziv's test bounds errors by a quarter of the last place kept, so that no power of two can be
// crossed by more than half of the finer place below it.
static __device__ __forceinline__ bool within(double error, int drop)
{
	return drop >= 2 && error < 0x1p60 && (drop - 2 >= 60 || error + 1 < (double)(1ull << (drop - 2)));
}

// rounds reports whether all integers within error of x round alike at position drop, and sets up
// if that is away from zero. If surely is not null it is set if none is a multiple of 2^drop.
static __device__ __forceinline__ bool rounds(const integer &x, int drop, double error, bool &up, bool *surely)
{
	u64 tail = x.bits(drop - 64);
	up = tail >> 63;
	if (error == 0) {
		bool odd = drop >= 0 && x.bits(drop) & 1;
		if (tail == 1ull << 63)
			up = odd || x.below(drop - 64);
		if (surely)
			*surely = tail || x.below(drop - 64);
		return true;
	}
	if (!within(error, drop))
		return false;
	u64 e = (u64)error + 1;
	e = drop < 64 ? e << (64 - drop) : (e >> min(drop - 64, 63)) + 1;
	i64 d = (i64)(tail - (1ull << 63));
	if (surely)
		*surely = tail > e + 2 && 0 - tail > e + 2;
	return (u64)(d < 0 ? -d : d) > e + 2;
}

// kept returns the prec bits of x from position drop on, shifted up if that is negative.
static __device__ __forceinline__ u64 kept(const integer &x, int drop, int prec)
{
	return drop < 0 ? x.bits(0) << -drop : x.bits(drop) & ((1ull << prec) - 1);
}

static __device__ __forceinline__ void storeMP(const target &c, i64 to, const integer &x, int n, bool neg, i64 top, bool up)
{
	int limbs = c.a.limbs;
	u64 *sig = (u64 *)c.a.plane[0] + to * limbs;
	u64 lsb = 1ull << (64 * limbs - (int)c.prec), carry = up ? lsb : 0, word = 0;
	for (int k = 0; k < limbs; k++) {
		word = x.bits(n - 64 * (limbs - k));
		if (k == 0)
			word &= 0 - lsb;
		word += carry;
		carry = word < carry;
		sig[k] = word;
	}
	if (carry) {
		sig[limbs - 1] = 1ull << 63;
		top++;
	}
	((int *)c.a.plane[1])[to] = (int)top;
	((u8 *)c.a.plane[2])[to] = FINITE << 1 | neg;
}

// store sets number to of the result to the number nearest to (-1)^neg x 2^exp, x > 0 of
// length n, if all integers within error of x round to the same (Ziv's test), and returns
// whether it did. Results outside of the normal range are left to others, too.
static __device__ bool store(const target &c, i64 to, const integer &x, int n, bool neg, i64 exp, double error)
{
	int kind = c.a.kind, prec = (int)c.prec, drop = n - prec; // drop bits are rounded off
	i64 top = exp + n;
	if (kind == MP ? top > 0x7ffffffd || top < -0x7ffffffell : kind == F64 ? top > 1023 || top < -1021 : top > 127 || top < -125)
		return false;
	bool up;
	if (!rounds(x, drop, error, up, 0))
		return false;
	if (kind == MP) {
		storeMP(c, to, x, n, neg, top, up);
		return true;
	}
	// q may be 2^prec: the carry goes into the exponent.
	u64 q = kept(x, drop, prec) + up;
	if (kind == F64)
		((double *)c.a.plane[0])[to] = __longlong_as_double((i64)(q + ((u64)(top + 1021) << 52) | (u64)neg << 63));
	else
		((float *)c.a.plane[0])[to] = __uint_as_float((u32)q + ((u32)(top + 125) << 23) | (u32)neg << 31);
	return true;
}

// Counts of results that left the normal range: u64 overflows, then u64 underflows.
static __device__ void count(u64 counts, bool underflow) { atomicAdd((u64 *)counts + underflow, 1ull); }

// storeFloat is store for F32 and F64 with their whole ranges. It counts finite numbers that
// become infinite, and those below the normal range that lose bits.
static __device__ bool storeFloat(const target &c, i64 to, const integer &x, int n, bool neg, i64 exp, double error, u64 counts)
{
	bool wide = c.a.kind == F64;
	int prec = (int)c.prec, drop = n - prec;
	i64 top = exp + n, highest = wide ? 1024 : 128, lowest = wide ? -1074 : -149;
	if (error != 0 && !within(error, drop))
		return false;
	u64 pattern = wide ? 0x7ffull << 52 : 0xffull << 23;
	if (top <= highest) {
		i64 more = lowest - (exp + drop); // bits that subnormal numbers lack
		if (more > 0)
			drop = (int)min64(drop + more, n + 2);
		bool up, inexact;
		if (!rounds(x, drop, error, up, &inexact))
			return false;
		// Whether the value underflows, or the exact one does.
		if (error != 0 && more >= 0 && !inexact)
			return false;
		if (more > 0 && inexact)
			count(counts, true);
		u64 q = kept(x, drop, prec) + up, e = more > 0 ? 0 : (u64)(top - (lowest + prec));
		pattern = min(pattern, q + (e << (prec - 1)));
		top = pattern == (wide ? 0x7ffull << 52 : 0xffull << 23) ? highest + 1 : top;
	}
	if (top > highest)
		count(counts, false);
	if (wide)
		((double *)c.a.plane[0])[to] = __longlong_as_double((i64)(pattern | (u64)neg << 63));
	else
		((float *)c.a.plane[0])[to] = __uint_as_float((u32)pattern | (u32)neg << 31);
	return true;
}

// storeTerms is store for DD, TD and QD: h = RN(x), l = RN(x - h), .... It changes x. A greedy
// expansion that is not the canonical one is left to others.
static __device__ bool storeTerms(const target &c, i64 to, integer x, bool neg, i64 exp, double error)
{
	double t[4] = {0, 0, 0, 0};
	for (int k = 0; k < c.a.kind; k++) {
		int n = x.length(), drop = n - 53;
		i64 top = exp + n;
		bool up;
		if (n == 0 ? error != 0 : top > 1023 || top < -1021 || !rounds(x, drop, error, up, 0))
			return false;
		if (n == 0)
			break;
		t[k] = __longlong_as_double((i64)(kept(x, drop, 53) + up + ((u64)(top + 1021) << 52) | (u64)neg << 63));
		if (drop <= 0)
			break;
		neg ^= up;
		x.rest(drop, up);
	}
	for (int k = 1; k < c.a.kind; k++)
		if (__dadd_rn(t[k - 1], t[k]) != t[k - 1])
			return false;
	for (int k = 0; k < c.a.kind; k++)
		((double *)c.a.plane[k])[to] = t[k];
	return true;
}

// storeAny is store for all formats and their whole ranges, but for what lies outside of the
// normal range of MP, DD, TD and QD. It may change x.
static __device__ bool storeAny(const target &c, i64 to, const integer &x, int n, bool neg, i64 exp, double error, u64 counts)
{
	if (c.a.kind == MP)
		return store(c, to, x, n, neg, exp, error);
	if (terms(c.a) > 1)
		return storeTerms(c, to, x, neg, exp, error);
	return storeFloat(c, to, x, n, neg, exp, error, counts);
}

// storeZero sets number to of the result to 0.
static __device__ void storeZero(const target &c, i64 to, bool neg)
{
	if (c.a.kind == MP)
		((u8 *)c.a.plane[2])[to] = ZERO << 1 | neg;
	else if (c.a.kind == F32)
		((float *)c.a.plane[0])[to] = neg ? -0.0f : 0.0f;
	else
		for (int t = 0; t < c.a.kind; t++)
			((double *)c.a.plane[t])[to] = neg && t == 0 ? -0.0 : 0.0;
}

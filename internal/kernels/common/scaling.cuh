// What results are made of beside the product A B: alpha, beta and the old entries.
#pragma once
#include "common.cuh"

// alpha or beta: (-1)^neg w 2^exp, w an integer of count 32-bit words and length bits.
struct scaling {
	u64 words;
	i64 exp;
	int count, length;
	int neg;
	int plain; // w = 1
};

// The expression around the product: alpha A B + beta old.
struct expression {
	scaling alpha, beta;
	numbers old; // entry (i, j) is number off + i rs + j cs
	i64 off, rs, cs;
	int adds; // beta is not 0
	int pad;
};

// A magnitude of words 32-bit words times 2^exp.
struct factor {
	const u32 *at; // null: the words are lo and hi
	u32 lo, hi;
	int words;
	i64 exp;
	bool neg;

	__device__ __forceinline__ u32 word(int i) const { return at ? at[i] : i ? hi : lo; }
};

static __device__ __forceinline__ factor factorOf(const scaling &s)
{
	return {(const u32 *)s.words, 0, 0, s.count, s.exp, s.neg != 0};
}

// single is the factor word 2^exp.
static __device__ __forceinline__ factor single(u32 word, i64 exp, bool neg) { return {0, word, 0, 1, exp, neg}; }

// parts returns of how many factors number i is the sum.
static __device__ __forceinline__ int parts(const numbers &a) { return a.kind == MP ? 1 : terms(a); }

// part sets f to part t of number i and reports whether it is not zero. neg is its sign.
static __device__ bool part(factor &f, const numbers &a, i64 i, int t)
{
	if (a.kind == MP) {
		u8 c = ((const u8 *)a.plane[2])[i];
		f.neg = c & 1;
		f.at = (const u32 *)a.plane[0] + i * 2 * a.limbs;
		f.words = 2 * a.limbs;
		f.exp = (i64)((const int *)a.plane[1])[i] - 64 * a.limbs;
		return c >> 1 == FINITE;
	}
	double x = term(a, i, t);
	int e;
	u64 m = decompose(x, e);
	f.neg = (u64)__double_as_longlong(x) >> 63;
	f.at = 0;
	f.lo = (u32)m;
	f.hi = (u32)(m >> 32);
	f.words = 2;
	f.exp = e;
	return m != 0;
}

// What is known of a number: its class, the sign if it is zero, and if it is finite bounds
// of its parts: each is below 2^top in magnitude and a multiple of 2^low.
struct extent {
	int cls;
	bool neg;
	i64 top, low;
};

static __device__ extent extentOf(const numbers &a, i64 i)
{
	extent e = {ZERO, false, -(1ll << 61), 1ll << 61};
	for (int t = 0; t < parts(a); t++) {
		factor f;
		bool some = part(f, a, i, t);
		if (t == 0)
			e.neg = f.neg;
		if (a.kind == MP ? ((const u8 *)a.plane[2])[i] >> 1 > FINITE : !finite(term(a, i, t)))
			e.cls = NAN_;
		if (!some)
			continue;
		int zeros = a.kind == MP ? 0 : f.hi ? __clz(f.hi) : 32 + __clz(f.lo);
		if (e.cls == ZERO)
			e.cls = FINITE;
		e.top = max64(e.top, f.exp + 32 * f.words - zeros);
		e.low = min64(e.low, f.exp);
	}
	return e;
}

// canonical reports whether no part of number i is lost in the sum of it and the one before it:
// only then its value is zero only if its first part is.
static __device__ bool canonical(const numbers &a, i64 i)
{
	for (int t = 1; t < parts(a); t++)
		if (__dadd_rn(term(a, i, t - 1), term(a, i, t)) != term(a, i, t - 1))
			return false;
	return true;
}

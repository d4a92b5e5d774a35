// The one rounding: integers with an error bound to the nearest numbers of a format.
#pragma once
#include "common.cuh"

// Where results go: entry (i, j) is number off + i rs + j cs of a, whose significands
// have prec bits. Its format is F32, F64 or MP.
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

	// makes the magnitude of it and reports whether it was negative.
	__device__ bool magnitude()
	{
		if (!(at[(words - 1) * stride] >> 31))
			return false;
		u32 carry = 1;
		for (int i = 0; i < words; i++) {
			u64 t = (u64)~at[i * stride] + carry;
			at[i * stride] = (u32)t;
			carry = (u32)(t >> 32);
		}
		return true;
	}

	__device__ int length() const
	{
		int i = words - 1;
		while (i >= 0 && at[i * stride] == 0)
			i--;
		return i < 0 ? 0 : 32 * i + 32 - __clz(at[i * stride]);
	}
};

// store sets number to of the result to the number nearest to (-1)^neg x 2^exp, x > 0 of
// length n, if all integers within error of x round to the same (Ziv's test), and returns
// whether it did. Results outside of the normal range are left to others, too.
static __device__ bool store(const target &c, i64 to, const integer &x, int n, bool neg, i64 exp, double error)
{
	int kind = c.a.kind, prec = (int)c.prec, drop = n - prec; // drop bits are rounded off
	i64 top = exp + n;
	if (kind == MP ? top > 0x7ffffffd || top < -0x7ffffffell : kind == F64 ? top > 1023 || top < -1021 : top > 127 || top < -125)
		return false;
	u64 tail = x.bits(drop - 64);
	bool up = tail >> 63;
	if (error == 0) {
		bool odd = drop >= 0 && x.bits(drop) & 1;
		if (tail == 1ull << 63)
			up = odd || x.below(drop - 64);
	} else {
		// The error stays below a quarter of the last place kept, so that no power of
		// two can be crossed by more than half of the finer place below it.
		if (drop < 2 || error >= 0x1p60 || drop - 2 < 60 && error + 1 >= (double)(1ull << (drop - 2)))
			return false;
		u64 e = (u64)error + 1;
		e = drop < 64 ? e << (64 - drop) : (e >> min(drop - 64, 63)) + 1;
		i64 d = (i64)(tail - (1ull << 63));
		if ((u64)(d < 0 ? -d : d) <= e + 2)
			return false;
	}
	if (kind == MP) {
		int limbs = c.a.limbs;
		u64 *sig = (u64 *)c.a.plane[0] + to * limbs;
		u64 lsb = 1ull << (64 * limbs - prec), carry = up ? lsb : 0, word = 0;
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
		return true;
	}
	u64 q = x.bits(drop) & ((1ull << prec) - 1);
	if (drop < 0) // n <= prec
		q = x.bits(0) << -drop;
	q += up;
	// q may be 2^prec: the carry goes into the exponent.
	if (kind == F64)
		((double *)c.a.plane[0])[to] = __longlong_as_double((i64)(q + ((u64)(top + 1021) << 52) | (u64)neg << 63));
	else
		((float *)c.a.plane[0])[to] = __uint_as_float((u32)q + ((u32)(top + 125) << 23) | (u32)neg << 31);
	return true;
}

// storeZero sets number to of the result to 0.
static __device__ void storeZero(const target &c, i64 to, bool neg)
{
	if (c.a.kind == MP)
		((u8 *)c.a.plane[2])[to] = ZERO << 1 | neg;
	else if (c.a.kind == F64)
		((double *)c.a.plane[0])[to] = neg ? -0.0 : 0.0;
	else
		((float *)c.a.plane[0])[to] = neg ? -0.0f : 0.0f;
}

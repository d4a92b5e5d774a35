// What all kernels for sums along rows share.
#pragma once
#include "../common/common.cuh"

// Bits of a digit.
#define DIGIT 28
#define MASK ((1 << DIGIT) - 1)

// Flags of a row.
enum { SEEN_SPECIAL = 1, SEEN_FINITE = 2, SEEN_POSITIVE_ZERO = 4, SEEN_NEGATIVE_ZERO = 8 };

// What is known of the addends of each row, or of parts of them: of part p of row r of n at
// p n + r.
struct spans {
	u64 top;    // i64: the largest exponent of an addend, that is of the sum of its factors'
	u64 bottom; // i64: the negative of the least such exponent
	u64 flags;  // u32
};

// No exponent of an addend is as low: there is none.
#define NO_TOP (-(1ll << 61))

// span is spans of one row.
struct span {
	i64 top, bottom;
	u32 flags;

	// see takes note of an addend but for top, and returns whether it is finite and not zero.
	__device__ __forceinline__ bool see(u32 cls, i64 exp)
	{
		u32 c = cls >> 1;
		if (c != FINITE) {
			flags |= c != ZERO ? SEEN_SPECIAL : cls & 1 ? SEEN_NEGATIVE_ZERO : SEEN_POSITIVE_ZERO;
			return false;
		}
		flags |= SEEN_FINITE;
		bottom = max64(bottom, -exp);
		return true;
	}

	__device__ __forceinline__ void merge(const span &s)
	{
		top = max64(top, s.top);
		bottom = max64(bottom, s.bottom);
		flags |= s.flags;
	}

	// read reads a span that other blocks may have written.
	__device__ __forceinline__ void read(const spans &from, i64 i)
	{
		top = __ldcg((const i64 *)from.top + i);
		bottom = __ldcg((const i64 *)from.bottom + i);
		flags = __ldcg((const u32 *)from.flags + i);
	}

	// mergeParts merges up to N parts of what is known of a row of n: part p of count, and others
	// step apart.
	template <int N> __device__ __forceinline__ void mergeParts(const spans &from, int p, int step, int count, int n, int row)
	{
		span t[N];
#pragma unroll
		for (int i = 0; i < N; i++) {
			t[i] = *this;
			if (p + i * step < count)
				t[i].read(from, (i64)(p + i * step) * n + row);
		}
#pragma unroll
		for (int i = 0; i < N; i++)
			merge(t[i]);
	}

	__device__ __forceinline__ void write(const spans &to, i64 i) const
	{
		((i64 *)to.top)[i] = top;
		((i64 *)to.bottom)[i] = bottom;
		((u32 *)to.flags)[i] = flags;
	}
};

// What is known of a number without its significand: |x| = 0.S 2^exp, and the class byte of
// an MP number.
struct head {
	int exp;
	u32 cls;
};

static __device__ __forceinline__ head headOfTerm(double x)
{
	head h;
	int e;
	u64 m = decompose(x, e);
	h.exp = e + 64 - __clzll((i64)m);
	h.cls = (m == 0 ? ZERO : finite(x) ? FINITE : NAN_) << 1 | (u32)((u64)__double_as_longlong(x) >> 63);
	return h;
}

// heads reads n numbers from position at on, step apart.
template <int N> static __device__ __forceinline__ void heads(const numbers &a, i64 at, i64 step, int n, head (&h)[N])
{
	if (a.kind == MP) {
#pragma unroll
		for (int b = 0; b < N; b++) {
			i64 i = b < n ? at + b * step : at;
			h[b].exp = __ldg((const int *)a.plane[1] + i);
			h[b].cls = __ldg((const u8 *)a.plane[2] + i);
		}
		return;
	}
	double x[N];
	if (a.kind == F32) {
#pragma unroll
		for (int b = 0; b < N; b++)
			x[b] = __ldg((const float *)a.plane[0] + (b < n ? at + b * step : at));
	} else {
#pragma unroll
		for (int b = 0; b < N; b++)
			x[b] = __ldg((const double *)a.plane[0] + (b < n ? at + b * step : at));
	}
#pragma unroll
	for (int b = 0; b < N; b++)
		h[b] = headOfTerm(x[b]);
}

// finiteClass reports whether the number of a class byte is finite and not zero.
static __device__ __forceinline__ bool finiteClass(u32 cls) { return cls >> 1 == FINITE; }

// productClass is the class byte of a product, any special one being NaN.
static __device__ __forceinline__ u32 productClass(u32 a, u32 x)
{
	u32 c = a >> 1 > FINITE || x >> 1 > FINITE ? NAN_ : a >> 1 < x >> 1 ? a >> 1 : x >> 1;
	return c << 1 | ((a ^ x) & 1);
}

// significand is an integer of words 32-bit words, most significant bit set, as a fraction.
struct significand {
	const u32 *at;
	int words;

	// word returns word i from the top, 0 outside.
	__device__ __forceinline__ u32 word(int i) const
	{
		int k = words - 1 - i;
		return (u32)k < (u32)words ? at[k] : 0;
	}
};

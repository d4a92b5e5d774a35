// Digits of 7 bits with the sign of their number, four in a word.
#pragma once
#include "rows.cuh"

// spread returns the four groups of 7 bits in the low 28 bits of v as bytes.
static __device__ __forceinline__ u32 spread(u32 v)
{
	v &= (1 << 28) - 1;
	v += 3 * (v & ~0x3fff);
	return v + (v & 0x3f803f80);
}

// A sign of digits: factor 1 and flip 0, or -1 and 0x80808080.
struct sign {
	u32 factor, flip;

	__device__ explicit sign(bool neg) : factor(neg ? ~0u : 1), flip(neg ? 0x80808080 : 0) {}

	// apply negates the bytes of v, which are less than 128, or not.
	__device__ __forceinline__ u32 apply(u32 v) const { return v * factor + flip ^ flip; }
};

// window returns four digits of |x|, the last of them digit g, as bytes, the first lowest.
static __device__ __forceinline__ u32 window(const significand &x, int g)
{
	int bit = 7 * (g - 3), i = bit >> 5; // rounded down
	u32 v = __funnelshift_l(x.word(i + 1), x.word(i), bit & 31) >> 4;
	return __byte_perm(spread(v), 0, 0x0123);
}

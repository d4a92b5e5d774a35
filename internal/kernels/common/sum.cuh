// Sums of products of two factors, in a window.
#pragma once
#include "round.cuh"
#include "scaling.cuh"

// A sum under way: (-1)^neg x 2^unit, up to error units.
struct value {
	integer x;
	bool neg;
	i64 unit;
	double error;
};

// addProduct adds the product of a and b, of the given sign, to x and reports whether it lost
// bits below one unit. The carry out of x is dropped.
static __device__ bool addProduct(value &v, const factor &a, const factor &b, bool neg)
{
	i64 shift = a.exp + b.exp - v.unit;
	if (shift < -32 * (i64)(a.words + b.words))
		return true;
	int at = (int)(shift >> 5), s = (int)(shift & 31);
	u64 low = 0, high = 0;
	u32 above = 0, carry = 0, flip = neg ? ~0u : 0;
	bool lost = false;
	if (neg)
		carry = 1;
	for (int c = 0; at + c < v.x.words; c++) {
		int i0 = max(0, c - b.words + 1), i1 = min(c, a.words - 1);
		for (int i = i0; i <= i1; i++) {
			u64 t = (u64)a.word(i) * b.word(c - i);
			low += t;
			high += low < t;
		}
		u32 d = (u32)low;
		low = low >> 32 | high << 32;
		high >>= 32;
		u32 w = s ? d << s | above : d;
		above = s ? d >> (32 - s) : 0;
		if (at + c < 0) {
			lost = lost || w;
			continue;
		}
		u32 *to = v.x.at + (at + c) * v.x.stride;
		u64 t = (u64)*to + (w ^ flip) + carry;
		*to = (u32)t;
		carry = (u32)(t >> 32);
	}
	return lost;
}

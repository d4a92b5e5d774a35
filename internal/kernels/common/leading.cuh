// Numbers to some 50 bits.
#pragma once
#include "common.cuh"

// leading returns x 2^e close to number i, 1/2 <= |x| < 1 or so; 0 if there is no such.
static __device__ double leading(const numbers &a, i64 i, i64 &e)
{
	e = 0;
	if (a.kind == MP) {
		u8 c = ((const u8 *)a.plane[2])[i];
		if (c >> 1 != FINITE)
			return 0;
		e = ((const int *)a.plane[1])[i];
		double x = (double)(((const u64 *)a.plane[0])[i * a.limbs + a.limbs - 1] >> 11) * 0x1p-53;
		return c & 1 ? -x : x;
	}
	double x = term(a, i, 0);
	if (x == 0 || !finite(x))
		return 0;
	int n;
	u64 m = decompose(x, n);
	int len = 64 - __clzll((i64)m);
	e = n + len;
	double f = (double)m * pow2(-len);
	return x < 0 ? -f : f;
}

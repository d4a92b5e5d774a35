// Reciprocals for pivots.
#pragma once
#include "../common/common.cuh"

// fastReciprocal returns 1 / x, or nearly so, but 0 where that is too large or too small.
static __device__ __forceinline__ double fastReciprocal(double x)
{
	if (fabs(x) < 0x1p-1000)
		return 0;
	double y;
	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
	double e = fma(-x, y, 1);
	return fma(fma(e, e, e), y, y);
}

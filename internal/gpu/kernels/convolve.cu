// The digits of the second factors of digit convolution.
#include "convolve.cuh"

// window returns four digits of |x|, the last of them digit g, as bytes, the first lowest.
static __device__ __forceinline__ u32 window(const significand &x, int g)
{
	int bit = 7 * (g - 3), i = bit >> 5; // rounded down
	u32 v = __funnelshift_l(x.word(i + 1), x.word(i), bit & 31) >> 4;
	return __byte_perm(spread(v), 0, 0x0123);
}

#define TOEPLITZ_THREADS 256

// toeplitz finds the digits of x as the tensor cores read them: entry (h, d, g) of the table, g < 8,
// has digits 8d + g - 3 to 8d + g of number h, and the four before.
extern "C" __global__ void __launch_bounds__(TOEPLITZ_THREADS) toeplitz(const __grid_constant__ convolution r)
{
	i64 i = (i64)blockIdx.x * TOEPLITZ_THREADS + threadIdx.x;
	int each = 8 * r.tiles, h = (int)(i / each), g = (int)(i % each);
	if (h >= r.x.k)
		return;
	i64 at = r.x.off + h * r.x.cs;
	u32 cls = ((const u8 *)r.x.a.plane[2])[at];
	uint2 v = {0, 0};
	if (cls >> 1 == FINITE) {
		significand x = {(const u32 *)((const u64 *)r.x.a.plane[0] + at * r.x.a.limbs), 2 * r.x.a.limbs};
		sign s((cls & 1) != 0);
		v = uint2{s.apply(window(x, g)), s.apply(window(x, g - 4))};
	}
	((uint2 *)r.table)[i] = v;
}

// Rows of a matrix in another order.
#include "../common/round.cuh"

struct gathering {
	vectors x; // rows of MP
	target z;  // of the same limbs
	u64 order; // i32: of which row of X a row of Z is a copy
};

#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS) gathered(const __grid_constant__ gathering g)
{
	const numbers &x = g.x.a, &z = g.z.a;
	for (int j = blockIdx.y; j < g.x.k; j += gridDim.y)
		for (int i = blockIdx.x * THREADS + threadIdx.x; i < g.x.n; i += gridDim.x * THREADS) {
			i64 from = g.x.off + ((const int *)g.order)[i] * g.x.rs + j * g.x.cs, to = g.z.off + i * g.z.rs + j * g.z.cs;
			for (int k = 0; k < z.limbs; k++)
				((u64 *)z.plane[0])[to * z.limbs + k] = ((const u64 *)x.plane[0])[from * x.limbs + k];
			((int *)z.plane[1])[to] = ((const int *)x.plane[1])[from];
			((u8 *)z.plane[2])[to] = ((const u8 *)x.plane[2])[from];
		}
}

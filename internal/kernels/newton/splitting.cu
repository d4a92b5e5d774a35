// What factors with two triangles of package linsolve do beside products.
#include "../common/leading.cuh"
#include "../common/round.cuh"

#define THREADS 256

struct parting {
	vectors a;           // rows, in MP
	target lower, upper; // of the same limbs
};

static __device__ __forceinline__ void copyNumber(const target &z, int i, int j, const numbers &a, i64 from)
{
	i64 to = z.off + i * z.rs + j * z.cs;
	u8 cls = ((const u8 *)a.plane[2])[from];
	((u8 *)z.a.plane[2])[to] = cls;
	if (cls >> 1 != FINITE)
		return;
	((int *)z.a.plane[1])[to] = ((const int *)a.plane[1])[from];
	for (int k = 0; k < a.limbs; k++)
		((u64 *)z.a.plane[0])[to * a.limbs + k] = ((const u64 *)a.plane[0])[from * a.limbs + k];
}

// parted copies what lies below the diagonal to one matrix, and the rest to another one, with zeros
// elsewhere.
extern "C" __global__ void __launch_bounds__(THREADS) parted(const __grid_constant__ parting p)
{
	for (int j = blockIdx.y; j < p.a.k; j += gridDim.y)
		for (int i = blockIdx.x * THREADS + threadIdx.x; i < p.a.n; i += gridDim.x * THREADS) {
			copyNumber(i > j ? p.lower : p.upper, i, j, p.a.a, p.a.off + i * p.a.rs + j * p.a.cs);
			const target &z = i > j ? p.upper : p.lower;
			((u8 *)z.a.plane[2])[z.off + i * z.rs + j * z.cs] = 0;
		}
}

// notSmall counts the finite numbers below the diagonal whose leading bits are above a bound that
// lies between 1/2 and 4.
extern "C" __global__ void __launch_bounds__(THREADS) notSmall(const __grid_constant__ vectors a, u64 count, double bound)
{
	for (int j = blockIdx.y; j < a.k; j += gridDim.y)
		for (int i = blockIdx.x * THREADS + threadIdx.x; i < a.n; i += gridDim.x * THREADS) {
			i64 e;
			if (i <= j)
				continue;
			double x = leading(a.a, a.off + i * a.rs + j * a.cs, e);
			if (e > 2 || e > -1 && fabs(x) * (1 << e) > bound)
				atomicAdd((u32 *)count, 1);
		}
}

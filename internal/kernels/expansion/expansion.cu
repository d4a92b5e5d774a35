// Arithmetic of expansions, entry by entry.
#include "expansioneach.cuh"

#define EACH(W, F, name, operands, op)                                                                                        \
	extern "C" __global__ void __launch_bounds__(128) expansion##name##F(                                                 \
	    entries z, entries x, entries y, entries c, i64 rows, i64 cols, int repeat, int never)                            \
	{                                                                                                                     \
		each<W, operands, arithmetic<W>::op>(z, x, y, c, rows, cols, repeat, never);                                  \
	}

#define ALL(W, F)                                                                                                             \
	EACH(W, F, Add, 2, add)                                                                                               \
	EACH(W, F, Sub, 2, sub)                                                                                               \
	EACH(W, F, Mul, 2, mul)                                                                                               \
	EACH(W, F, Div, 2, div)                                                                                               \
	EACH(W, F, Sqrt, 1, sqrt)                                                                                             \
	EACH(W, F, FMA, 3, fma)

ALL(2, DD)
ALL(3, TD)
ALL(4, QD)

// expansionCopy copies words words of entries.
extern "C" __global__ void expansionCopy(entries z, entries x, i64 rows, i64 cols, int words)
{
	for (i64 j = blockIdx.y; j < cols; j += gridDim.y)
		for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < rows; i += gridDim.x * (i64)blockDim.x)
#pragma unroll
			for (int t = 0; t < 4; t++)
				if (t < words)
					z.w[t][i * z.rs + j * z.cs] = x.w[t][i * x.rs + j * x.cs];
}

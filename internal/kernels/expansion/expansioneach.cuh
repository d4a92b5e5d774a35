// Results entry by entry.
#pragma once
#include "expansion.cuh"

// repeated makes v depend on r without changing it, so that a compiler cannot see that repetitions
// give the same. never is no high half of a word that occurs.
template <int W> static __device__ __forceinline__ void repeated(num<W> &v, const num<W> &r, int never)
{
#pragma unroll
	for (int t = 0; t < W; t++)
		if (__double2hiint(r[t]) == never)
			v[t] = r[t];
}

// each sets z_ij = f(x_ij, y_ij, c_ij), repeat times: one thread an entry if the grid has as many
// threads, else a thread has every so manieth row. The columns go by y of the grid.
template <int W, int operands, num<W> (*f)(num<W>, num<W>, num<W>)>
static __device__ __forceinline__ void each(entries z, entries x, entries y, entries c, i64 rows, i64 cols, int repeat, int never)
{
	for (i64 j = blockIdx.y; j < cols; j += gridDim.y)
		for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < rows; i += gridDim.x * (i64)blockDim.x) {
			num<W> a = load<W>(x, i * x.rs + j * x.cs), b = {}, d = {};
			if (operands > 1)
				b = load<W>(y, i * y.rs + j * y.cs);
			if (operands > 2)
				d = load<W>(c, i * c.rs + j * c.cs);
			num<W> v;
#pragma unroll 1
			for (int r = 0;;) { // one copy of f
				v = f(a, b, d);
				if (++r >= repeat)
					break;
				repeated<W>(a, v, never);
			}
			store<W>(z, i * z.rs + j * z.cs, arithmetic<W>::stored(v));
		}
}


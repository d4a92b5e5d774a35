// Operations and functions of doubles, entry by entry like those of expansions, which measurements
// set them beside. The functions are CUDA's.
#include "expansioneach.cuh"

template <> struct arithmetic<1> {
	static __device__ __forceinline__ num<1> stored(num<1> x) { return x; }
};

#define EACH(name, operands, value)                                                                                           \
	static __device__ __forceinline__ num<1> name##Of(num<1> x, num<1> y, num<1>) { return {value}; }                     \
	extern "C" __global__ void __launch_bounds__(128) expansion##name##Double(                                            \
	    entries z, entries x, entries y, entries c, i64 rows, i64 cols, int repeat, int never)                            \
	{                                                                                                                     \
		each<1, operands, name##Of>(z, x, y, c, rows, cols, repeat, never);                                           \
	}

EACH(Add, 2, __dadd_rn(x[0], y[0]))
EACH(Sub, 2, __dsub_rn(x[0], y[0]))
EACH(Mul, 2, __dmul_rn(x[0], y[0]))
EACH(Div, 2, __ddiv_rn(x[0], y[0]))
EACH(Sqrt, 1, __dsqrt_rn(x[0]))
EACH(exp, 1, exp(x[0]))
EACH(log, 1, log(x[0]))
EACH(sin, 1, sin(x[0]))
EACH(cos, 1, cos(x[0]))

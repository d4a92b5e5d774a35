// Operations and functions of expansions as the paper has them, entry by entry: those of
// PublishedDD and PublishedQD of package expansion.
#include "expansioneach.cuh"
#include "expansionpublished.cuh"

#define EACH(W, F, name, operands, call)                                                                                      \
	static __device__ __forceinline__ num<W> name##F(num<W> x, num<W> y, num<W>) { return Published##F##_##call; }        \
	extern "C" __global__ void __launch_bounds__(128) expansionPublished##name##F(                                        \
	    entries z, entries x, entries y, entries c, i64 rows, i64 cols, int repeat, int never)                            \
	{                                                                                                                     \
		each<W, operands, name##F>(z, x, y, c, rows, cols, repeat, never);                                            \
	}

#define ALL(W, F)                                                                                                             \
	EACH(W, F, Add, 2, Add(x, y))                                                                                         \
	EACH(W, F, Sub, 2, Sub(x, y))                                                                                         \
	EACH(W, F, Mul, 2, Mul(x, y))                                                                                         \
	EACH(W, F, Div, 2, Div(x, y))                                                                                         \
	EACH(W, F, Sqrt, 1, Sqrt(x))                                                                                          \
	EACH(W, F, exp, 1, Exp(x))                                                                                            \
	EACH(W, F, log, 1, Log(x))                                                                                            \
	EACH(W, F, sin, 1, Sin(x))                                                                                            \
	EACH(W, F, cos, 1, Cos(x))

ALL(2, DD)
ALL(4, QD)

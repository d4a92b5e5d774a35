// Functions of expansions, entry by entry.
#include "expansioneach.cuh"
#include "expansionfunctions.cuh"

#define UNARY(name) FUNCTION(name, 1, (&z, &a))
#define BINARY(name) FUNCTION(name, 2, (&z, &a, &b))

#define FUNCTION(name, operands, arguments)                                                                                   \
	template <int W> static __device__ __forceinline__ num<W> name##Of(num<W> x, num<W> y, num<W>)                        \
	{                                                                                                                     \
		block z = {}, a, b;                                                                                           \
		setWords<W>(&a, x);                                                                                           \
		setWords<W>(&b, y);                                                                                           \
		evaluator_##name<W> arguments;                                                                                \
		return wordsOf<W>(&z);                                                                                        \
	}                                                                                                                     \
	KERNEL(name, operands, 2, DD)                                                                                         \
	KERNEL(name, operands, 3, TD)                                                                                         \
	KERNEL(name, operands, 4, QD)

#define KERNEL(name, operands, W, F)                                                                                          \
	extern "C" __global__ void __launch_bounds__(128) expansion_##name##F(                                                \
	    entries z, entries x, entries y, entries c, i64 rows, i64 cols, int repeat, int never)                            \
	{                                                                                                                     \
		each<W, operands, name##Of<W>>(z, x, y, c, rows, cols, repeat, never);                                        \
	}

UNARY(exp)
UNARY(expm1)
UNARY(exp2)
UNARY(log)
UNARY(log1p)
UNARY(log2)
UNARY(log10)
BINARY(pow)
UNARY(cbrt)
BINARY(hypot)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
BINARY(atan2)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)

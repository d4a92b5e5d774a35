// Functions of expansions, entry by entry: kernels for one format, WORDS words of FORMAT.
#include "expansioneach.cuh"
#include "expansionfunctions.cuh"

#define JOIN2(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN2(a, b, c)

#define UNARY(name) FUNCTION(name, 1, (&z, &a))
#define BINARY(name) FUNCTION(name, 2, (&z, &a, &b))

#define FUNCTION(name, operands, arguments)                                                                                   \
	static __device__ __forceinline__ num<WORDS> name##Of(num<WORDS> x, num<WORDS> y, num<WORDS>)                         \
	{                                                                                                                     \
		block z = {}, a, b;                                                                                           \
		setWords<WORDS>(&a, x);                                                                                       \
		setWords<WORDS>(&b, y);                                                                                       \
		evaluator_##name<WORDS> arguments;                                                                            \
		return wordsOf<WORDS>(&z);                                                                                    \
	}                                                                                                                     \
	extern "C" __global__ void __launch_bounds__(128) JOIN(expansion_, name, FORMAT)(                                     \
	    entries z, entries x, entries y, entries c, i64 rows, i64 cols, int repeat, int never)                            \
	{                                                                                                                     \
		each<WORDS, operands, name##Of>(z, x, y, c, rows, cols, repeat, never);                                       \
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

// What the functions of package expansion are made of, for one lane: expansionfunctions.cuh calls
// it.
#pragma once
#include "expansionarith.cuh"
#include "expansiontables.cuh"

typedef array<double, 1> row;
typedef array<row, 4> block;

// The arithmetic is called, not inlined: functions consist of hundreds of operations.
#define WORDS2(x) x[0], x[1]
#define WORDS3(x) x[0], x[1], x[2]
#define WORDS4(x) x[0], x[1], x[2], x[3]

static __device__ __forceinline__ num<2> numOf(const results2<double, double> &r) { return {r.a, r.b}; }
static __device__ __forceinline__ num<3> numOf(const results3<double, double, double> &r) { return {r.a, r.b, r.c}; }
static __device__ __forceinline__ num<4> numOf(const results4<double, double, double, double> &r) { return {r.a, r.b, r.c, r.d}; }

#define PRIMITIVES(W, F, LIST)                                                                                                \
	static __device__ __noinline__ num<W> addCalled(num<W> x, num<W> y) { return numOf(add##F(LIST(x), LIST(y))); }       \
	static __device__ __noinline__ num<W> mulCalled(num<W> x, num<W> y) { return numOf(mul##F(LIST(x), LIST(y))); }       \
	static __device__ __noinline__ num<W> divCalled(num<W> x, num<W> y) { return numOf(div##F(LIST(x), LIST(y))); }       \
	static __device__ __noinline__ num<W> sqrtCalled(num<W> x) { return numOf(sqrt##F(LIST(x))); }                        \
	static __device__ __noinline__ num<W> addFloatCalled(num<W> x, double y) { return numOf(addFloat##F(LIST(x), y)); }   \
	static __device__ __noinline__ num<W> mulFloatCalled(num<W> x, double y) { return numOf(mulFloat##F(LIST(x), y)); }   \
	static __device__ __noinline__ num<W> hornerCalled(num<W> s, num<W> x, const double *c, int n)                        \
	{                                                                                                                     \
		_Pragma("unroll 1") for (int j = 0; j < n; j++, c += 4)                                                       \
		{                                                                                                             \
			s = numOf(mul##F(LIST(s), LIST(x)));                                                                  \
			s = numOf(add##F(LIST(s), LIST(c)));                                                                  \
		}                                                                                                             \
		return s;                                                                                                     \
	}

PRIMITIVES(2, DD, WORDS2)
PRIMITIVES(3, TD, WORDS3)
PRIMITIVES(4, QD, WORDS4)

template <int W> static __device__ __forceinline__ num<W> wordsOf(const block *x)
{
	num<W> z;
	for (int k = 0; k < W; k++)
		z[k] = (*x)[k][0];
	return z;
}

template <int W> static __device__ __forceinline__ void setWords(block *z, const num<W> &x)
{
	for (int k = 0; k < W; k++)
		(*z)[k][0] = x[k];
}

template <int W> static __device__ __forceinline__ void evaluator_add(block *z, block *x, block *y)
{
	setWords<W>(z, addCalled(wordsOf<W>(x), wordsOf<W>(y)));
}

template <int W> static __device__ __forceinline__ void evaluator_sub(block *z, block *x, block *y)
{
	num<W> minus = wordsOf<W>(y);
	for (int k = 0; k < W; k++)
		minus[k] = -minus[k];
	setWords<W>(z, addCalled(wordsOf<W>(x), minus));
}

template <int W> static __device__ __forceinline__ void evaluator_mul(block *z, block *x, block *y)
{
	setWords<W>(z, mulCalled(wordsOf<W>(x), wordsOf<W>(y)));
}

template <int W> static __device__ __forceinline__ void evaluator_div(block *z, block *x, block *y)
{
	setWords<W>(z, divCalled(wordsOf<W>(x), wordsOf<W>(y)));
}

template <int W> static __device__ __forceinline__ void evaluator_sqrt(block *z, block *x) { setWords<W>(z, sqrtCalled(wordsOf<W>(x))); }

template <int W> static __device__ __forceinline__ void evaluator_addFloat(block *z, block *x, row *y)
{
	setWords<W>(z, addFloatCalled(wordsOf<W>(x), (*y)[0]));
}

template <int W> static __device__ __forceinline__ void evaluator_mulFloat(block *z, block *x, row *y)
{
	setWords<W>(z, mulFloatCalled(wordsOf<W>(x), (*y)[0]));
}

// step adds coefficients from first to last - 1 of series S in V words.
template <int V, class S> static __device__ __forceinline__ void step(block *z, block *x, int first, int last)
{
	if (first < last)
		setWords<V>(z, hornerCalled(wordsOf<V>(z), wordsOf<V>(x), S::coefficient(first), last - first));
	if (V < 4)
		(*z)[V < 4 ? V : 3][0] = 0;
}

template <int W, class S> static __device__ __forceinline__ void evaluator_series(block *z, block *x)
{
	double s = S::coefficient(0)[0], t = (*x)[0][0];
	_Pragma("unroll 1") for (int j = 1; j < S::end1; j++) s = __fma_rn(s, t, S::coefficient(j)[0]);
	(*z)[0][0] = s;
	(*z)[1][0] = 0;
	step<2, S>(z, x, S::end1, S::end2);
	if (W > 2)
		step<3, S>(z, x, S::end2, S::end3);
	if (W > 3)
		step<4, S>(z, x, S::end3, S::end4);
}

template <int W> static __device__ __forceinline__ void evaluator_constant(block *z, const double (*x)[4])
{
	for (int k = 0; k < W; k++)
		(*z)[k][0] = (*x)[k];
}

template <int W> static __device__ __forceinline__ void evaluator_gather(block *z, const double (*table)[4], array<int, 1> *index)
{
	for (int k = 0; k < W; k++)
		(*z)[k][0] = table[(*index)[0]][k];
}

template <int W> static __device__ __forceinline__ void evaluator_ones(block *z)
{
	for (int k = 0; k < W; k++)
		(*z)[k][0] = k == 0;
}

// maximum is Go's max.
static __device__ __forceinline__ double maximum(double x, double y) { return isNaN(x) || isNaN(y) ? notANumber() : x > y ? x : y; }

// The functions of package math/bits with a carry.
static __device__ __forceinline__ results2<u64, u64> addCarry(u64 x, u64 y, u64 c)
{
	u64 sum = x + y + c;
	return {sum, ((x & y) | ((x | y) & ~sum)) >> 63};
}

static __device__ __forceinline__ results2<u64, u64> subBorrow(u64 x, u64 y, u64 b)
{
	u64 d = x - y - b;
	return {d, ((~x & y) | (~(x ^ y) & d)) >> 63};
}

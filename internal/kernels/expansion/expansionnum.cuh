// Expansions: unevaluated sums of W doubles of decreasing magnitude. DD, TD and QD of package
// expansion are those of 2, 3 and 4 words; expansionarith.cuh has their arithmetic.
#pragma once
#include "../common/common.cuh"

template <class T, int N> struct array {
	T v[N];
	__device__ __forceinline__ T &operator[](int i) { return v[i]; }
	__device__ __forceinline__ const T &operator[](int i) const { return v[i]; }
};

template <int W> using num = array<double, W>;

// What functions of several results return.
template <class A, class B> struct results2 {
	A a;
	B b;
};
template <class A, class B, class C> struct results3 {
	A a;
	B b;
	C c;
};
template <class A, class B, class C, class D> struct results4 {
	A a;
	B b;
	C c;
	D d;
};

// The numbers of package math; a NaN has the one bit pattern of Go's.
static __device__ __forceinline__ double notANumber() { return __longlong_as_double(0x7ff8000000000001ll); }
static __device__ __forceinline__ double infinity(int sign) { return __longlong_as_double(sign < 0 ? 0xfff0000000000000ll : 0x7ff0000000000000ll); }

static __device__ __forceinline__ bool isNaN(double x) { return x != x; }

// isInf reports whether x is an infinity, of that sign if it is not 0.
static __device__ __forceinline__ bool isInf(double x, int sign)
{
	return sign >= 0 && x == infinity(1) || sign <= 0 && x == infinity(-1);
}

// The functions of package math/bits.
static __device__ __forceinline__ results2<u64, u64> multiply(u64 x, u64 y) { return {__umul64hi(x, y), x * y}; }

// Shifts of 64 bits by any number of them.
static __device__ __forceinline__ u64 shiftLeft(u64 x, unsigned s) { return s < 64 ? x << s : 0; }
static __device__ __forceinline__ u64 shiftRight(u64 x, unsigned s) { return s < 64 ? x >> s : 0; }

// CUDA's functions for a C++ compiler of the host.
#include <cmath>
#include <cstdio>
#include <cstring>

#define __device__
#define __forceinline__ inline
#define __noinline__
#define finite finite_ // of common.cuh
typedef unsigned __int128 u128;

static double __dadd_rn(double a, double b) { return a + b; }
static double __dsub_rn(double a, double b) { return a - b; }
static double __dmul_rn(double a, double b) { return a * b; }
static double __ddiv_rn(double a, double b) { return a / b; }
static double __dsqrt_rn(double a) { return std::sqrt(a); }
static double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

static long long __double_as_longlong(double x)
{
	long long z;
	memcpy(&z, &x, 8);
	return z;
}

static double __longlong_as_double(long long x)
{
	double z;
	memcpy(&z, &x, 8);
	return z;
}

static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (u128)a * b >> 64; }

template <class T> static T max(T a, T b) { return a > b ? a : b; }
template <class T> static T min(T a, T b) { return a < b ? a : b; }

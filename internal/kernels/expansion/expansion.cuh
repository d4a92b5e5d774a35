// What the kernels for expansions share: operands, and the arithmetic by width.
#pragma once
#include "expansionarith.cuh"

// A view of expansions as a matrix: word t of entry (i, j) is w[t][i rs + j cs].
struct entries {
	double *w[4];
	i64 rs, cs;
};

template <int W> static __device__ __forceinline__ num<W> load(const entries &x, i64 at)
{
	num<W> v;
#pragma unroll
	for (int t = 0; t < W; t++)
		v[t] = x.w[t][at];
	return v;
}

template <int W> static __device__ __forceinline__ void store(const entries &x, i64 at, const num<W> &v)
{
#pragma unroll
	for (int t = 0; t < W; t++)
		x.w[t][at] = v[t];
}

// arithmetic<W> are the operations of package expansion.
template <int W> struct arithmetic;

#define ARITHMETIC(W, F)                                                                                                      \
	template <> struct arithmetic<W> {                                                                                    \
		typedef num<W> N;                                                                                             \
		static __device__ __forceinline__ N add(N x, N y, N) { return F##_Add(x, y); }                                \
		static __device__ __forceinline__ N sub(N x, N y, N) { return F##_Sub(x, y); }                                \
		static __device__ __forceinline__ N mul(N x, N y, N) { return F##_Mul(x, y); }                                \
		static __device__ __forceinline__ N div(N x, N y, N) { return F##_Div(x, y); }                                \
		static __device__ __forceinline__ N sqrt(N x, N, N) { return F##_Sqrt(x); }                                   \
		static __device__ __forceinline__ N fma(N x, N y, N z) { return F##_FMA(x, y, z); }                           \
		static __device__ __forceinline__ N mac(N s, N x, N y) { return mac##F(s, x, y); }                            \
		static __device__ __forceinline__ N sum(N s) { return sum##F(s); }                                            \
		static __device__ __forceinline__ N stored(N x) { return stored##F(x); }                                      \
	};

ARITHMETIC(2, DD)
ARITHMETIC(3, TD)
ARITHMETIC(4, QD)

template <int W> static __device__ __forceinline__ num<W> neg(num<W> x)
{
	x[0] = -x[0];
#pragma unroll
	for (int t = 1; t < W; t++)
		x[t] = __dsub_rn(0.0, x[t]);
	return x;
}

// float64 is x and zeros; a NaN has one bit pattern.
template <int W> static __device__ __forceinline__ num<W> float64(double x)
{
	num<W> z = {};
	z[0] = x == x ? x : notANumber();
	return z;
}

static __device__ __forceinline__ bool isFinite(double x) { return __dsub_rn(x, x) == 0; }

// What products share: operands, factors, and how a sum of products becomes an entry.
#pragma once
#include "expansion.cuh"

struct product {
	entries a, b, c; // m x k, k x n, m x n
	double alpha[4], beta[4];
	int m, n, k;
	int plainAlpha, plainBeta; // 0: multiply by it; 1: it is 1; 2: beta is 0
	int skipRow, skipRows;     // these rows of c are new, as for beta = 0
	// c and b have so many columns more, from there on, that are left out
	int skipCol, skipCols;
	int vertical;              // neighbouring threads take neighbouring rows
};

// plain is what the leading words of x and y, n numbers with strides, give.
static __device__ __noinline__ double plain(const double *x, i64 dx, const double *y, i64 dy, int n)
{
	double p = 0;
	for (int h = 0; h < n; h++)
		p = __dadd_rn(p, __dmul_rn(x[h * dx], y[h * dy]));
	return p;
}

// total is the value of a partial sum over n numbers.
template <int W> static __device__ __forceinline__ num<W> total(num<W> s, const double *x, i64 dx, const double *y, i64 dy, int n)
{
	s = arithmetic<W>::sum(s);
	if (!isFinite(s[0]))
		s = float64<W>(plain(x, dx, y, dy, n));
	return s;
}

// finish stores entry (i, col), whose sum of products is s.
template <int W> static __device__ __forceinline__ void finish(const product &p, num<W> s, int i, int col)
{
	typedef arithmetic<W> A;
	num<W> f;
	if (p.plainAlpha == 0) {
#pragma unroll
		for (int t = 0; t < W; t++)
			f[t] = p.alpha[t];
		s = A::mul(f, s, s);
	}
	i64 at = i * p.c.rs + col * p.c.cs;
	if (p.plainBeta != 2 && (unsigned)(i - p.skipRow) >= (unsigned)p.skipRows) {
		num<W> old = load<W>(p.c, at);
		if (p.plainBeta == 0) {
#pragma unroll
			for (int t = 0; t < W; t++)
				f[t] = p.beta[t];
			old = A::mul(f, old, old);
		}
		s = A::add(s, old, old);
	}
	store<W>(p.c, at, A::stored(s));
}

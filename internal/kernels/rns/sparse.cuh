// Products of sparse matrices and vectors of package rns, for one size of bases.
#pragma once
#include "rnskernels.cuh"

// The formats, as in place.RNSLayout, which says where place e of row i is.
enum { CSR, JAD, ELL, DIA };

// Thread t of size threads sums the products of places t, t + size, ... of stored row i, which is
// row order[i], and leaves the sum in z(row, t). Doubles, if they are given, stand for the values.
struct sparse {
	operand values, x, z;
	u64 doubles;  // f64[]
	u64 pointers; // i64[]
	u64 columns;  // i32[]
	u64 order;    // i32[rows]
	xfloat iLo, iUp;
	u64 limit;       // of significands; 0 where all doubles have room
	int significand; // bits of limit
	int format, rows, cols, width, size;
};

// convert sets v to d as setFloat64 of package rns does: to an odd significand, rounded to
// nearest where it is above the limit.
template <int G, int R>
static __device__ __forceinline__ void convert(const group<G, R> &g, value<R> &v, double d, const sparse &s)
{
	u64 bits = (u64)__double_as_longlong(d);
	u64 m = bits & ((1ull << 52) - 1);
	int e = (int)(bits >> 52) & 0x7ff;
	if (e == 0x7ff) {
		v.setNaN();
		return;
	}
	if (e == 0)
		e = 1;
	else
		m |= 1ull << 52;
	if (m == 0) {
		v.setZero();
		return;
	}
	int k = __ffsll((i64)m) - 1;
	m >>= k;
	e += k - 1075;
	if (s.limit && m > s.limit) {
		k = max(64 - __clzll((i64)m) - s.significand, 1);
		if (m >> k >= s.limit)
			k++;
		m = ((m >> (k - 1)) + 1) >> 1;
		e += k;
	}
	const u64 *mu = (const u64 *)g.b.mu;
#pragma unroll(FLAT(R))
	for (int j = 0; j < R; j++) // modulus 1 is padding
		v.x[j] = g.m[j] == 1 ? 0 : reduced(m, g.m[j], mu[g.at(j)]);
	v.lo = product<false>(normal(__ull2double_rd(m), 0), s.iLo);
	v.up = product<true>(normal(__ull2double_ru(m), 0), s.iUp);
	v.exp = e;
	v.neg = bits >> 63 != 0;
}

template <int G, int R> static __device__ __forceinline__ void sparseRows(const base &b, const sparse &s)
{
	i64 item = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / G;
	if (item >= (i64)s.rows * s.size)
		return;
	int i = (int)(item / s.size), t = (int)(item % s.size);
	const i64 *pointers = (const i64 *)s.pointers;
	const int *columns = (const int *)s.columns;
	i64 start = s.format == CSR ? pointers[i] : 0;
	i64 n = s.format == CSR ? pointers[i + 1] - start : s.width;
	group<G, R> g(b);
	value<R> sum, v, w;
	sum.setZero();
	for (i64 e = t; e < n; e += s.size) {
		i64 at = s.format == CSR ? start + e : s.format == JAD ? pointers[e] + i : e * s.rows + i;
		if (s.format == JAD && at >= pointers[e + 1])
			break;
		i64 column = s.format == DIA ? (i64)i + columns[e] : columns[at];
		if (column < 0 || column >= s.cols)
			continue;
		if (s.doubles)
			convert(g, v, ((const double *)s.doubles)[at], s);
		else
			g.load(v, s.values.a, s.values.at(at, 0));
		if (s.format == DIA && v.isZero())
			continue;
		g.load(w, s.x.a, s.x.at(column, 0));
		g.multiply(v, w);
		g.add(sum, v);
	}
	g.store(sum, s.z.a, s.z.at(s.order ? ((const int *)s.order)[i] : i, t));
}

#define SPARSE_KERNEL(G, R)                                                                             \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) rnsSparse(const base b, const sparse s) \
	{                                                                                               \
		sparseRows<G, R>(b, s);                                                                 \
	}

#include "loops.h"

// Contracted multiplications and additions would break the error-free transformations.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

// The library's inline functions can use a fused multiply-subtract where the machine has one.
#ifdef __FMA__
#define QD_FMS(a, b, c) __builtin_fma(a, b, -(c))
#endif

#include <qd/dd_real.h>
#include <qd/qd_real.h>

template <class Real>
static void product_of(const double *a_terms, const double *b_terms, double *c_terms, long m, long k, long low, long high)
{
	const Real *a = reinterpret_cast<const Real *>(a_terms);
	const Real *b = reinterpret_cast<const Real *>(b_terms);
	Real *c = reinterpret_cast<Real *>(c_terms);
	for (long e = low; e < high; e++) {
		const Real *row = a + (e % m) * k;
		const Real *column = b + (e / m) * k;
		Real sum = 0.0;
		for (long h = 0; h < k; h++)
			sum += row[h] * column[h];
		c[e] = sum;
	}
}

template <class Real> static void sum_of(const double *x_terms, double *z_terms, long length)
{
	const Real *x = reinterpret_cast<const Real *>(x_terms);
	Real sum = 0.0;
	for (long i = 0; i < length; i++)
		sum += x[i];
	*reinterpret_cast<Real *>(z_terms) = sum;
}

static_assert(sizeof(dd_real) == 2 * sizeof(double) && sizeof(qd_real) == 4 * sizeof(double), "plain terms");

void bench_qd_product(int terms, const double *a, const double *b, double *c, long m, long k, long low, long high)
{
	if (terms == 2)
		product_of<dd_real>(a, b, c, m, k, low, high);
	else
		product_of<qd_real>(a, b, c, m, k, low, high);
}

void bench_qd_sum(int terms, const double *x, double *z, long length)
{
	if (terms == 2)
		sum_of<dd_real>(x, z, length);
	else
		sum_of<qd_real>(x, z, length);
}

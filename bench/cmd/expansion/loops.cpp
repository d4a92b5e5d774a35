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
static int elementwise_of(char op, const double *x_terms, const double *y_terms, double *z_terms, long n)
{
	const Real *x = reinterpret_cast<const Real *>(x_terms);
	const Real *y = reinterpret_cast<const Real *>(y_terms);
	Real *z = reinterpret_cast<Real *>(z_terms);
	switch (op) {
	case '+':
		for (long i = 0; i < n; i++)
			z[i] = x[i] + y[i];
		return 1;
	case '*':
		for (long i = 0; i < n; i++)
			z[i] = x[i] * y[i];
		return 1;
	case '/':
		for (long i = 0; i < n; i++)
			z[i] = x[i] / y[i];
		return 1;
	case 's':
		for (long i = 0; i < n; i++)
			z[i] = sqrt(x[i]);
		return 1;
	case 'e':
		for (long i = 0; i < n; i++)
			z[i] = exp(x[i]);
		return 1;
	case 'l':
		for (long i = 0; i < n; i++)
			z[i] = log(x[i]);
		return 1;
	case 'n':
		for (long i = 0; i < n; i++)
			z[i] = sin(x[i]);
		return 1;
	}
	return 0;
}

template <class Real>
static void product_of(const double *a_terms, const double *b_terms, double *c_terms, long n, long low, long high)
{
	const Real *a = reinterpret_cast<const Real *>(a_terms);
	const Real *b = reinterpret_cast<const Real *>(b_terms);
	Real *c = reinterpret_cast<Real *>(c_terms);
	for (long j = low; j < high; j++)
		for (long i = 0; i < n; i++) {
			Real sum = 0.0;
			for (long h = 0; h < n; h++)
				sum += a[i * n + h] * b[j * n + h];
			c[i + j * n] = sum;
		}
}

static_assert(sizeof(dd_real) == 2 * sizeof(double) && sizeof(qd_real) == 4 * sizeof(double), "plain terms");

int bench_expansion_elementwise(int terms, char op, const double *x, const double *y, double *z, long n)
{
	return terms == 2 ? elementwise_of<dd_real>(op, x, y, z, n) : elementwise_of<qd_real>(op, x, y, z, n);
}

void bench_expansion_product(int terms, const double *a, const double *b, double *c, long n, long low, long high)
{
	if (terms == 2)
		product_of<dd_real>(a, b, c, n, low, high);
	else
		product_of<qd_real>(a, b, c, n, low, high);
}

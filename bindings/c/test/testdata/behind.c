/* A BLAS for tests of libhalfulpblas, which errs on purpose. */
#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef ILP64
typedef int64_t INT;
#define NAME(name) name##64_
#else
typedef int32_t INT;
#define NAME(name) name
#endif

INT NAME(isamax_)(const INT *n, const float *x, const INT *incx) {
	if (*n < 1)
		return 0;
	INT at = 1;
	for (INT i = 1; i < *n; i++)
		if (fabsf(x[i * *incx]) > fabsf(x[(at - 1) * *incx]))
			at = i + 1;
	return at;
}

/* c becomes a number that has a digit of each argument. */
void NAME(zgemm_)(const char *ta, const char *tb, const INT *m, const INT *n, const INT *k, const double complex *alpha, const double complex *a,
	const INT *lda, const double complex *b, const INT *ldb, const double complex *beta, double complex *c, const INT *ldc, size_t la, size_t lb) {
	*c = (*ta == 'C') + 2 * (*tb == 'T') + (la == 1) + (lb == 1) + (*m == 11) + (*n == 12) + (*k == 13) + (*lda == 14) + (*ldb == 15) + (*ldc == 16) + 100 * *alpha + 1000 * *a +
		10000 * *b + 100000 * *beta + 1000000 * *c;
}

float complex NAME(cdotc_)(const INT *n, const float complex *x, const INT *incx, const float complex *y, const INT *incy) {
	return *n == 1 && *incx == 1 && *incy == 1 ? conjf(*x) * *y : 0;
}

void NAME(cblas_csscal)(INT n, float alpha, void *x, INT incx) {
	if (n == 1 && incx == 1)
		*(float complex *)x *= alpha;
}

/* 4 ulps too large */
double NAME(ddot_)(const INT *n, const double *x, const INT *incx, const double *y, const INT *incy) {
	double s = 0;
	for (INT i = 0; i < *n; i++)
		s += x[i * *incx] * y[i * *incy];
	for (int i = 0; i < 4; i++)
		s = nextafter(s, INFINITY);
	return s;
}

/* The first number is NaN; C = A B of order 2. */
void NAME(dgemm_)(const char *ta, const char *tb, const INT *m, const INT *n, const INT *k, const double *alpha, const double *a, const INT *lda,
	const double *b, const INT *ldb, const double *beta, double *c, const INT *ldc, size_t la, size_t lb) {
	(void)ta, (void)tb, (void)alpha, (void)beta, (void)la, (void)lb;
	for (INT i = 0; i < *m; i++)
		for (INT j = 0; j < *n; j++) {
			double s = 0;
			for (INT l = 0; l < *k; l++)
				s += a[i + l * *lda] * b[l + j * *ldb];
			c[i + j * *ldc] = s;
		}
	c[0] = NAN;
}

#include "vector.h"

void bench_mpfr_product(const vector *a, const vector *b, vector *c, long m, long k, long low, long high)
{
	mpfr_t term;
	mpfr_init2(term, mpfr_get_prec(c->entry[0]));
	for (long e = low; e < high; e++) {
		mpfr_t *row = a->entry + (e % m) * k;
		mpfr_t *column = b->entry + (e / m) * k;
		mpfr_ptr sum = c->entry[e];
		mpfr_set_zero(sum, 1);
		for (long h = 0; h < k; h++) {
			mpfr_mul(term, row[h], column[h], MPFR_RNDN);
			mpfr_add(sum, sum, term, MPFR_RNDN);
		}
	}
	mpfr_clear(term);
}

void bench_mpfr_sum_loop(const vector *x, vector *z)
{
	mpfr_ptr sum = z->entry[0];
	mpfr_set_zero(sum, 1);
	for (long i = 0; i < x->length; i++)
		mpfr_add(sum, sum, x->entry[i], MPFR_RNDN);
}

void bench_mpfr_sum_rounded(const vector *x, vector *z)
{
	mpfr_sum(z->entry[0], x->pointer, x->length, MPFR_RNDN);
}

void bench_mpfr_dot_rounded(const vector *x, const vector *y, vector *z)
{
	mpfr_dot(z->entry[0], x->pointer, y->pointer, x->length, MPFR_RNDN);
}

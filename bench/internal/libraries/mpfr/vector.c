#include "vector.h"

#include <gmp.h>
#include <stdlib.h>

vector *bench_mpfr_vector_new(long length, long precision)
{
	vector *x = malloc(sizeof *x);
	x->length = length;
	x->entry = malloc(length * sizeof *x->entry);
	x->pointer = malloc(length * sizeof *x->pointer);
	for (long i = 0; i < length; i++) {
		mpfr_init2(x->entry[i], precision);
		mpfr_set_zero(x->entry[i], 1);
		x->pointer[i] = x->entry[i];
	}
	return x;
}

void bench_mpfr_vector_free(vector *x)
{
	for (long i = 0; i < x->length; i++)
		mpfr_clear(x->entry[i]);
	free(x->entry);
	free(x->pointer);
	free(x);
}

void bench_mpfr_vector_set(vector *x, long i, const uint64_t *word, long words, long exponent, int negative)
{
	mpz_t z;
	mpz_roinit_n(z, (const mp_limb_t *)word, negative ? -words : words);
	mpfr_set_z_2exp(x->entry[i], z, exponent, MPFR_RNDN);
}

char *bench_mpfr_vector_text(const vector *x, long i)
{
	char *text;
	if (mpfr_asprintf(&text, "%Ra", x->entry[i]) < 0)
		abort();
	return text;
}

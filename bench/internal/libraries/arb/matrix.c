#include "matrix.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>

const char *bench_arb_library_version(void)
{
	return arb_version;
}

arb_mat_struct *bench_arb_matrix_new(long rows, long columns)
{
	arb_mat_struct *a = malloc(sizeof *a);
	arb_mat_init(a, rows, columns);
	return a;
}

void bench_arb_matrix_free(arb_mat_struct *a)
{
	arb_mat_clear(a);
	free(a);
}

void bench_arb_matrix_set(arb_mat_struct *a, long i, long j, const uint64_t *word, long words, long exponent, int negative)
{
	mpz_t z;
	arf_ptr x = arb_midref(arb_mat_entry(a, i, j));
	mpz_roinit_n(z, (const mp_limb_t *)word, negative ? -words : words);
	arf_set_mpz(x, z);
	arf_mul_2exp_si(x, x, exponent);
}

char *bench_arb_matrix_text(const arb_mat_struct *a, long i, long j)
{
	char *text;
	mpfr_t x;
	arf_srcptr mid = arb_midref(arb_mat_entry(a, i, j));
	long bits = arf_bits(mid);
	mpfr_init2(x, bits < 2 ? 2 : bits);
	arf_get_mpfr(x, mid, MPFR_RNDN);
	if (mpfr_asprintf(&text, "%Ra", x) < 0)
		abort();
	mpfr_clear(x);
	return text;
}

arf_struct *bench_arb_row_midpoints(const arb_mat_struct *a)
{
	arf_struct *x = malloc(arb_mat_ncols(a) * sizeof *x);
	for (long j = 0; j < arb_mat_ncols(a); j++)
		x[j] = *arb_midref(arb_mat_entry(a, 0, j));
	return x;
}

void bench_arb_row_midpoints_free(arf_struct *x)
{
	free(x);
}

#include "residues.h"

#include <cblas.h>
#include <mpfr.h>
#include <stdlib.h>

const char *syrk_arb_version(void)
{
	return arb_version;
}

/*
 * Balanced residues are at most p/2 in magnitude, so that sums of rows products are exact where
 * rows (p/2)^2 <= 2^53. The primes' product exceeds twice the largest |Q| <= rows 2^(2 bits).
 */
static void choose_primes(syrk_problem *s)
{
	mp_limb_t p = 2 * n_sqrt((UWORD(1) << 53) / s->rows);
	double have = 0, need = 2.0 * s->bits + FLINT_BIT_COUNT(s->rows) + 1;
	long most = s->bits / 4 + 64;
	s->prime = malloc(most * sizeof *s->prime);
	while (have <= need && s->primes < most) {
		for (p--; !n_is_prime(p); p--)
			;
		s->prime[s->primes++] = p;
		have += FLINT_BIT_COUNT(p) - 1;
	}
	if (have <= need)
		abort();
	fmpz_comb_init(s->comb, s->prime, s->primes);
}

syrk_problem *syrk_new(long rows, long cols, long bits, long chunk)
{
	syrk_problem *s = calloc(1, sizeof *s);
	s->rows = rows;
	s->cols = cols;
	s->bits = bits;
	s->chunk = chunk < rows ? chunk : rows;
	arb_mat_init(s->p, rows, cols);
	arb_mat_init(s->transpose, cols, rows);
	arb_mat_init(s->product, cols, cols);
	choose_primes(s);
	s->exponent = malloc(cols * sizeof *s->exponent);
	s->residue = malloc(sizeof(double) * s->primes * s->chunk * cols);
	s->sum = malloc(sizeof(double) * s->primes * cols * cols);
	s->q = malloc(sizeof(arf_struct) * cols * cols);
	if (!s->exponent || !s->residue || !s->sum || !s->q)
		abort();
	for (long i = 0; i < cols * cols; i++)
		arf_init(s->q + i);
	return s;
}

void syrk_free(syrk_problem *s)
{
	for (long i = 0; i < s->cols * s->cols; i++)
		arf_clear(s->q + i);
	arb_mat_clear(s->p);
	arb_mat_clear(s->transpose);
	arb_mat_clear(s->product);
	fmpz_comb_clear(s->comb);
	free(s->prime);
	free(s->exponent);
	free(s->residue);
	free(s->sum);
	free(s->q);
	free(s);
}

void syrk_set(syrk_problem *s, long i, long j, const mp_limb_t *word, long words, long exponent, int negative)
{
	mpz_t z;
	arf_ptr x = arb_midref(arb_mat_entry(s->p, i, j));
	mpz_roinit_n(z, word, negative ? -words : words);
	arf_set_mpz(x, z);
	arf_mul_2exp_si(x, x, exponent);
}

void syrk_transpose(syrk_problem *s)
{
	arb_mat_transpose(s->transpose, s->p);
}

void syrk_exponents(syrk_problem *s)
{
	for (long j = 0; j < s->cols; j++) {
		s->exponent[j] = LONG_MIN;
		for (long i = 0; i < s->rows; i++) {
			arf_srcptr x = arb_midref(arb_mat_entry(s->p, i, j));
			if (!arf_is_zero(x) && arf_abs_bound_lt_2exp_si(x) > s->exponent[j])
				s->exponent[j] = arf_abs_bound_lt_2exp_si(x);
		}
	}
}

void syrk_residues(syrk_problem *s, long first, long low, long high)
{
	fmpz_comb_temp_t temp;
	fmpz_t z;
	mp_limb_t *r = malloc(s->primes * sizeof *r);
	fmpz_init(z);
	fmpz_comb_temp_init(temp, s->comb);
	for (long i = low; i < high; i++)
		for (long j = 0; j < s->cols; j++) {
			double *to = s->residue + (i - first) * s->cols + j;
			arf_get_fmpz_fixed_si(z, arb_midref(arb_mat_entry(s->p, i, j)), s->exponent[j] - s->bits);
			fmpz_multi_mod_ui(r, z, s->comb, temp);
			for (long k = 0; k < s->primes; k++) {
				mp_limb_t p = s->prime[k];
				to[k * s->chunk * s->cols] = r[k] > p / 2 ? -(double)(p - r[k]) : (double)r[k];
			}
		}
	fmpz_comb_temp_clear(temp);
	fmpz_clear(z);
	free(r);
}

void syrk_dsyrk(syrk_problem *s, long rows, int begin, long low, long high)
{
	for (long k = low; k < high; k++)
		cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, s->cols, rows, 1, s->residue + k * s->chunk * s->cols, s->cols,
			begin ? 0 : 1, s->sum + k * s->cols * s->cols, s->cols);
}

void syrk_restore(syrk_problem *s, long first, long step)
{
	fmpz_comb_temp_t temp;
	fmpz_t z, e;
	mp_limb_t *r = malloc(s->primes * sizeof *r);
	fmpz_init(z);
	fmpz_init(e);
	fmpz_comb_temp_init(temp, s->comb);
	for (long i = first; i < s->cols; i += step)
		for (long j = 0; j <= i; j++) {
			for (long k = 0; k < s->primes; k++) {
				slong x = (slong)s->sum[(k * s->cols + i) * s->cols + j] % (slong)s->prime[k];
				r[k] = x < 0 ? x + s->prime[k] : x;
			}
			fmpz_multi_CRT_ui(z, r, s->comb, temp, 1);
			fmpz_set_si(e, s->exponent[i] + s->exponent[j] - 2 * s->bits);
			arf_set_fmpz_2exp(s->q + i * s->cols + j, z, e);
			arf_set_round(s->q + i * s->cols + j, s->q + i * s->cols + j, s->bits, ARF_RND_NEAR);
		}
	fmpz_comb_temp_clear(temp);
	fmpz_clear(z);
	fmpz_clear(e);
	free(r);
}

void syrk_arb(syrk_problem *s)
{
	arb_mat_mul(s->product, s->transpose, s->p, s->bits);
}

char *syrk_text(syrk_problem *s, int arb, long i, long j)
{
	char *text;
	mpfr_t x;
	arf_srcptr q = arb ? arb_midref(arb_mat_entry(s->product, i, j)) : s->q + i * s->cols + j;
	mpfr_init2(x, s->bits);
	arf_get_mpfr(x, q, MPFR_RNDN);
	if (mpfr_asprintf(&text, "%Ra", x) < 0)
		abort();
	mpfr_clear(x);
	return text;
}

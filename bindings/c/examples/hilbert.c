/*
 * Solves H x = b for the Hilbert matrix of order 12, whose condition number is 2e16, at 300 bits,
 * and takes the solution to MPFR without loss.
 *
 *   cc hilbert.c $(pkg-config --cflags --libs halfulp) -lmpfr -lgmp -o hilbert
 */
#include <halfulp.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 12 };

static void check(int status) {
	if (status != HALFULP_OK) {
		fprintf(stderr, "%s\n", halfulp_last_error());
		exit(1);
	}
}

/* to_mpfr sets z to the number of the 1 x 1 matrix m. z has the precision of m. */
static void to_mpfr(mpfr_t z, halfulp_matrix m) {
	int64_t count, exponent;
	int8_t sign;
	uint8_t class;
	check(halfulp_matrix_limb_count(m, &count));
	uint64_t *limbs = malloc(count * sizeof *limbs);
	check(halfulp_matrix_get_limbs(m, limbs, &exponent, &sign, &class, 0, 0));
	switch (class) {
	case 0:
		mpfr_set_zero(z, sign);
		break;
	case 1: {
		/* sign S 2^(exponent - 64 count), S the integer of the limbs */
		mpz_t s;
		mpz_init(s);
		mpz_import(s, count, -1, sizeof *limbs, 0, 0, limbs);
		mpfr_set_z_2exp(z, s, exponent - 64 * count, MPFR_RNDN);
		mpfr_setsign(z, z, sign < 0, MPFR_RNDN);
		mpz_clear(s);
		break;
	}
	case 2:
		mpfr_set_inf(z, sign);
		break;
	default:
		mpfr_set_nan(z);
	}
	free(limbs);
}

int main(void) {
	halfulp_matrix h, b, x, entry;
	double ones[N];
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	check(halfulp_hilbert(N, "mp:300", &h));
	check(halfulp_matrix_wrap_f64(ones, N, 1, 1, N, &b));
	check(halfulp_solve(h, b, "mp:300", 0, &x));
	for (int i = 0; i < N; i++) {
		mpfr_t z;
		mpfr_init2(z, 300);
		check(halfulp_matrix_slice(x, i, i + 1, 0, 1, &entry));
		to_mpfr(z, entry);
		mpfr_printf("%.40Rg\n", z);
		mpfr_clear(z);
		halfulp_free(entry);
	}
	halfulp_free(h);
	halfulp_free(b);
	halfulp_free(x);
	mpfr_free_cache();
	return 0;
}

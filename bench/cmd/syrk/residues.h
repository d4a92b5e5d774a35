#include <arb_mat.h>

/*
 * Q = P^T P as bigint_syrk of SDPB does it: columns of P in fixed point, residues modulo primes
 * as doubles, cblas_dsyrk for each prime, Chinese remainders by FLINT. Written anew after its
 * description; scaled by powers of two, not by norms of columns, which is less work.
 */
typedef struct {
	long rows, cols, bits, chunk; /* chunk rows of P are held as residues at a time */
	arb_mat_t p, transpose, product;
	arf_struct *q; /* the lower triangle of cols x cols */
	long primes;
	mp_limb_t *prime;
	fmpz_comb_t comb;
	slong *exponent; /* of columns: |p| < 2^exponent */
	double *residue; /* of chunk x cols numbers, prime by prime */
	double *sum;     /* of cols x cols numbers, prime by prime */
} syrk_problem;

syrk_problem *syrk_new(long rows, long cols, long bits, long chunk);
void syrk_free(syrk_problem *s);
void syrk_set(syrk_problem *s, long i, long j, const mp_limb_t *word, long words, long exponent, int negative);
/* after all entries are set: what Arb multiplies by */
void syrk_transpose(syrk_problem *s);

/*
 * The steps: exponents of columns; residues of rows low to high-1 of P, in the chunk that begins at
 * row first; products modulo primes low to high-1, of a chunk of so many rows; rows first,
 * first+step, ... of Q.
 */
void syrk_exponents(syrk_problem *s);
void syrk_residues(syrk_problem *s, long first, long low, long high);
void syrk_dsyrk(syrk_problem *s, long rows, int begin, long low, long high);
void syrk_restore(syrk_problem *s, long first, long step);

/* Q by arb_mat_mul. */
void syrk_arb(syrk_problem *s);

/* Entry i, j of Q in hexadecimal, for mpfr_free_str. */
char *syrk_text(syrk_problem *s, int arb, long i, long j);

const char *syrk_arb_version(void);

#include <stdint.h>
#include <mpfr.h>

/*
 * An array of numbers of one precision, with the array of pointers that mpfr_sum and mpfr_dot ask
 * for.
 */
typedef struct {
	long length;
	mpfr_t *entry;
	mpfr_ptr *pointer;
} vector;

vector *bench_mpfr_vector_new(long length, long precision);
void bench_mpfr_vector_free(vector *x);

/* x[i] = (-1)^negative * word * 2^exponent */
void bench_mpfr_vector_set(vector *x, long i, const uint64_t *word, long words, long exponent, int negative);

/* x[i] in hexadecimal, to be freed by the caller with mpfr_free_str */
char *bench_mpfr_vector_text(const vector *x, long i);

/*
 * c = A B for the entries low to high - 1 of the column-major m x n matrix c; a holds A by rows, b
 * holds B by columns.
 */
void bench_mpfr_product(const vector *a, const vector *b, vector *c, long m, long k, long low, long high);

/* z[0] = the sum of x, one rounding a term */
void bench_mpfr_sum_loop(const vector *x, vector *z);

/* z[0] = the sum of x, one rounding in all */
void bench_mpfr_sum_rounded(const vector *x, vector *z);

/* z[0] = the dot product of x and y, one rounding in all */
void bench_mpfr_dot_rounded(const vector *x, const vector *y, vector *z);

#include <stdint.h>
#include <arb_mat.h>

/* arb_version is a variable, which cgo cannot take as a string */
const char *bench_arb_library_version(void);

arb_mat_struct *bench_arb_matrix_new(long rows, long columns);
void bench_arb_matrix_free(arb_mat_struct *a);

/* a[i][j] = (-1)^negative * word * 2^exponent, with radius 0 */
void bench_arb_matrix_set(arb_mat_struct *a, long i, long j, const uint64_t *word, long words, long exponent, int negative);

/* the midpoint of a[i][j] in hexadecimal, to be freed by the caller with mpfr_free_str */
char *bench_arb_matrix_text(const arb_mat_struct *a, long i, long j);

/* The first columns columns of c = a b, with error bounds. */
void bench_arb_multiply(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long columns, long precision);

/* The same without error bounds. */
void bench_arb_multiply_approximately(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long columns, long precision);

/* c[i][0] = row i of a times b for low <= i < high, with error bounds; b has one column. */
void bench_arb_multiply_vector(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long low, long high, long precision);

/* The same without error bounds. */
void bench_arb_multiply_vector_approximately(
	arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long low, long high, long precision);

/*
 * The midpoints of a matrix of one row, as arf_sum wants them: shallow copies, valid as long as a
 * is unchanged.
 */
arf_struct *bench_arb_row_midpoints(const arb_mat_struct *a);
void bench_arb_row_midpoints_free(arf_struct *x);

/* c[0][0] = the sum of x, one rounding in all */
void bench_arb_sum_rounded(arb_mat_struct *c, const arf_struct *x, long length, long precision);

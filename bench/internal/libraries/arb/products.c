#include "matrix.h"

typedef void (*matrix_product)(arb_mat_t, const arb_mat_t, const arb_mat_t, slong);
typedef void (*dot_product)(arb_t, const arb_t, int, arb_srcptr, slong, arb_srcptr, slong, slong, slong);

static void multiply_by(
	matrix_product by, arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long columns, long precision)
{
	arb_mat_t left_of_b, left_of_c;
	arb_mat_window_init(left_of_b, b, 0, 0, arb_mat_nrows(b), columns);
	arb_mat_window_init(left_of_c, c, 0, 0, arb_mat_nrows(c), columns);
	by(left_of_c, a, left_of_b, precision);
	arb_mat_window_clear(left_of_c);
	arb_mat_window_clear(left_of_b);
}

void bench_arb_multiply(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long columns, long precision)
{
	multiply_by(arb_mat_mul, c, a, b, columns, precision);
}

void bench_arb_multiply_approximately(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long columns, long precision)
{
	multiply_by(arb_mat_approx_mul, c, a, b, columns, precision);
}

static void multiply_vector_by(dot_product dot, arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long low,
	long high, long precision)
{
	for (long i = low; i < high; i++)
		dot(arb_mat_entry(c, i, 0), NULL, 0, a->rows[i], 1, b->entries, 1, arb_mat_ncols(a), precision);
}

void bench_arb_multiply_vector(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long low, long high, long precision)
{
	multiply_vector_by(arb_dot, c, a, b, low, high, precision);
}

void bench_arb_multiply_vector_approximately(
	arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b, long low, long high, long precision)
{
	multiply_vector_by(arb_approx_dot, c, a, b, low, high, precision);
}

void bench_arb_sum_rounded(arb_mat_struct *c, const arf_struct *x, long length, long precision)
{
	arf_sum(arb_midref(arb_mat_entry(c, 0, 0)), x, length, precision, ARF_RND_NEAR);
}

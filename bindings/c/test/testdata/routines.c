/* Routines: results that are known, mixed formats, errors. */
#include "check.h"

static void products(void) {
	double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, z[4];
	halfulp_matrix A, B, C, x;
	OK(halfulp_matrix_wrap_f64(a, 2, 2, 2, 1, &A));
	OK(halfulp_matrix_from_f64(b, 2, 2, 2, 1, "qd", &B));
	OK(halfulp_matmul(A, B, NULL, 0, &C));
	OK(halfulp_matrix_get_f64(C, z, 2, 1));
	CHECK(z[0] == 19 && z[1] == 22 && z[2] == 43 && z[3] == 50);
	halfulp_scalar one, minus;
	OK(halfulp_scalar_from_f64(1, &one));
	OK(halfulp_scalar_from_f64(-1, &minus));
	OK(halfulp_gemm('n', 'T', minus, A, A, one, C, 0));
	OK(halfulp_matrix_get_f64(C, z, 2, 1));
	CHECK(z[0] == 14 && z[1] == 11 && z[2] == 32 && z[3] == 25);
	OK(halfulp_matrix_slice(B, 1, 2, 0, 2, &x));
	halfulp_matrix y;
	OK(halfulp_matrix_new("mp:100", 2, 1, "", &y));
	OK(halfulp_gemv('N', one, A, x, one, y, 0));
	OK(halfulp_matrix_get_f64(y, z, 1, 1));
	CHECK(z[0] == 23 && z[1] == 53);
	halfulp_matrix wide;
	OK(halfulp_matrix_new(NULL, 3, 2, NULL, &wide));
	FAILS(HALFULP_MISUSE, "columns of a", halfulp_matmul(A, wide, NULL, 0, &C));
	FAILS(HALFULP_MISUSE, "shapes", halfulp_gemm('N', 'N', one, A, wide, one, C, 0));
	free_handle(wide);
	free_handle(A);
	free_handle(B);
	free_handle(C);
	free_handle(x);
	free_handle(y);
	free_handle(one);
	free_handle(minus);
}

static void sums(void) {
	double x[3] = {1e100, 1, -1e100};
	halfulp_matrix v;
	halfulp_scalar s;
	OK(halfulp_matrix_wrap_f64(x, 3, 1, 1, 1, &v));
	OK(halfulp_sum(v, NULL, 0, &s));
	EQUAL(value(s), 1);
	OK(halfulp_nrm2(v, "f32", 0, &s));
	EQUAL(value(s), INFINITY); /* beyond float32 */
	OK(halfulp_dot(v, v, "mp:53", 0, &s));
	EQUAL(value(s), 2e200);
	x[1] = NAN;
	OK(halfulp_sum(v, NULL, 0, &s));
	EQUAL(value(s), NAN);
	free_handle(v);
}

static void systems(void) {
	halfulp_matrix h, one, x;
	OK(halfulp_hilbert(12, "mp:200", &h));
	OK(halfulp_identity(12, NULL, &one));
	OK(halfulp_inverse(h, "f64", 0, &x));
	halfulp_scalar s;
	OK(halfulp_matrix_entry(x, 0, 0, &s));
	EQUAL(value(s), 144);
	halfulp_matrix y;
	OK(halfulp_solve(h, one, "f64", 0, &y));
	int equal;
	OK(halfulp_matrix_same(x, y, &equal));
	CHECK(equal);
	OK(halfulp_det(h, "f64", 0, &s));
	EQUAL(value(s), 2.6377806512535473e-78);
	free_handle(x);
	free_handle(y);
	OK(halfulp_matrix_new(NULL, 12, 12, NULL, &x));
	FAILS(HALFULP_SINGULAR, "singular", halfulp_solve(x, one, NULL, 0, &y));
	OK(halfulp_scalar_from_f64(INFINITY, &s));
	OK(halfulp_matrix_set_entry(x, 0, 0, s));
	free_handle(s);
	FAILS(HALFULP_NOT_FINITE, "infinity or NaN", halfulp_det(x, NULL, 0, &s));
	halfulp_matrix wide;
	OK(halfulp_matrix_slice(x, 0, 11, 0, 12, &wide));
	FAILS(HALFULP_MISUSE, "11 x 12; a square", halfulp_inverse(wide, NULL, 0, &y));
	free_handle(wide);
	free_handle(x);
	free_handle(h);
	free_handle(one);
}

int main(void) {
	products();
	sums();
	systems();
	return finished();
}

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
	halfulp_matrix c, across;
	OK(halfulp_matrix_transpose(v, &across));
	OK(halfulp_cumsum(across, "dd", 0, &c));
	OK(halfulp_matrix_entry(c, 0, 2, &s));
	EQUAL(value(s), 1);
	free_handle(c);
	free_handle(across);
	OK(halfulp_hilbert(2, NULL, &c));
	OK(halfulp_trace(c, NULL, 0, &s));
	EQUAL(value(s), 1 + 1.0 / 3);
	FAILS(HALFULP_MISUSE, "a vector is", halfulp_cumsum(c, NULL, 0, &across));
	FAILS(HALFULP_MISUSE, "square", halfulp_trace(v, NULL, 0, &s));
	free_handle(c);
	OK(halfulp_nrm2(v, "f32", 0, &s));
	EQUAL(value(s), INFINITY); /* beyond float32 */
	OK(halfulp_dot(v, v, "mp:53", 0, &s));
	EQUAL(value(s), 2e200);
	x[1] = NAN;
	OK(halfulp_sum(v, NULL, 0, &s));
	EQUAL(value(s), NAN);
	free_handle(v);
}

/* Systems that share the memory of arrays of C. */
static void systems_of_arrays(void) {
	double a[] = {0, 3, 2, 1, 0, 4, 5, 0, 9, 9, 9, 9}; /* columns of a 3 x 3 matrix, 4 apart */
	double b[] = {1, 4, 2, 5, 3, 6}, x[] = {7, 7, 7, 7, 7, 7, 7}, same[6];
	halfulp_matrix m, r, y;
	OK(halfulp_matrix_from_f64(a, 3, 3, 1, 4, NULL, &m));
	OK(halfulp_matrix_from_f64(b, 3, 2, 2, 1, NULL, &r));
	OK(halfulp_solve(m, r, NULL, 0, &y));
	OK(halfulp_matrix_get_f64(y, same, 1, 3));
	OK(halfulp_solve_f64(3, 2, a, 1, 4, b, 2, 1, x, 1, 3, 0));
	for (int i = 0; i < 6; i++)
		EQUAL(x[i], same[i]);
	EQUAL(x[6], 7);
	OK(halfulp_solve_f64(3, 2, a, 1, 4, b, 2, 1, b, 2, 1, 0)); /* in place */
	for (int i = 0; i < 6; i++)
		EQUAL(b[i], same[i / 2 + i % 2 * 3]);
	OK(halfulp_solve_f64(0, 2, a, 1, 1, b, 2, 1, x, 2, 1, 0));
	FAILS(HALFULP_MISUSE, "", halfulp_solve_f64(-1, 2, a, 1, 4, b, 2, 1, x, 1, 3, 0));
	FAILS(HALFULP_MISUSE, "", halfulp_solve_f64(3, 2, a, 2, 5, b, 2, 1, x, 1, 3, 0));
	FAILS(HALFULP_MISUSE, "", halfulp_solve_f64(3, 2, a, 1, 4, b, 2, 1, NULL, 1, 3, 0));
	a[0] = a[1] = a[2] = 0;
	FAILS(HALFULP_SINGULAR, "singular", halfulp_solve_f64(3, 2, a, 1, 4, b, 2, 1, x, 1, 3, 0));
	EQUAL(x[0], same[0]);
	free_handle(m);
	free_handle(r);
	free_handle(y);
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

/* entry returns an entry as a double. */
static double entry(halfulp_matrix m, int64_t i, int64_t j) {
	halfulp_scalar s;
	OK(halfulp_matrix_entry(m, i, j, &s));
	return value(s);
}

static halfulp_matrix filled(int64_t rows, int64_t cols, const double *data) {
	halfulp_matrix m;
	OK(halfulp_matrix_from_f64(data, rows, cols, cols, 1, NULL, &m));
	return m;
}
#define MATRIX(rows, cols, ...) filled(rows, cols, (const double[]){__VA_ARGS__})

static halfulp_scalar scalar(double x) {
	halfulp_scalar s;
	OK(halfulp_scalar_from_f64(x, &s));
	return s;
}

static void level1(void) {
	halfulp_matrix x = MATRIX(3, 1, 3, -4, 0), y = MATRIX(1, 3, 1, 1, 1);
	halfulp_scalar s, two = scalar(2), one = scalar(1), zero = scalar(0);
	OK(halfulp_asum(x, NULL, 0, &s));
	EQUAL(value(s), 7);
	OK(halfulp_nrm2(x, NULL, 0, &s));
	EQUAL(value(s), 5);
	OK(halfulp_mean(x, NULL, 0, &s));
	EQUAL(value(s), -1.0 / 3);
	OK(halfulp_stddev(x, NULL, 0, &s));
	EQUAL(value(s), 0x1.c1856f1e69e8p+1); /* sqrt(37/3) */
	OK(halfulp_autocorr1(x, NULL, 0, &s));
	EQUAL(value(s), -121.0 / 222);
	int64_t i;
	OK(halfulp_iamax(x, 0, &i));
	CHECK(i == 1);
	OK(halfulp_axpy(two, x, y, 0));
	CHECK(entry(y, 0, 0) == 7 && entry(y, 0, 1) == -7 && entry(y, 0, 2) == 1);
	OK(halfulp_scal(two, x, 0));
	CHECK(entry(x, 1, 0) == -8);
	OK(halfulp_swap(x, y, 0));
	CHECK(entry(x, 2, 0) == 1 && entry(y, 0, 0) == 6);
	OK(halfulp_copy(x, y, 0));
	CHECK(entry(y, 0, 1) == -7);
	OK(halfulp_rot(x, y, zero, one, 0));
	CHECK(entry(x, 0, 0) == 7 && entry(y, 0, 0) == -7);
	OK(halfulp_rotm(x, y, 0, two, two, one, two, 0));
	CHECK(entry(x, 0, 0) == 0 && entry(y, 0, 0) == 7);
	FAILS(HALFULP_MISUSE, "", halfulp_rotm(x, y, 5, two, two, one, two, 0));
	halfulp_record r;
	halfulp_scalar a = scalar(3), b = scalar(4);
	OK(halfulp_rotg(a, b, NULL, 0, &r));
	OK(halfulp_record_scalar(r, "r", &s));
	EQUAL(value(s), 5);
	OK(halfulp_record_scalar(r, "c", &s));
	EQUAL(value(s), 0.6);
	FAILS(HALFULP_MISUSE, "is scalar", halfulp_record_integer(r, "c", &i));
	FAILS(HALFULP_MISUSE, "no \"C\"", halfulp_record_integer(r, "C", &i));
	free_handle(r);
	OK(halfulp_rotmg(one, one, a, b, NULL, 0, &r));
	OK(halfulp_record_integer(r, "flag", &i));
	CHECK(i == 1);
	OK(halfulp_record_scalar(r, "h11", &s));
	EQUAL(value(s), 0.75);
	free_handle(r);
	halfulp_scalar all[] = {two, one, zero, a, b};
	for (int k = 0; k < 5; k++)
		free_handle(all[k]);
	free_handle(x);
	free_handle(y);
}

static void level2(void) {
	halfulp_matrix a = MATRIX(2, 2, 1, 2, 3, 4), x = MATRIX(2, 1, 1, 10), y = MATRIX(2, 1, 0, 0);
	halfulp_scalar one = scalar(1), zero = scalar(0);
	OK(halfulp_gemv_to('T', one, a, x, zero, 0, y, 0));
	CHECK(entry(y, 0, 0) == 31 && entry(y, 1, 0) == 42);
	FAILS(HALFULP_MISUSE, "", halfulp_gemv_to('T', one, a, x, one, 0, y, 0));
	OK(halfulp_symv('U', one, a, x, zero, y, 0));
	CHECK(entry(y, 0, 0) == 21 && entry(y, 1, 0) == 42);
	halfulp_matrix band = MATRIX(2, 2, 0, 2, 1, 4); /* ku = 1, kl = 0 */
	OK(halfulp_gbmv('N', 2, 0, 1, one, band, x, zero, y, 0));
	CHECK(entry(y, 0, 0) == 21 && entry(y, 1, 0) == 40);
	OK(halfulp_sbmv('U', 1, one, band, x, zero, y, 0));
	CHECK(entry(y, 0, 0) == 21 && entry(y, 1, 0) == 42);
	halfulp_matrix packed = MATRIX(1, 3, 1, 2, 4);
	OK(halfulp_spmv('U', one, packed, x, zero, y, 0));
	CHECK(entry(y, 0, 0) == 21 && entry(y, 1, 0) == 42);
	OK(halfulp_trmv('U', 'N', 'U', a, y, 0));
	CHECK(entry(y, 0, 0) == 105 && entry(y, 1, 0) == 42);
	OK(halfulp_trsv('U', 'N', 'U', a, y, 0));
	CHECK(entry(y, 0, 0) == 21 && entry(y, 1, 0) == 42);
	OK(halfulp_ger(one, x, y, a, 0));
	CHECK(entry(a, 0, 0) == 22 && entry(a, 1, 0) == 213);
	OK(halfulp_syr('L', one, x, a, 0));
	CHECK(entry(a, 0, 1) == 44 && entry(a, 1, 1) == 524);
	OK(halfulp_syr2('U', one, x, y, a, 0));
	CHECK(entry(a, 0, 1) == 44 + 42 + 210 && entry(a, 1, 0) == 223);
	halfulp_matrix all[] = {a, x, y, band, packed, one, zero};
	for (int k = 0; k < 7; k++)
		free_handle(all[k]);
}

static void level3(void) {
	halfulp_matrix a = MATRIX(2, 2, 1, 2, 3, 4), b = MATRIX(2, 2, 1, 0, 0, 1), c = MATRIX(2, 2, 0, 0, 0, 0), d;
	halfulp_scalar one = scalar(1), zero = scalar(0);
	OK(halfulp_matrix_new("mp:300", 2, 2, NULL, &d));
	OK(halfulp_gemm_to('N', 'T', one, a, a, zero, 0, d, 0));
	CHECK(entry(d, 0, 0) == 5 && entry(d, 1, 0) == 11 && entry(d, 1, 1) == 25);
	OK(halfulp_symm('R', 'L', one, a, b, zero, c, 0));
	CHECK(entry(c, 0, 1) == 3 && entry(c, 1, 0) == 3);
	OK(halfulp_symm_to('L', 'U', one, a, b, zero, 0, d, 0));
	CHECK(entry(d, 1, 0) == 2);
	OK(halfulp_syrk('U', 'T', one, a, zero, c, 0));
	CHECK(entry(c, 0, 1) == 14 && entry(c, 1, 0) == 3);
	OK(halfulp_syr2k('L', 'N', one, a, b, zero, c, 0));
	CHECK(entry(c, 1, 0) == 5 && entry(c, 0, 1) == 14);
	OK(halfulp_syr2k_to('L', 'N', one, a, b, zero, 0, d, 0));
	CHECK(entry(d, 1, 1) == 8);
	OK(halfulp_trmm('L', 'U', 'N', 'N', one, a, b, 0));
	CHECK(entry(b, 0, 1) == 2 && entry(b, 1, 1) == 4);
	OK(halfulp_trmm_to('R', 'L', 'N', 'N', one, a, b, c, 0));
	CHECK(entry(c, 0, 0) == 7 && entry(c, 1, 1) == 16);
	OK(halfulp_trsm('L', 'U', 'N', 'N', one, a, b, 0));
	CHECK(entry(b, 0, 0) == 1 && entry(b, 0, 1) == 0);
	OK(halfulp_trsm_to('L', 'L', 'N', 'U', one, a, b, d, 0));
	CHECK(entry(d, 1, 0) == -3);
	halfulp_matrix all[] = {a, b, c, d, one, zero};
	for (int k = 0; k < 6; k++)
		free_handle(all[k]);
}

static void factors(void) {
	halfulp_matrix a = MATRIX(3, 3, 4, 2, 0, 2, 10, 3, 0, 3, 5), b = MATRIX(3, 1, 1, 2, 3), want, x;
	OK(halfulp_solve(a, b, "qd", 0, &want));
	halfulp_record r[5];
	OK(halfulp_lu(a, NULL, 0, &r[0]));
	OK(halfulp_cholesky(a, NULL, 0, &r[1]));
	OK(halfulp_qr(a, 0, NULL, 0, &r[2]));
	OK(halfulp_qr(a, 1, NULL, 0, &r[3]));
	OK(halfulp_ldlt(a, NULL, 0, &r[4]));
	const char *names[] = {"P integers\nL matrix\nU matrix\n", "L matrix\n", "Q matrix\nR matrix\n",
		"P integers\nQ matrix\nR matrix\n", "P integers\nL matrix\nD matrix\nblocks integers\n"};
	for (int k = 0; k < 5; k++) {
		char *text;
		OK(halfulp_record_names(r[k], &text));
		CHECK(!strcmp(text, names[k]));
		halfulp_text_free(text);
		OK(halfulp_factors_solve(r[k], b, "qd", 0, &x));
		int equal;
		OK(halfulp_matrix_same(x, want, &equal));
		CHECK(equal);
		free_handle(x);
		halfulp_matrix one = MATRIX(1, 1, 1);
		FAILS(HALFULP_MISUSE, "as many rows", halfulp_factors_solve(r[k], one, "qd", 0, &x));
		free_handle(one);
	}
	int64_t p[3], count;
	OK(halfulp_record_integers(r[3], "P", p, 2, &count));
	CHECK(count == 3 && p[0] == 1);
	halfulp_matrix l;
	OK(halfulp_record_matrix(r[1], "L", &l));
	for (int k = 0; k < 5; k++)
		free_handle(r[k]);
	EQUAL(entry(l, 1, 1), 3);
	free_handle(l);
	halfulp_matrix minus = MATRIX(2, 2, 1, 2, 2, 1);
	FAILS(HALFULP_NOT_POSITIVE_DEFINITE, "", halfulp_cholesky(minus, NULL, 0, &r[0]));
	halfulp_matrix lop = MATRIX(2, 2, 1, 2, 3, 1);
	FAILS(HALFULP_MISUSE, "symmetric", halfulp_cholesky(lop, NULL, 0, &r[0]));
	halfulp_matrix all[] = {a, b, want, minus, lop};
	for (int k = 0; k < 5; k++)
		free_handle(all[k]);
}

static void eigenvalues(void) {
	halfulp_matrix a = MATRIX(2, 2, 2, 7, 1, 2), wide = MATRIX(1, 2, 1, 2), bad = MATRIX(2, 2, 1, 2, NAN, 3), w, v;
	halfulp_record r;
	char *text;
	OK(halfulp_eigh('L', a, 1, 0, -1, 0, 0, NULL, 0, &r));
	OK(halfulp_record_names(r, &text));
	CHECK(!strcmp(text, "w matrix\nV matrix\nfirst integer\nclusters integers\nundecided integer\n"));
	halfulp_text_free(text);
	OK(halfulp_record_matrix(r, "w", &w));
	OK(halfulp_record_matrix(r, "V", &v));
	free_handle(r);
	EQUAL(entry(w, 0, 0), 1);
	EQUAL(entry(w, 1, 0), 3);
	EQUAL(entry(v, 0, 0), 0x1.6a09e667f3bcdp-1);
	EQUAL(entry(v, 1, 0), -0x1.6a09e667f3bcdp-1);
	free_handle(w);
	free_handle(v);
	// the other triangle; eigenvalues alone, by position and by value
	int64_t first, count;
	for (int k = 0; k < 2; k++) {
		halfulp_scalar low = scalar(k ? -5 : -INFINITY), high = scalar(9);
		OK(halfulp_eigh('U', a, 0, k ? 0 : 1, k ? -1 : 1, low, high, "mp:100", 0, &r));
		OK(halfulp_record_matrix(r, "w", &w));
		OK(halfulp_record_integer(r, "first", &first));
		OK(halfulp_record_integers(r, "clusters", NULL, 0, &count));
		FAILS(HALFULP_MISUSE, "no \"V\"", halfulp_record_matrix(r, "V", &v));
		CHECK(first == 1 && count == 0);
		EQUAL(entry(w, 0, 0), 9);
		free_handle(low);
		free_handle(high);
		free_handle(w);
		free_handle(r);
	}
	halfulp_scalar nan = scalar(NAN);
	FAILS(HALFULP_MISUSE, "no eigenvalues 1 to 2 of 2", halfulp_eigh('L', a, 1, 1, 2, 0, 0, NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "square", halfulp_eigh('L', wide, 1, 0, -1, 0, 0, NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "compared", halfulp_eigh('L', a, 1, 0, -1, nan, 0, NULL, 0, &r));
	FAILS(HALFULP_NOT_FINITE, "", halfulp_eigh('L', bad, 1, 0, -1, 0, 0, NULL, 0, &r));
	OK(halfulp_eigh('U', bad, 0, 0, -1, 0, 0, NULL, 0, &r)); // the triangle with NaN is not read
	free_handle(r);
	free_handle(nan);
	free_handle(a);
	free_handle(wide);
	free_handle(bad);
}

/* part returns an entry of a matrix of a record. */
static double part(halfulp_record r, const char *name, int64_t i, int64_t j) {
	halfulp_matrix m;
	OK(halfulp_record_matrix(r, name, &m));
	double x = entry(m, i, j);
	free_handle(m);
	return x;
}

static void shape(halfulp_record r, const char *name, int64_t rows, int64_t cols) {
	halfulp_matrix m;
	int64_t have_rows, have_cols;
	OK(halfulp_record_matrix(r, name, &m));
	OK(halfulp_matrix_shape(m, &have_rows, &have_cols));
	if (have_rows != rows || have_cols != cols) {
		printf("%s is %d x %d\n", name, (int)have_rows, (int)have_cols);
		failures++;
	}
	free_handle(m);
}

static void general_eigenvalues(void) {
	halfulp_matrix a = MATRIX(2, 2, 1, NAN, 2, 1), b = MATRIX(2, 2, 4, NAN, 0, 1), minus = MATRIX(2, 2, -1, 0, 0, 1), one = MATRIX(1, 1, 1);
	halfulp_record r;
	/* det(A - x B) = (1 - 4 x)(1 - x) - 4 */
	OK(halfulp_geigh('L', a, b, 1, 0, -1, 0, 0, NULL, 0, &r));
	EQUAL(part(r, "w", 0, 0), -0x1.c5a1ea2b8528ep-2);
	EQUAL(part(r, "w", 1, 0), 0x1.b1687a8ae14a3p+0);
	double x = part(r, "V", 0, 1), y = part(r, "V", 1, 1);
	CHECK(fabs(4 * x * x + y * y - 1) < 1e-15 && x > 0);
	free_handle(r);
	OK(halfulp_geigh('L', a, b, 0, 1, 1, 0, 0, "mp:90", 0, &r));
	EQUAL(part(r, "w", 0, 0), 0x1.b1687a8ae14a3p+0);
	free_handle(r);
	FAILS(HALFULP_NOT_POSITIVE_DEFINITE, "", halfulp_geigh('L', a, minus, 1, 0, -1, 0, 0, NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "same shape", halfulp_geigh('L', a, one, 1, 0, -1, 0, 0, NULL, 0, &r));
	halfulp_matrix d = MATRIX(3, 1, 2, 2, 2), e = MATRIX(1, 2, 1, 1), w;
	OK(halfulp_eigh_tridiagonal(d, e, NULL, 0, &w));
	EQUAL(entry(w, 0, 0), 0x1.2bec333018867p-1); /* 2 - sqrt(2) */
	EQUAL(entry(w, 1, 0), 2);
	FAILS(HALFULP_MISUSE, "beside a diagonal of 3", halfulp_eigh_tridiagonal(d, d, NULL, 0, &w));
	halfulp_matrix all[] = {a, b, minus, one, d, e, w};
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		free_handle(all[k]);
}

static void singular_values(void) {
	halfulp_matrix a = MATRIX(3, 2, 0, 2, 0, 0, -1, 0), low = MATRIX(3, 2, 1, 2, 2, 4, 2, 4), x, none;
	halfulp_record r;
	halfulp_scalar s;
	int64_t n;
	char *text;
	OK(halfulp_svd(a, 1, 1, 0, NULL, 0, &r));
	OK(halfulp_record_names(r, &text));
	CHECK(!strcmp(text, "s matrix\nU matrix\nVt matrix\nclusters integers\nundecided integer\n"));
	halfulp_text_free(text);
	shape(r, "U", 3, 3);
	shape(r, "Vt", 2, 2);
	EQUAL(part(r, "s", 0, 0), 2);
	EQUAL(part(r, "s", 1, 0), 1);
	EQUAL(part(r, "U", 0, 0), 1);
	EQUAL(part(r, "U", 2, 1), -1);
	EQUAL(part(r, "Vt", 0, 1), 1);
	EQUAL(part(r, "Vt", 1, 0), 1);
	free_handle(r);
	OK(halfulp_svd(a, 1, 0, 1, "mp:80", 0, &r));
	shape(r, "U", 3, 1);
	shape(r, "Vt", 1, 2);
	free_handle(r);
	OK(halfulp_svd(a, 0, 0, 0, NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "no \"U\"", halfulp_record_matrix(r, "U", &x));
	free_handle(r);
	FAILS(HALFULP_MISUSE, "largest", halfulp_svd(a, 1, 0, 3, NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "full", halfulp_svd(a, 1, 1, 1, NULL, 0, &r));
	OK(halfulp_cond('2', a, NULL, 0, &s, &n));
	CHECK(n == 0);
	EQUAL(value(s), 2);
	OK(halfulp_cond('2', low, NULL, 0, &s, NULL));
	EQUAL(value(s), INFINITY);
	/* rank 1: the pseudo-inverse is the transpose over 45 */
	OK(halfulp_pinv(low, 0, NULL, 0, &x, &n));
	CHECK(n == 0);
	EQUAL(entry(x, 0, 0), 1 / 45.0);
	EQUAL(entry(x, 1, 2), 4 / 45.0);
	free_handle(x);
	halfulp_matrix b = MATRIX(3, 1, 1, 1, 1), near = MATRIX(2, 2, 1, 0, 0, 0x1p-60);
	OK(halfulp_lstsq(low, b, 0, 0, NULL, 0, &x, &n));
	EQUAL(entry(x, 0, 0), 5 / 45.0);
	free_handle(x);
	halfulp_scalar tiny = scalar(1e-15), zero = scalar(0), minus = scalar(-1), nan = scalar(NAN);
	OK(halfulp_rank(near, 0, 0, &n));
	CHECK(n == 2);
	OK(halfulp_rank(near, zero, 0, &n));
	CHECK(n == 2);
	OK(halfulp_rank(near, tiny, 0, &n));
	CHECK(n == 1);
	OK(halfulp_pinv(near, zero, NULL, 0, &x, NULL));
	EQUAL(entry(x, 1, 1), 0x1p60);
	free_handle(x);
	OK(halfulp_pinv(near, tiny, NULL, 0, &x, NULL));
	EQUAL(entry(x, 1, 1), 0);
	free_handle(x);
	halfulp_matrix y = MATRIX(2, 1, 3, 3);
	for (int k = 0; k < 2; k++) {
		OK(halfulp_lstsq_rank(near, y, k ? tiny : 0, NULL, 0, &r));
		OK(halfulp_record_names(r, &text));
		CHECK(!strcmp(text, "X matrix\ns matrix\nrank integer\nundecided integer\n"));
		halfulp_text_free(text);
		OK(halfulp_record_integer(r, "rank", &n));
		CHECK(n == 2 - k);
		EQUAL(part(r, "s", 1, 0), 0x1p-60);
		EQUAL(part(r, "X", 1, 0), k ? 0 : 3 * 0x1p60);
		free_handle(r);
	}
	FAILS(HALFULP_MISUSE, "RCond", halfulp_pinv(near, minus, NULL, 0, &x, NULL));
	FAILS(HALFULP_MISUSE, "RCond", halfulp_rank(near, nan, 0, &n));
	FAILS(HALFULP_MISUSE, "RCond", halfulp_lstsq(low, b, b, tiny, NULL, 0, &x, NULL));
	FAILS(HALFULP_MISUSE, "as many rows", halfulp_lstsq_rank(near, b, 0, NULL, 0, &r));
	OK(halfulp_matrix_slice(a, 0, 0, 0, 2, &none));
	OK(halfulp_svd(none, 1, 1, 0, NULL, 0, &r));
	shape(r, "s", 0, 1);
	shape(r, "U", 0, 0);
	shape(r, "Vt", 2, 2);
	free_handle(r);
	OK(halfulp_polar(a, NULL, 0, &r));
	EQUAL(part(r, "U", 2, 0), -1);
	EQUAL(part(r, "H", 1, 1), 2);
	free_handle(r);
	halfulp_matrix all[] = {a, low, none, b, near, y, tiny, zero, minus, nan};
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		free_handle(all[k]);
}

static void functions(void) {
	halfulp_matrix a = MATRIX(2, 2, 5, 4, 4, 5), lop = MATRIX(2, 2, 1, 2, 3, 1), minus = MATRIX(2, 2, 0, 1, 1, 0), x, w;
	int64_t n;
	OK(halfulp_symfunc("sqrt", a, NULL, 0, &x, &n)); /* eigenvalues 1 and 9 */
	CHECK(entry(x, 0, 0) == 2 && entry(x, 0, 1) == 1);
	free_handle(x);
	OK(halfulp_symfunc("positive", minus, "dd", 0, &x, NULL));
	EQUAL(entry(x, 0, 1), 0.5);
	free_handle(x);
	FAILS(HALFULP_NOT_POSITIVE_DEFINITE, "domain", halfulp_symfunc("log", minus, NULL, 0, &x, NULL));
	FAILS(HALFULP_MISUSE, "invsqrt, exp", halfulp_symfunc("cbrt", a, NULL, 0, &x, NULL));
	FAILS(HALFULP_MISUSE, "symmetric", halfulp_symfunc("exp", lop, NULL, 0, &x, NULL));
	free_handle(a);
	free_handle(lop);
	free_handle(minus);
	halfulp_matrix p = MATRIX(1, 4, 0, -2, 0, 1), zero = MATRIX(1, 2, 0, 0); /* x^3 - 2 x */
	OK(halfulp_real_roots(p, NULL, 0, &x));
	EQUAL(entry(x, 0, 0), -0x1.6a09e667f3bcdp+0);
	EQUAL(entry(x, 1, 0), 0);
	free_handle(x);
	FAILS(HALFULP_MISUSE, "", halfulp_real_roots(zero, NULL, 0, &x));
	free_handle(p);
	free_handle(zero);
	const char *rules[] = {"legendre", "hermite", "laguerre", "chebyshev1", "chebyshev2"};
	/* 1/sqrt(3), 1/sqrt(2), 2 + sqrt(2), 1/sqrt(2), 1/2 */
	const double nodes[] = {0x1.279a74590331cp-1, 0x1.6a09e667f3bcdp-1, 0x1.b504f333f9de6p+1, 0x1.6a09e667f3bcdp-1, 0.5};
	/* 1, sqrt(pi)/2, (2 - sqrt(2))/4, pi/2, pi/4 */
	const double weights[] = {1, 0x1.c5bf891b4ef6bp-1, 0x1.2bec333018867p-3, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p-1};
	for (int k = 0; k < 5; k++) {
		OK(halfulp_quadrature(rules[k], 2, 0, 0, k % 2 ? "mp:53" : NULL, 0, &x, &w, &n));
		CHECK(n == 0);
		EQUAL(entry(x, 1, 0), nodes[k]);
		EQUAL(entry(w, 1, 0), weights[k]);
		free_handle(x);
		free_handle(w);
	}
	halfulp_scalar half, one;
	OK(halfulp_scalar_from_f64(0.5, &half));
	OK(halfulp_scalar_from_f64(1, &one));
	OK(halfulp_quadrature("gegenbauer", 2, one, 0, NULL, 0, &x, &w, NULL)); /* as chebyshev2 */
	EQUAL(entry(x, 1, 0), 0.5);
	free_handle(x);
	free_handle(w);
	OK(halfulp_quadrature("jacobi", 2, half, half, NULL, 0, &x, &w, NULL)); /* as chebyshev2 */
	EQUAL(entry(w, 1, 0), weights[4]);
	free_handle(x);
	free_handle(w);
	OK(halfulp_quadrature("genlaguerre", 2, one, 0, NULL, 0, &x, &w, NULL)); /* 3 -+ sqrt(3) */
	EQUAL(entry(x, 0, 0), 0x1.4498517a7b356p+0);
	free_handle(x);
	free_handle(w);
	FAILS(HALFULP_MISUSE, "argument alpha", halfulp_quadrature("genlaguerre", 2, 0, 0, NULL, 0, &x, &w, NULL));
	FAILS(HALFULP_MISUSE, "argument beta", halfulp_quadrature("gegenbauer", 2, one, one, NULL, 0, &x, &w, NULL));
	halfulp_scalar minus_one;
	OK(halfulp_scalar_neg(one, &minus_one));
	FAILS(HALFULP_MISUSE, "α", halfulp_quadrature("jacobi", 2, minus_one, one, NULL, 0, &x, &w, NULL));
	free_handle(half);
	free_handle(one);
	free_handle(minus_one);
	FAILS(HALFULP_MISUSE, "rule", halfulp_quadrature("gauss", 2, 0, 0, NULL, 0, &x, &w, NULL));
	FAILS(HALFULP_MISUSE, "argument n", halfulp_quadrature("legendre", -1, 0, 0, NULL, 0, &x, &w, NULL));
}

static void linear(void) {
	halfulp_matrix a = MATRIX(2, 2, 1, 2, 3, 4), tall = MATRIX(3, 2, 1, 0, 1, 1, 1, 2), y = MATRIX(3, 1, 1, 2, 4), x, z;
	halfulp_scalar s;
	int64_t n;
	OK(halfulp_slogdet(a, NULL, 0, &n, &s));
	CHECK(n == -1);
	EQUAL(value(s), 0x1.62e42fefa39efp-1);
	OK(halfulp_cond('1', a, NULL, 0, &s, NULL));
	EQUAL(value(s), 21);
	const char letters[] = {'1', 'i', 'F', 'M', '2'};
	/* the third is sqrt(30), the last one sqrt(15 + sqrt(221)) */
	const double norms[] = {6, 7, 0x1.5e8add236a58fp+2, 4, 0x1.5dc253662e9ccp+2};
	for (int k = 0; k < 5; k++) {
		OK(halfulp_norm(letters[k], a, NULL, 0, &s));
		EQUAL(value(s), norms[k]);
	}
	FAILS(HALFULP_MISUSE, "argument norm", halfulp_norm('3', a, NULL, 0, &s));
	OK(halfulp_rank(tall, 0, 0, &n));
	CHECK(n == 2);
	OK(halfulp_matrix_power(a, 3, NULL, 0, &x));
	CHECK(entry(x, 0, 0) == 37 && entry(x, 1, 1) == 118);
	free_handle(x);
	FAILS(HALFULP_MISUSE, "exponent", halfulp_matrix_power(a, -1, NULL, 0, &x));
	OK(halfulp_matrix_new(NULL, 2, 2, NULL, &z));
	OK(halfulp_expm(z, NULL, 0, &x));
	CHECK(entry(x, 0, 0) == 1 && entry(x, 0, 1) == 0);
	free_handle(x);
	OK(halfulp_null_space(z, 0, NULL, 0, &x, NULL));
	int64_t rows, cols;
	OK(halfulp_matrix_shape(x, &rows, &cols));
	CHECK(rows == 2 && cols == 2);
	free_handle(x);
	halfulp_scalar rcond;
	halfulp_matrix nearly = MATRIX(2, 2, 1, 1, 1, 1.0000001);
	OK(halfulp_scalar_from_f64(1e-6, &rcond));
	OK(halfulp_null_space(nearly, rcond, NULL, 0, &x, &n));
	OK(halfulp_matrix_shape(x, &rows, &cols));
	CHECK(rows == 2 && cols == 1 && n == 0 && fabs(entry(x, 0, 0) - sqrt(0.5)) < 1e-7);
	free_handle(x);
	OK(halfulp_null_space(nearly, 0, NULL, 0, &x, NULL));
	OK(halfulp_matrix_shape(x, &rows, &cols));
	CHECK(cols == 0);
	free_handle(x);
	free_handle(nearly);
	free_handle(rcond);
	OK(halfulp_lstsq(tall, y, 0, 0, NULL, 0, &x, NULL));
	EQUAL(entry(x, 0, 0), 5.0 / 6);
	EQUAL(entry(x, 1, 0), 1.5);
	free_handle(x);
	halfulp_matrix w = MATRIX(3, 1, 1, 1, 0), bad = MATRIX(2, 1, 1, 1);
	OK(halfulp_lstsq(tall, y, w, 0, NULL, 0, &x, NULL));
	CHECK(entry(x, 0, 0) == 1 && entry(x, 1, 0) == 1);
	free_handle(x);
	FAILS(HALFULP_MISUSE, "weights", halfulp_lstsq(tall, y, bad, 0, NULL, 0, &x, NULL));
	halfulp_record r;
	OK(halfulp_regression(tall, y, 0, "1/10", NULL, NULL, 1, 1, "0.95", NULL, 0, &r));
	OK(halfulp_record_matrix(r, "X", &x));
	EQUAL(entry(x, 1, 0), 0.15);
	free_handle(x);
	OK(halfulp_record_matrix(r, "covariance_0", &x));
	free_handle(x);
	OK(halfulp_record_matrix(r, "lower", &x));
	EQUAL(entry(x, 1, 0), -0x1.bbffd2884f785p-3);
	free_handle(x);
	OK(halfulp_record_matrix(r, "upper", &x));
	EQUAL(entry(x, 1, 0), 0x1.08998e3bad77bp-1);
	free_handle(x);
	OK(halfulp_record_integer(r, "undecided", &n));
	CHECK(n == 0);
	/* t = 3 sqrt(3) of Cauchy's distribution, and F = t^2 */
	const double slope = 0x1.4c8dc2e42398p+2;
	const char *tests[] = {"t", "p", "f_p"};
	double p[3];
	for (int k = 0; k < 3; k++) {
		OK(halfulp_record_matrix(r, tests[k], &x));
		p[k] = entry(x, k < 2, 0);
		free_handle(x);
	}
	EQUAL(p[0], slope);
	CHECK(fabs(p[1] - 2 * atan(1 / slope) / acos(-1)) < 1e-16 && p[2] == p[1]);
	OK(halfulp_record_integer(r, "undecided_tests", &n));
	CHECK(n == 0);
	OK(halfulp_record_integer(r, "degrees_of_freedom", &n));
	CHECK(n == 1);
	free_handle(r);
	FAILS(HALFULP_MISUSE, "unit", halfulp_regression(tall, y, 0, "one", NULL, NULL, 1, 0, NULL, NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "confidence", halfulp_regression(tall, y, 0, NULL, NULL, NULL, 0, 0, "95%", NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "confidence", halfulp_regression(tall, y, 0, NULL, NULL, NULL, 0, 0, "1", NULL, 0, &r));
	FAILS(HALFULP_MISUSE, "column_units", halfulp_regression(tall, y, 0, NULL, "1", NULL, 1, 0, NULL, NULL, 0, &r));
	halfulp_matrix t = MATRIX(3, 1, 0, 1, 2);
	OK(halfulp_polyfit(t, y, 2, 0, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, &r));
	OK(halfulp_record_matrix(r, "X", &x));
	CHECK(entry(x, 0, 0) == 1 && entry(x, 1, 0) == 0.5 && entry(x, 2, 0) == 0.5);
	free_handle(x);
	free_handle(r);
	halfulp_matrix lower, upper, rhs = MATRIX(2, 1, 1, 1), radius;
	OK(halfulp_enclose(a, rhs, 2, NULL, 0, &lower, &upper));
	CHECK(entry(lower, 0, 0) <= -1 && entry(upper, 0, 0) >= -1 && entry(upper, 0, 0) < -0.999);
	free_handle(lower);
	free_handle(upper);
	radius = MATRIX(2, 2, 1e-6, 1e-6, 1e-6, 1e-6);
	OK(halfulp_enclose_set(a, radius, rhs, 0, 2, NULL, 0, &lower, &upper));
	CHECK(entry(lower, 0, 0) < -1 && entry(upper, 0, 0) > -1);
	free_handle(lower);
	free_handle(upper);
	free_handle(radius);
	radius = MATRIX(2, 2, 9, 9, 9, 9);
	FAILS(HALFULP_RANGE, "wide", halfulp_enclose_set(a, radius, rhs, 0, 2, NULL, 0, &lower, &upper));
	halfulp_matrix product = MATRIX(2, 2, 7, 10, 15, 23);
	OK(halfulp_verify_product(a, a, product, 0, &r));
	OK(halfulp_record_integer(r, "wrong", &n));
	CHECK(n == 1);
	OK(halfulp_record_integer(r, "col", &n));
	CHECK(n == 1);
	double ulps;
	OK(halfulp_record_real(r, "largest", &ulps));
	CHECK(ulps > 1e14);
	free_handle(r);
	OK(halfulp_solve(a, rhs, NULL, 0, &x));
	OK(halfulp_verify_solution(a, rhs, x, 0, &r));
	OK(halfulp_record_integer(r, "correct", &n));
	CHECK(n == 2);
	free_handle(r);
	FAILS(HALFULP_MISUSE, "shapes", halfulp_verify_solution(a, rhs, a, 0, &r));
	halfulp_matrix all[] = {a, tall, y, z, w, bad, t, rhs, radius, product, x};
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		free_handle(all[k]);
}

static void entries(void) {
	halfulp_matrix a = MATRIX(2, 2, 1, -4, NAN, 0), row = MATRIX(1, 2, 3, -0.0), z, wide, cut;
	typedef int operation(halfulp_matrix, halfulp_matrix, const char *, halfulp_options, halfulp_matrix *);
	operation *operations[] = {halfulp_add, halfulp_sub, halfulp_mul, halfulp_div};
	double want[4][4] = {{4, -4, NAN, 0}, {-2, -4, NAN, 0}, {3, 0, NAN, -0.0}, {1.0 / 3, INFINITY, NAN, NAN}};
	OK(halfulp_matrix_convert(a, "mp:200", 0, &wide));
	for (int k = 0; k < 4; k++) {
		for (int other = 0; other < 2; other++) {
			OK(operations[k](other ? wide : a, row, "f64", 0, &z));
			for (int i = 0; i < 4; i++)
				EQUAL(entry(z, i / 2, i % 2), want[k][i]);
			free_handle(z);
		}
	}
	/* Each way of an operation rounds as scalars do. */
	typedef int scalar_operation(halfulp_scalar, halfulp_scalar, const char *, halfulp_scalar *);
	scalar_operation *scalars[] = {halfulp_scalar_add, halfulp_scalar_sub, halfulp_scalar_mul, halfulp_scalar_div};
	const char *formats[] = {"f32", "f64", "dd", "mp:60"};
	const char *texts[] = {"0.1", "-0", "inf", "1e30", "-7", "nan", "0", "-inf", "3.3", "1e-40", "0.1", "-0"};
	for (int n = 0; n < 64; n++) {
		const char *f = formats[n / 16], *fa = formats[n / 4 % 4], *fb = formats[n % 4];
		halfulp_matrix p, q, t;
		OK(halfulp_matrix_from_texts(texts, 3, 4, 4, 1, fa, &p));
		OK(halfulp_matrix_from_texts(texts, 4, 3, 3, 1, fb, &t));
		OK(halfulp_matrix_transpose(t, &q));
		for (int k = 0; k < 4; k++) {
			OK(operations[k](p, q, f, 0, &z));
			for (int i = 0; i < 12; i++) {
				halfulp_scalar x, y, s;
				OK(halfulp_matrix_entry(p, i / 4, i % 4, &x));
				OK(halfulp_matrix_entry(q, i / 4, i % 4, &y));
				OK(scalars[k](x, y, f, &s));
				halfulp_matrix have, want;
				int equal;
				OK(halfulp_matrix_slice(z, i / 4, i / 4 + 1, i % 4, i % 4 + 1, &have));
				OK(halfulp_matrix_from_scalar(s, &want));
				OK(halfulp_matrix_same(have, want, &equal));
				if (!equal) {
					printf("operation %d, %s of %s and %s, entry %d: %a, want %a\n", k, f, fa, fb, i, entry(have, 0, 0), entry(want, 0, 0));
					failures++;
				}
				halfulp_matrix all[] = {x, y, s, have, want};
				for (int h = 0; h < 5; h++)
					free_handle(all[h]);
			}
			free_handle(z);
		}
		free_handle(p);
		free_handle(q);
		free_handle(t);
	}
	OK(halfulp_add(wide, row, NULL, 0, &z));
	char *name;
	OK(halfulp_matrix_format(z, &name));
	CHECK(!strcmp(name, "mp:200"));
	halfulp_text_free(name);
	free_handle(z);
	OK(halfulp_sqrt(wide, "f64", 0, &z));
	CHECK(entry(z, 0, 0) == 1 && isnan(entry(z, 0, 1)));
	free_handle(z);
	OK(halfulp_neg(row, 0, &z));
	EQUAL(entry(z, 0, 1), 0);
	free_handle(z);
	OK(halfulp_abs(wide, 0, &z));
	EQUAL(entry(z, 0, 1), 4);
	free_handle(z);
	int8_t order[4];
	OK(halfulp_compare(wide, row, order, 2, 1));
	CHECK(order[0] == -1 && order[1] == -1 && order[2] == 2 && order[3] == 0);
	OK(halfulp_matrix_slice(a, 0, 2, 0, 0, &cut));
	FAILS(HALFULP_MISUSE, "shapes", halfulp_add(a, cut, NULL, 0, &z));
	free_handle(a);
	free_handle(row);
	free_handle(wide);
	free_handle(cut);
}

static void files(const char *folder) {
	char name[4096];
	halfulp_matrix a, z;
	OK(halfulp_hilbert(3, "mp:150", &a));
	const char *kinds[] = {"a.mtx", "a.npz", "a.csv.gz"};
	for (int k = 0; k < 3; k++) {
		snprintf(name, sizeof name, "%s/%s", folder, kinds[k]);
		OK(halfulp_write(a, name, k == 0 ? HALFULP_HEX : 0, 0));
		OK(halfulp_read(name, NULL, 0, &z));
		int equal;
		OK(halfulp_matrix_same(a, z, &equal));
		CHECK(equal);
		free_handle(z);
	}
	OK(halfulp_read(name, "f32", 0, &z));
	EQUAL(entry(z, 0, 2), 1 / 3.0f);
	free_handle(z);
	snprintf(name, sizeof name, "%s/none.mtx", folder);
	FAILS(HALFULP_FILE, "none.mtx", halfulp_read(name, NULL, 0, &z));
	FAILS(HALFULP_MISUSE, "", halfulp_write(a, "a.jpeg", 0, 0));
	FAILS(HALFULP_FILE, "", halfulp_write(a, "/nowhere/a.mtx", 0, 0));
	free_handle(a);
}

int main(int count, char **arguments) {
	products();
	sums();
	systems();
	systems_of_arrays();
	level1();
	level2();
	level3();
	factors();
	eigenvalues();
	general_eigenvalues();
	singular_values();
	functions();
	linear();
	entries();
	if (count > 1)
		files(arguments[1]);
	return finished();
}

/* Rational matrices: results that are known, integers of many words, errors, cancellation. */
#include "check.h"

#define RATIONAL(rows, cols, ...) of_texts((const char *[]){__VA_ARGS__}, rows, cols)

static halfulp_rational of_texts(const char **texts, int64_t rows, int64_t cols) {
	halfulp_rational a;
	OK(halfulp_rational_from_texts(texts, rows, cols, cols, 1, &a));
	return a;
}

/* TEXT compares the text of a matrix, and frees the matrix. */
#define TEXT(a, want) \
	do { \
		halfulp_rational a_ = (a); \
		char *text_; \
		OK(halfulp_rational_get_text(a_, &text_)); \
		if (strcmp(text_, want)) { \
			printf("%s:%d: %s is\n%s\nwant\n%s\n", __FILE__, __LINE__, #a, text_, want); \
			failures++; \
		} \
		halfulp_text_free(text_); \
		free_handle(a_); \
	} while (0)

static void data(void) {
	/* 2^64 + 5, -3, 0, 1 over 2, -2^64 of the rows */
	uint64_t words[] = {5, 1, 3, 1, 2, 0, 1};
	int64_t sizes[] = {2, -1, 0, 1, 1, -2};
	halfulp_rational a, b;
	OK(halfulp_rational_from_words(words, sizes, 2, 2, 2, &a));
	int64_t rows, cols, found[8];
	OK(halfulp_rational_shape(a, &rows, &cols));
	CHECK(rows == 2 && cols == 2);
	char *bytes;
	int64_t size;
	OK(halfulp_rational_get_words(a, found, &bytes, &size));
	/* (2^64 + 5)/2, -3/2, 0, -1/2^64 */
	const int64_t want_sizes[] = {2, -1, 0, -1, 1, 1, 1, 2};
	const uint64_t want[] = {5, 1, 3, 1, 2, 2, 1, 0, 1};
	CHECK(!memcmp(found, want_sizes, sizeof want_sizes));
	CHECK(size == sizeof want && !memcmp(bytes, want, sizeof want));
	OK(halfulp_rational_from_words((uint64_t *)bytes, found, 2, 2, 4, &b));
	halfulp_text_free(bytes);
	int equal;
	OK(halfulp_rational_equal(a, b, &equal));
	CHECK(equal);
	free_handle(b);
	TEXT(a, "18446744073709551621/2                    -3/2\n                     0 -1/18446744073709551616");
	OK(halfulp_rational_from_words(words, sizes, 2, 1, 0, &a));
	OK(halfulp_rational_transpose(a, &b));
	free_handle(a);
	TEXT(b, "18446744073709551621 -3");
	FAILS(HALFULP_MISUSE, "denominators", halfulp_rational_from_words(words, sizes, 2, 2, 3, &a));
	FAILS(HALFULP_MISUSE, "denominator 0 is 0", halfulp_rational_from_words(words, (int64_t[]){1, 0}, 1, 1, 1, &a));
	FAILS(HALFULP_MISUSE, "words", halfulp_rational_from_words(NULL, sizes, 1, 1, 0, &a));
	FAILS(HALFULP_MISUSE, "sizes", halfulp_rational_from_words(words, NULL, 1, 1, 0, &a));
	FAILS(HALFULP_MEMORY, "", halfulp_rational_from_words(words, sizes, INT64_C(1) << 40, 1 << 20, 0, &a));
	OK(halfulp_rational_from_words(NULL, NULL, 0, 3, 0, &a));
	OK(halfulp_rational_get_words(a, NULL, &bytes, &size));
	CHECK(size == 0);
	halfulp_text_free(bytes);
	free_handle(a);
	const char *bad[] = {"1", "1/0"};
	FAILS(HALFULP_MISUSE, "(0, 1)", halfulp_rational_from_texts(bad, 1, 2, 2, 1, &a));

	halfulp_matrix m, z;
	double d[2] = {0.1, -3}, back[2];
	OK(halfulp_matrix_wrap_f64(d, 1, 2, 2, 1, &m));
	OK(halfulp_rational_from_matrix(m, &a));
	free_handle(m);
	OK(halfulp_rational_round(a, NULL, &z));
	OK(halfulp_matrix_get_f64(z, back, 2, 1));
	CHECK(back[0] == d[0] && back[1] == d[1]);
	free_handle(z);
	TEXT(a, "3602879701896397/36028797018963968 -3");
	d[1] = NAN;
	OK(halfulp_matrix_wrap_f64(d, 1, 2, 2, 1, &m));
	FAILS(HALFULP_NOT_FINITE, "(0, 1)", halfulp_rational_from_matrix(m, &a));
	free_handle(m);
	/* numbers whose integers have 2^31 bits each */
	OK(halfulp_matrix_from_texts((const char *[]){"0x1p2000000000", "0x1p-2000000000"}, 1, 2, 2, 1, "mp:53", &m));
	OK(halfulp_matrix_new("mp:53", 1000, 2, NULL, &z));
	for (int i = 0; i < 1000; i++) {
		halfulp_matrix row;
		OK(halfulp_matrix_slice(z, i, i + 1, 0, 2, &row));
		OK(halfulp_matrix_assign(m, row, 0));
		free_handle(row);
	}
	FAILS(HALFULP_MEMORY, "bytes", halfulp_rational_from_matrix(z, &a));
	free_handle(m);
	free_handle(z);
}

static void arithmetic(void) {
	halfulp_rational a = RATIONAL(2, 2, "1/2", ".1", "3", "-4"), b = RATIONAL(2, 2, "1", "0x1p-1", "0", "2"), half = RATIONAL(1, 1, "1/2"), z;
	OK(halfulp_rational_add(a, b, &z));
	TEXT(z, "3/2 3/5\n  3  -2");
	OK(halfulp_rational_sub(a, b, &z));
	TEXT(z, "-1/2 -2/5\n   3   -6");
	OK(halfulp_rational_scale(half, a, &z));
	TEXT(z, "1/4 1/20\n3/2   -2");
	OK(halfulp_rational_mul(a, b, 0, &z));
	TEXT(z, "1/2  9/20\n  3 -13/2");
	OK(halfulp_rational_power(b, -2, 0, &z));
	TEXT(z, "1 -3/8\n0  1/4");
	OK(halfulp_rational_take(a, (int64_t[]){1, 1}, 2, (int64_t[]){0}, 1, &z));
	TEXT(z, "3\n3");
	FAILS(HALFULP_MISUSE, "argument cols: 2", halfulp_rational_take(a, (int64_t[]){1}, 1, (int64_t[]){2}, 1, &z));
	FAILS(HALFULP_MISUSE, "same shape", halfulp_rational_add(a, half, &z));
	FAILS(HALFULP_MISUSE, "columns of a", halfulp_rational_mul(half, a, 0, &z));
	FAILS(HALFULP_MISUSE, "alpha", halfulp_rational_scale(a, a, &z));
	FAILS(HALFULP_MISUSE, "rational matrix is needed", halfulp_rational_mul(a, 0, 0, &z));
	halfulp_matrix m;
	OK(halfulp_hilbert(2, NULL, &m));
	FAILS(HALFULP_MISUSE, "stands for a matrix", halfulp_rational_mul(a, m, 0, &z));
	FAILS(HALFULP_MISUSE, "stands for a rational matrix", halfulp_matmul(m, a, NULL, 0, &z));
	free_handle(m);
	free_handle(a);
	free_handle(b);
	free_handle(half);
}

static void routines(void) {
	halfulp_rational a = RATIONAL(3, 3, ".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9"), h = RATIONAL(2, 2, "1", "1/2", "1/2", "1/3"), z, x;
	halfulp_rational e = RATIONAL(3, 1, "1", "0", "0"), good = RATIONAL(3, 1, ".6", "1.5", "2.4"), b = RATIONAL(2, 1, "1", "0");
	int64_t n, p[3];
	OK(halfulp_rational_rank(a, 0, &n));
	CHECK(n == 2);
	OK(halfulp_rational_det(a, 0, &z));
	TEXT(z, "0");
	OK(halfulp_rational_null_space(a, 0, &z));
	TEXT(z, " 1\n-2\n 1");
	OK(halfulp_rational_rref(a, p, 0, &z, &n));
	CHECK(n == 2 && p[0] == 0 && p[1] == 1);
	TEXT(z, "1 0 -1\n0 1  2\n0 0  0");
	OK(halfulp_rational_rref(h, NULL, 0, &z, NULL));
	TEXT(z, "1 0\n0 1");
	OK(halfulp_rational_solve_all(a, good, 0, &x, &z));
	TEXT(x, "0\n3\n0");
	TEXT(z, " 1\n-2\n 1");
	FAILS(HALFULP_INCONSISTENT, "column 0", halfulp_rational_solve_all(a, e, 0, &x, &z));
	FAILS(HALFULP_SINGULAR, "rank 2", halfulp_rational_solve(a, e, 0, &x));
	FAILS(HALFULP_SINGULAR, "rank 2", halfulp_rational_inverse(a, 0, &x));
	FAILS(HALFULP_SINGULAR, "rank 2", halfulp_rational_power(a, -1, 0, &x));
	FAILS(HALFULP_MISUSE, "as many rows", halfulp_rational_solve(a, b, 0, &x));
	FAILS(HALFULP_MISUSE, "square", halfulp_rational_det(b, 0, &x));
	OK(halfulp_rational_solve(h, b, 0, &x));
	TEXT(x, " 4\n-6");
	OK(halfulp_rational_inverse(h, 0, &x));
	TEXT(x, " 4 -6\n-6 12");
	OK(halfulp_rational_charpoly(h, 0, &x));
	TEXT(x, "1/12\n-4/3\n   1");
	OK(halfulp_rational_minpoly(a, 0, &x));
	TEXT(x, "    0\n-9/50\n -3/2\n    1");
	OK(halfulp_rational_lu(a, p, 0, &x, &z));
	CHECK(p[0] == 0 && p[1] == 1 && p[2] == 2);
	TEXT(x, "1 0 0\n4 1 0\n7 2 1");
	TEXT(z, "1/10   1/5 3/10\n   0 -3/10 -3/5\n   0     0    0");
	OK(halfulp_rational_ldlt(h, NULL, 0, &x, &z));
	TEXT(x, "  1 0\n1/2 1");
	TEXT(z, "1    0\n0 1/12");
	FAILS(HALFULP_MISUSE, "symmetric", halfulp_rational_ldlt(a, NULL, 0, &x, &z));
	halfulp_rational all[] = {a, h, e, good, b};
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		free_handle(all[k]);
}

static int calls;

static int stop(double done, void *argument) {
	(void)argument;
	CHECK(done >= 0 && done <= 1);
	return ++calls > 1;
}

/* A call with limits ends early, with other threads of the library or on the caller's. */
static void ended(void) {
	halfulp_matrix m;
	halfulp_rational a, x;
	halfulp_options options;
	int32_t flag = 1;
	OK(halfulp_random(300, 300, 40, 1, NULL, &m));
	OK(halfulp_rational_from_matrix(m, &a));
	free_handle(m);
	OK(halfulp_options_new(&options));
	OK(halfulp_options_set(options, "memory", "100000"));
	FAILS(HALFULP_MEMORY, "", halfulp_rational_power(a, 1000, options, &x));
	OK(halfulp_options_set_cancel(options, &flag));
	FAILS(HALFULP_CANCELLED, "", halfulp_rational_inverse(a, options, &x));
	OK(halfulp_options_set_cancel(options, NULL));
	OK(halfulp_options_set(options, "memory", "0"));
	OK(halfulp_options_set_progress(options, stop, NULL, 1));
	FAILS(HALFULP_CANCELLED, "", halfulp_rational_inverse(a, options, &x));
	CHECK(calls > 1);
	free_handle(options);
	free_handle(a);
}

int main(void) {
	data();
	arithmetic();
	routines();
	ended();
	return finished();
}

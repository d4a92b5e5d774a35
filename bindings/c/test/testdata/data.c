/* Data in and out: formats, strides, special values, empty shapes, views, freed handles. */
#include "check.h"

/* texts compares the text of a matrix. */
static void text_is(int line, halfulp_matrix m, int64_t digits, const char *want) {
	char *text;
	OK(halfulp_matrix_get_text(m, digits, &text));
	if (strcmp(text, want)) {
		printf("%s:%d: \"%s\", want \"%s\"\n", __FILE__, line, text, want);
		failures++;
	}
	halfulp_text_free(text);
}
#define TEXT(m, digits, want) text_is(__LINE__, m, digits, want)

static void strides(void) {
	double x[12];
	for (int i = 0; i < 12; i++)
		x[i] = i + 1;
	double z[6];
	halfulp_matrix m;
	/* row-major, column-major, a leading dimension, reversed, repeated */
	struct {
		int64_t at, rs, cs;
		double want[6];
	} cases[] = {
		{0, 3, 1, {1, 2, 3, 4, 5, 6}},
		{0, 1, 2, {1, 3, 5, 2, 4, 6}},
		{0, 4, 1, {1, 2, 3, 5, 6, 7}},
		{11, -4, -1, {12, 11, 10, 8, 7, 6}},
		{2, 6, -1, {3, 2, 1, 9, 8, 7}},
		{5, 0, 0, {6, 6, 6, 6, 6, 6}},
		{0, 5, 2, {1, 3, 5, 6, 8, 10}},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		OK(halfulp_matrix_from_f64(x + cases[c].at, 2, 3, cases[c].rs, cases[c].cs, NULL, &m));
		OK(halfulp_matrix_get_f64(m, z, 3, 1));
		for (int i = 0; i < 6; i++)
			EQUAL(z[i], cases[c].want[i]);
		OK(halfulp_matrix_get_f64(m, z + 5, -1, -2)); /* reversed, column by column */
		for (int i = 0; i < 2; i++)
			for (int j = 0; j < 3; j++)
				EQUAL(z[5 - i - 2 * j], cases[c].want[3 * i + j]);
		free_handle(m);
	}
	/* without a copy */
	OK(halfulp_matrix_wrap_f64(x, 2, 3, 4, 1, &m));
	TEXT(m, 0, "1 2 3\n5 6 7\n");
	x[0] = 7;
	TEXT(m, 0, "7 2 3\n5 6 7\n");
	halfulp_scalar s;
	OK(halfulp_scalar_from_text("0x1.8p+1", NULL, &s));
	OK(halfulp_matrix_set_entry(m, 1, 2, s));
	EQUAL(x[6], 3);
	free_handle(s);
	free_handle(m);
	FAILS(HALFULP_MISUSE, "make a copy", halfulp_matrix_wrap_f64(x, 2, 3, 5, 2, &m));
	FAILS(HALFULP_MISUSE, "make a copy", halfulp_matrix_wrap_f64(x, 2, 3, 2, 1, &m));
	FAILS(HALFULP_MISUSE, "make a copy", halfulp_matrix_wrap_f64(x, 2, 3, -4, 1, &m));
	FAILS(HALFULP_MISUSE, "make a copy", halfulp_matrix_wrap_f64(x, 3, 1, 0, 1, &m));
	/* vectors of any stride */
	for (int row = 0; row < 2; row++) {
		halfulp_matrix up, down;
		OK(row ? halfulp_matrix_wrap_f64(x + 1, 1, 4, 99, 2, &up) : halfulp_matrix_wrap_f64(x + 1, 4, 1, 2, 99, &up));
		OK(row ? halfulp_matrix_wrap_f64(x + 7, 1, 4, 99, -2, &down) : halfulp_matrix_wrap_f64(x + 7, 4, 1, -2, 99, &down));
		halfulp_matrix back;
		OK(halfulp_vector_stride(down, -1, &back));
		int equal;
		OK(halfulp_matrix_same(up, back, &equal));
		CHECK(equal);
		OK(halfulp_dot(up, down, NULL, 0, &s));
		EQUAL(value(s), 2 * (2 * 8 + 4 * 6));
		free_handle(up);
		free_handle(down);
		free_handle(back);
	}
	float f[4] = {1, 2, 0.1f, 4};
	OK(halfulp_matrix_wrap_f32(f, 2, 2, 1, 2, &m));
	FAILS(HALFULP_MISUSE, "a vector is", halfulp_sum(m, "f32", 0, &s));
	halfulp_matrix t;
	OK(halfulp_matrix_transpose(m, &t));
	free_handle(m);
	TEXT(t, 0, "  1 2\n0.1 4\n");
	free_handle(t);
}

/* formats takes numbers through each format and back. */
static void formats(void) {
	const char *names[] = {"f32", "f64", "dd", "td", "qd", "mp:2", "mp:53", "mp:64", "mp:65", "mp:424"};
	const char *texts[] = {"0.1", "-0", "inf", "-inf", "nan", "1e-400", "12345678901234567890123", "-0x1.8p-1080"};
	for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
		halfulp_matrix m, z;
		OK(halfulp_matrix_from_texts(texts, 2, 4, 4, 1, names[n], &m));
		char *name;
		OK(halfulp_matrix_format(m, &name));
		CHECK(!strcmp(name, names[n]));
		halfulp_text_free(name);
		int equal;
		int expansion = names[n][1] == 'd';
		if (expansion || names[n][0] == 'f') {
			double terms[32];
			int count = expansion ? (names[n][0] == 'd' ? 2 : names[n][0] == 't' ? 3 : 4) : 1;
			OK(halfulp_matrix_get_terms(m, terms, count, 4 * count, count, 1));
			OK(halfulp_matrix_from_terms(terms, count, 2, 4, 4 * count, count, 1, names[n], &z));
			OK(halfulp_matrix_same(m, z, &equal));
			CHECK(equal);
			free_handle(z);
		}
		if (!expansion) {
			int64_t count;
			OK(halfulp_matrix_limb_count(m, &count));
			CHECK(count == (!strcmp(names[n], "mp:424") ? 7 : !strcmp(names[n], "mp:65") ? 2 : 1));
			uint64_t limbs[8 * 7];
			int64_t exponents[8];
			int8_t signs[8];
			uint8_t classes[8];
			OK(halfulp_matrix_get_limbs(m, limbs, exponents, signs, classes, 1, 2));
			OK(halfulp_matrix_from_limbs(limbs, count, exponents, signs, classes, 2, 4, 1, 2, names[n], &z));
			OK(halfulp_matrix_same(m, z, &equal));
			CHECK(equal);
			free_handle(z);
		} else {
			int64_t count;
			FAILS(HALFULP_MISUSE, "get its terms", halfulp_matrix_limb_count(m, &count));
		}
		char *bytes;
		int64_t size;
		OK(halfulp_matrix_get_bytes(m, &bytes, &size));
		OK(halfulp_matrix_from_bytes((const uint8_t *)bytes, size, &z));
		OK(halfulp_matrix_same(m, z, &equal));
		CHECK(equal);
		free_handle(z);
		FAILS(HALFULP_MISUSE, "", halfulp_matrix_from_bytes((const uint8_t *)bytes, size - 1, &z));
		halfulp_text_free(bytes);
		double x[8];
		OK(halfulp_matrix_get_f64(m, x, 4, 1));
		EQUAL(x[1], -0.0);
		EQUAL(x[2], INFINITY);
		EQUAL(x[3], -INFINITY);
		EQUAL(x[4], NAN);
		free_handle(m);
	}
	/* Sums of doubles that are not normalised are rounded once. */
	double sum[4] = {1, 0x1p-53, 0x1p-105, -1};
	halfulp_matrix m;
	OK(halfulp_matrix_from_terms(sum, 4, 1, 1, 0, 0, 1, "f64", &m));
	TEXT(m, HALFULP_HEX, "0x1.0000000000001p-53\n");
	free_handle(m);
	OK(halfulp_matrix_from_terms(sum, 3, 1, 1, 0, 0, 1, "f64", &m));
	TEXT(m, HALFULP_HEX, "0x1.0000000000001p+0\n");
	free_handle(m);
	/* A significand need not be normalised, and is rounded once to another format. */
	uint64_t limbs[2] = {3, 0};
	int64_t exponents[1] = {128};
	int8_t signs[1] = {-1};
	uint8_t classes[1] = {1};
	OK(halfulp_matrix_from_limbs(limbs, 2, exponents, signs, classes, 1, 1, 0, 0, "mp:8", &m));
	TEXT(m, 0, "-3\n");
	free_handle(m);
	exponents[0] = INT64_MAX;
	OK(halfulp_matrix_from_limbs(limbs, 2, exponents, signs, classes, 1, 1, 0, 0, "mp:8", &m));
	TEXT(m, 0, "-inf\n");
	free_handle(m);
	classes[0] = 4;
	FAILS(HALFULP_MISUSE, "class", halfulp_matrix_from_limbs(limbs, 2, exponents, signs, classes, 1, 1, 0, 0, "mp:8", &m));
	/* Integers are exact. */
	int64_t n[2] = {INT64_MIN, 3};
	OK(halfulp_matrix_from_i64(n, 1, 2, 0, 1, NULL, &m));
	TEXT(m, HALFULP_HEX, "-0x1p+63 0x1.8p+1\n");
	free_handle(m);
	n[0] = INT64_MAX;
	OK(halfulp_matrix_from_i64(n, 1, 2, 0, 1, NULL, &m));
	TEXT(m, HALFULP_HEX, "0x1.fffffffffffffffcp+62 0x1.8p+1\n");
	free_handle(m);
	uint64_t u[1] = {UINT64_MAX};
	OK(halfulp_matrix_from_u64(u, 1, 1, 0, 0, NULL, &m));
	TEXT(m, HALFULP_HEX, "0x1.fffffffffffffffep+63\n");
	free_handle(m);
}

static void empty(void) {
	halfulp_matrix m, z;
	OK(halfulp_matrix_from_f64(NULL, 0, 3, 3, 1, NULL, &m));
	OK(halfulp_matrix_transpose(m, &z));
	int64_t rows, cols;
	OK(halfulp_matrix_shape(z, &rows, &cols));
	CHECK(rows == 3 && cols == 0);
	OK(halfulp_matrix_get_f64(z, NULL, 1, 1));
	halfulp_matrix p;
	OK(halfulp_matmul(z, m, NULL, 0, &p));
	TEXT(p, 0, "0 0 0\n0 0 0\n0 0 0\n");
	free_handle(p);
	free_handle(z);
	OK(halfulp_matrix_wrap_f64(NULL, 5, 0, 1, 5, &z));
	free_handle(z);
	OK(halfulp_matrix_new("mp:100", 0, 0, NULL, &z));
	halfulp_scalar d;
	OK(halfulp_det(z, NULL, 0, &d));
	EQUAL(value(d), 1);
	free_handle(z);
	free_handle(m);
}

static void views(void) {
	double x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	halfulp_matrix m, s, t, v;
	OK(halfulp_matrix_from_f64(x, 3, 3, 3, 1, "dd", &m));
	OK(halfulp_matrix_slice(m, 1, 3, 0, 2, &s));
	OK(halfulp_matrix_transpose(s, &t));
	OK(halfulp_matrix_slice(t, 0, 1, 0, 2, &v));
	free_handle(m);
	free_handle(t);
	halfulp_scalar a;
	OK(halfulp_scalar_from_f64(0.5, &a));
	OK(halfulp_matrix_set_entry(v, 0, 1, a));
	free_handle(a);
	TEXT(s, 0, "  4 5\n0.5 8\n");
	FAILS(HALFULP_MISUSE, "2 x 2", halfulp_matrix_slice(s, 0, 3, 0, 1, &m));
	FAILS(HALFULP_MISUSE, "2 x 2", halfulp_matrix_slice(s, -1, 1, 0, 1, &m));
	FAILS(HALFULP_MISUSE, "2 x 2", halfulp_matrix_entry(s, 0, 2, &a));
	FAILS(HALFULP_MISUSE, "step", halfulp_vector_stride(v, 0, &m));
	OK(halfulp_matrix_take(s, 1, -1, 2, 0, 1, 2, &m));
	TEXT(m, 0, "0.5 8\n  4 5\n");
	/* Overlapping views are assigned as if they were apart. */
	halfulp_matrix left, right;
	OK(halfulp_matrix_slice(m, 0, 2, 0, 1, &left));
	OK(halfulp_matrix_slice(m, 0, 2, 1, 2, &right));
	OK(halfulp_matrix_assign(left, right, 0));
	TEXT(m, 0, "0.5 0.5\n  4   4\n");
	OK(halfulp_matrix_transpose(m, &t));
	OK(halfulp_matrix_assign(t, m, 0));
	TEXT(m, 0, "0.5 4\n0.5 4\n");
	FAILS(HALFULP_MISUSE, "shapes", halfulp_matrix_assign(left, m, 0));
	free_handle(t);
	FAILS(HALFULP_MISUSE, "beyond", halfulp_matrix_take(m, 0, 1, 3, 0, 1, 1, &t));
	FAILS(HALFULP_MISUSE, "beyond", halfulp_matrix_take(m, 0, INT64_MAX, 3, 0, 1, 1, &t));
	free_handle(left);
	free_handle(right);
	free_handle(m);
	free_handle(s);
	free_handle(v);
}

static void misuse(void) {
	halfulp_matrix m, z;
	halfulp_scalar s;
	double x[4] = {1, 2, 3, 4};
	OK(halfulp_matrix_from_f64(x, 2, 2, 2, 1, NULL, &m));
	OK(halfulp_scalar_from_f64(1, &s));
	FAILS(HALFULP_MISUSE, "handle is 0", halfulp_matrix_transpose(0, &z));
	FAILS(HALFULP_MISUSE, "stands for a scalar; a matrix", halfulp_matrix_transpose(s, &z));
	FAILS(HALFULP_MISUSE, "stands for a matrix; a scalar", halfulp_scalar_get_f64(m, x));
	FAILS(HALFULP_MISUSE, "never made", halfulp_matrix_transpose(12345, &z));
	FAILS(HALFULP_MISUSE, "NULL", halfulp_matrix_transpose(m, NULL));
	FAILS(HALFULP_MISUSE, "NULL", halfulp_matrix_get_f64(m, NULL, 1, 1));
	FAILS(HALFULP_MISUSE, "NULL", halfulp_scalar_from_text(NULL, NULL, &z));
	FAILS(HALFULP_MISUSE, "at least 0", halfulp_matrix_new(NULL, -1, 2, NULL, &z));
	FAILS(HALFULP_MEMORY, "more than the machine has", halfulp_matrix_new(NULL, INT64_MAX, 2, NULL, &z));
	FAILS(HALFULP_MEMORY, "more than the machine has", halfulp_matrix_new("mp:1000", INT64_C(1) << 30, INT64_C(1) << 30, NULL, &z));
	FAILS(HALFULP_MISUSE, "argument format", halfulp_matrix_new("f65", 1, 2, NULL, &z));
	FAILS(HALFULP_MISUSE, "argument format", halfulp_matrix_new("mp:1", 1, 2, NULL, &z));
	FAILS(HALFULP_DEVICE, "", halfulp_matrix_new(NULL, 1, 2, "cuda:99", &z));
	FAILS(HALFULP_DEVICE, "", halfulp_matrix_to_device(m, "elsewhere", &z));
	FAILS(HALFULP_MISUSE, "", halfulp_scalar_from_text("1.2.3", NULL, &z));
	FAILS(HALFULP_MISUSE, "digits", halfulp_matrix_get_text(m, -2, (char **)&z));
	FAILS(HALFULP_MISUSE, "argument trans", halfulp_gemv('X', s, m, m, s, m, 0));
	FAILS(HALFULP_MISUSE, "a vector is", halfulp_gemv('N', s, m, m, s, m, 0));
	OK(halfulp_free(0));
	free_handle(s);
	FAILS(HALFULP_MISUSE, "freed before", halfulp_free(s));
	FAILS(HALFULP_MISUSE, "was freed", halfulp_scalar_get_f64(s, x));
	halfulp_scalar again; /* takes the place of s, but not its handle */
	OK(halfulp_scalar_from_f64(1, &again));
	CHECK(again != s);
	FAILS(HALFULP_MISUSE, "was freed", halfulp_scalar_get_f64(s, x));
	free_handle(again);
	free_handle(m);
}

static void scalars(void) {
	halfulp_scalar x, y, z;
	OK(halfulp_scalar_from_text("0.1", "mp:200", &x));
	OK(halfulp_scalar_from_f64(0.1, &y));
	int64_t order;
	OK(halfulp_scalar_compare(x, y, &order));
	CHECK(order == -1);
	OK(halfulp_scalar_sub(y, x, "f64", &z));
	EQUAL(value(z), 5.551115123125783e-18);
	OK(halfulp_scalar_div(y, x, NULL, &z));
	EQUAL(value(z), 1);
	OK(halfulp_scalar_sqrt(y, "mp:20", &z));
	char *text;
	OK(halfulp_scalar_get_text(z, 0, &text));
	CHECK(!strcmp(text, "0.316228"));
	halfulp_text_free(text);
	free_handle(z);
	OK(halfulp_scalar_fma(y, y, y, NULL, &z));
	EQUAL(value(z), fma(0.1, 0.1, 0.1));
	OK(halfulp_scalar_from_i64(INT64_MIN, &z));
	OK(halfulp_scalar_get_text(z, HALFULP_HEX, &text));
	CHECK(!strcmp(text, "-0x1p+63"));
	halfulp_text_free(text);
	free_handle(z);
	halfulp_matrix m;
	OK(halfulp_matrix_from_scalar(x, &m));
	OK(halfulp_scalar_from_matrix(m, &z));
	OK(halfulp_scalar_compare(x, z, &order));
	CHECK(order == 0);
	free_handle(m);
	free_handle(z);
	free_handle(x);
	OK(halfulp_scalar_from_f64(NAN, &x));
	OK(halfulp_scalar_compare(x, y, &order));
	CHECK(order == 2);
	free_handle(x);
	free_handle(y);
}

int main(void) {
	strides();
	formats();
	empty();
	views();
	misuse();
	scalars();
	return finished();
}

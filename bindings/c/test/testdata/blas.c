/* The functions of Fortran and of CBLAS in libhalfulpblas against loops. Their numbers are small
 * integers, so that every result is exact. */
#ifndef REAL
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#ifdef ILP64
typedef int64_t INT;
#else
typedef int32_t INT;
#endif

static int to_cblas(char letter, int first, const char *letters) {
	const char *at = strchr(letters, letter);
	return at ? first + (int)(at - letters) : 999;
}

#include "calls.inc"

double dsdot_(const INT *, const float *, const INT *, const float *, const INT *);
float sdsdot_(const INT *, const float *, const float *, const INT *, const float *, const INT *);
float cblas_sdsdot(INT, float, const float *, INT, const float *, INT);
void dcopy_(const INT *, const double *, const INT *, double *, const INT *);
void cblas_sswap(INT, float *, INT, float *, INT);
INT idamax_(const INT *, const double *, const INT *);
size_t cblas_idamax(INT, const double *, INT);

static uint64_t seed = 1;
static int draw(int n) { /* 0 to n - 1 */
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % n);
}
static char pick(const char *letters) { return letters[draw((int)strlen(letters))]; }
static int increment(void) { return (int[]){1, 2, -1, -3}[draw(4)]; }

enum { FULL, BAND, PACKED };

/* The storage of a matrix: general where uplo is 0. */
struct storage {
	int kind, rows, n, kl, ku, ld; /* rows: row-major */
	char uplo, diag;               /* diag: 0 in a symmetric matrix */
};

/* place returns where an entry is stored, and -1 where it is not. */
static int place(struct storage s, int i, int j) {
	if ((s.uplo == 'U' && i > j) || (s.uplo == 'L' && i < j))
		return -1;
	if (s.kind == BAND && (i - j > s.kl || j - i > s.ku))
		return -1;
	int p = s.rows ? j : i, q = s.rows ? i : j; /* the place in a line, the line */
	switch (s.kind) {
	case BAND:
		return q * s.ld + (s.rows ? s.kl : s.ku) + p - q;
	case PACKED:
		return p <= q && (s.uplo == 'U') == !s.rows ? p + q * (q + 1) / 2 : p + (2 * s.n - q - 1) * q / 2;
	}
	return p + q * s.ld;
}

#define REAL double
#define F(name) call_d##name
#define G(name) d##name
#include "blas.c"
#undef REAL
#undef F
#undef G
#define REAL float
#define F(name) call_s##name
#define G(name) s##name
#include "blas.c"

/* Wrong arguments: the numbers that a program gets which has functions of its own for them. */

static int info, of_cblas;
static char name[16];
extern int RowMajorStrg;

void xerbla_(const char *routine, const INT *i, size_t length) {
	memset(name, 0, sizeof name);
	memcpy(name, routine, length < sizeof name ? length : sizeof name - 1);
	info = (int)*i;
}

void cblas_xerbla(int i, const char *routine, const char *format, ...) {
	(void)format;
	snprintf(name, sizeof name, "%s", routine);
	of_cblas = i;
}

#define WRONG(number, routine, call)                                                                    \
	do {                                                                                                \
		info = of_cblas = 0;                                                                            \
		call;                                                                                           \
		if (info + of_cblas != (number) || strcmp(name, routine)) {                                     \
			printf("%d: %s: argument %d, want %d\n", __LINE__, name, info + of_cblas, number);          \
			failures++;                                                                                 \
		}                                                                                               \
	} while (0)

static void wrong(void) {
	double x[16] = {0};
	WRONG(1, "DGEMM ", call_dgemm(0, 'X', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, x, 2));
	WRONG(4, "DGEMM ", call_dgemm(0, 'n', 't', 2, -1, 2, 1, x, 1, x, 2, 0, x, 2));
	WRONG(8, "DGEMM ", call_dgemm(0, 'N', 'N', 2, 2, 1, 1, x, 1, x, 2, 0, x, 1));
	WRONG(8, "DGEMM ", call_dgemm(0, 'T', 'N', 1, 2, 2, 1, x, 1, x, 2, 0, x, 2));
	WRONG(13, "DGEMM ", call_dgemm(0, 'N', 'N', 2, 2, 1, 1, x, 2, x, 1, 0, x, 1));
	WRONG(9, "DSYR2K", call_dsyr2k(0, 'U', 'C', 2, 3, 1, x, 3, x, 2, 0, x, 2));
	WRONG(11, "DTRSM ", call_dtrsm(0, 'L', 'U', 'N', 'N', 2, 2, 1, x, 2, x, 1));
	WRONG(4, "DTRSM ", call_dtrsm(0, 'L', 'U', 'N', 'X', 2, 2, 1, x, 2, x, 1));
	WRONG(8, "DGBMV ", call_dgbmv(0, 'N', 2, 2, 1, 1, 1, x, 2, x, 1, 0, x, 1));
	WRONG(13, "DGBMV ", call_dgbmv(0, 'N', 2, 2, 1, 1, 1, x, 3, x, 1, 0, x, 0));
	WRONG(9, "DGER  ", call_dger(0, 2, 2, 1, x, 1, x, 1, x, 1));
	WRONG(1, "cblas_dgemm", call_dgemm(7, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, x, 2));
	WRONG(3, "cblas_dgemm", call_dgemm(102, 'N', 'X', 2, 2, 2, 1, x, 2, x, 2, 0, x, 2));
	WRONG(9, "cblas_dgemm", call_dgemm(102, 'N', 'N', 2, 1, 1, 1, x, 1, x, 1, 0, x, 2));
	/* Row-major: the numbers of the call of Fortran, which netlib's cblas_xerbla changes back. */
	WRONG(11, "cblas_dgemm", call_dgemm(101, 'N', 'N', 2, 1, 3, 1, x, 2, x, 1, 0, x, 2));
	CHECK(RowMajorStrg == 1);
	WRONG(6, "cblas_dtrmm", call_dtrmm(101, 'L', 'U', 'N', 'N', 2, -1, 1, x, 2, x, 1));
	WRONG(8, "cblas_dger", call_dger(101, 2, 2, 1, x, 0, x, 1, x, 2));
	WRONG(10, "cblas_dger", call_dger(102, 3, 2, 1, x, 1, x, 1, x, 2));
	CHECK(RowMajorStrg == 0);
}

static void special(void) {
	INT n = 3, one = 1, two = 2, back = -1, zero = 0;
	float f[3] = {1e8f, 1, -1e8f}, g[3] = {1, 0x1p-30f, 1}, b = 0.25f;
	EQUAL(dsdot_(&n, f, &one, g, &one), 0x1p-30);
	EQUAL(sdsdot_(&n, &b, f, &one, g, &one), 0.25f);
	EQUAL(cblas_sdsdot(0, 2, f, 1, g, 1), 2);
	double x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
	dcopy_(&n, x, &two, y, &back);
	CHECK(y[0] == 5 && y[1] == 3 && y[2] == 1);
	dcopy_(&n, x, &one, y, &zero);
	CHECK(y[0] == 3);
	cblas_sswap(2, f, 2, g, -2);
	CHECK(f[0] == 1 && f[2] == 1 && g[0] == -1e8f && g[2] == 1e8f);
	double z[4] = {-1, NAN, 3, -3};
	n = 4;
	CHECK(idamax_(&n, z, &one) == 3 && cblas_idamax(4, z, 1) == 2);
	CHECK(idamax_(&n, z + 3, &back) == 0 && cblas_idamax(0, z, 1) == 0);
	z[0] = NAN;
	CHECK(idamax_(&n, z, &one) == 1);
	/* An increment of 0: one number takes all steps. */
	y[0] = 0x1p53;
	call_daxpy(0, 2, 1, (double[]){1, 1}, 1, y, 0);
	EQUAL(y[0], 0x1p53);
	EQUAL(call_dnrm2(0, 4, x + 2, 0), 6);
	EQUAL(call_dasum(0, 4, x, -1), 0);
	call_dscal(0, 4, 2, x, -1);
	CHECK(x[0] == 1);
	/* scal multiplies by 0. */
	double w[2] = {NAN, -1};
	call_dscal(0, 2, 0, w, 1);
	CHECK(isnan(w[0]));
	EQUAL(w[1], -0.0);
	/* Short and long vectors give the same, and round once. */
	double p[200], q[200], r[200];
	for (int i = 0; i < 200; i++) {
		p[i] = i % 7 == 0 ? -0.0 : i % 11 == 0 ? INFINITY : (draw(1000) - 500) / 7.0 * ldexp(1, draw(40));
		q[i] = i % 3 == 0 ? -p[i] / 3 : i % 5 == 0 ? -0.0 : i % 13 == 0 ? 0x1p-1074 : (draw(1000) - 500) / 3.0;
		r[i] = q[i];
	}
	call_daxpy(0, 200, 1.0 / 3, p, 1, q, 1);
	for (int i = 0; i < 200; i += 50)
		call_daxpy(0, 50, 1.0 / 3, p + i, 1, r + i, 1);
	for (int i = 0; i < 200; i++)
		EQUAL(r[i], q[i]);
	/* Scalar products round once, short ones as well as long ones. */
	float s1[2] = {0x1.000002p0f, 0x1p-60f}, s2[2] = {0x1.000002p0f, 1};
	EQUAL(call_sdot(0, 2, s1, 1, s2, 1), 0x1.000004p0f);
	s1[0] = 0x1.000001p0; /* 1 + 2^-24 lies halfway; what is small decides */
	EQUAL(s1[0], 1);
	float s3[3] = {1, 0x1p-24f, 0x1p-90f}, s4[3] = {1, 1, 1};
	EQUAL(call_sdot(0, 3, s3, 1, s4, 1), 0x1.000002p0f);
	EQUAL(call_sdot(0, 2, s3, 1, s4, 1), 1);
	s3[2] = -s3[2];
	EQUAL(call_sdot(0, 3, s3, 1, s4, 1), 1);
	double d1[2] = {0x1p-600, 0x1.8p-500}, d2[2] = {0x1p-600, 0x1p-574};
	EQUAL(call_ddot(0, 1, d1, 1, d2, 1), 0);
	EQUAL(call_ddot(0, 2, d1, 1, d2, 1), 0x1p-1073); /* halfway but for the first */
	double d3[2] = {0x1p1023, 0x1p1023}, d4[3] = {1, 1, -1};
	EQUAL(call_ddot(0, 2, d3, 1, d4, 1), INFINITY);
	EQUAL(call_ddot(0, 2, d3, 1, d4 + 1, 1), 0);
	float big[2] = {0x1p127f, 0x1p127f};
	EQUAL(call_sdot(0, 2, big, 1, s4, 1), INFINITY);
	EQUAL(call_ddot(0, 1, (double[]){-0.0}, 1, d4, 1), -0.0);
	/* alpha = 0 and beta = 0 leave NaN unread. */
	double m[4] = {NAN, NAN, NAN, NAN}, c[4] = {NAN, NAN, NAN, NAN};
	call_dgemm(0, 'N', 'N', 2, 2, 2, 0, m, 2, m, 2, 0, c, 2);
	CHECK(c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0);
	/* k = 0 is no reason to leave c unread unless beta = 0. */
	c[0] = 3;
	call_dgemm(101, 'N', 'N', 1, 1, 0, 1, m, 1, m, 1, 2, c, 1);
	EQUAL(c[0], 6);
	/* m = 0 leaves y as it is, as in the reference. */
	y[0] = 7;
	call_dgemv(0, 'T', 0, 1, 1, m, 1, m, 1, 0, y, 1);
	EQUAL(y[0], 7);
}

/* in_child goes on in a child of this process, where libhalfulp has been used. */
static void in_child(void) {
	const double x[3] = {1e16, 1, -1e16}, y[3] = {1, 1, 1};
	int status;
	if (call_ddot(0, 3, x, 1, y, 1) != 1)
		exit(1);
	pid_t child = fork();
	if (child == 0)
		return;
	waitpid(child, &status, 0);
	exit(status != 0);
}

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1)
		in_child();
	for (int i = 0; i < 60; i++)
		for (int l = 0; l < 3; l++) {
			int layout = (int[]){0, 101, 102}[l];
			dlevel1(layout);
			slevel1(layout);
			dlevel2(layout);
			slevel2(layout);
			dupdates(layout);
			supdates(layout);
			dlevel3(layout);
			slevel3(layout);
		}
	special();
	wrong();
	if (!failures)
		printf("passed\n");
	return failures != 0;
}
#else

enum { G(SIZE) = 128 };

static void G(fill)(REAL *x) {
	for (int i = 0; i < G(SIZE); i++)
		x[i] = draw(9) - 4;
}

static void G(same)(int line, const char *what, const REAL *x, const REAL *want) {
	for (int i = 0; i < G(SIZE); i++)
		if (x[i] != want[i]) {
			printf("%d: %s: number %d: %g, want %g\n", line, what, i, x[i], want[i]);
			failures++;
			return;
		}
}
#define SAME(what, x, want) G(same)(__LINE__, what, x, want)

/* entry i of a vector of n */
static REAL *G(at)(REAL *x, int n, int inc, int i) { return inc > 0 ? x + i * inc : x + (n - 1 - i) * -inc; }

static void G(level1)(int layout) {
	int n = draw(6), incx = increment(), incy = increment();
	REAL x[G(SIZE)], y[G(SIZE)], u[G(SIZE)], v[G(SIZE)], alpha = draw(5) - 2;
	G(fill)(x);
	G(fill)(y);
	memcpy(u, x, sizeof x);
	memcpy(v, y, sizeof y);
#define X(i) *G(at)(u, n, incx, i)
#define Y(i) *G(at)(v, n, incy, i)
	double dot = 0, sum = 0, squares = 0;
	for (int i = 0; i < n; i++) {
		dot += X(i) * Y(i);
		sum += fabs(X(i));
		squares += X(i) * X(i);
	}
	CHECK(F(dot)(layout, n, x, incx, y, incy) == dot);
	EQUAL(F(asum)(layout, n, x, incx), incx > 0 ? sum : 0);
	EQUAL(F(nrm2)(layout, n, x, incx), (REAL)sqrt(squares));
	F(axpy)(layout, n, alpha, x, incx, y, incy);
	for (int i = 0; i < n; i++)
		Y(i) += alpha * X(i);
	SAME("axpy", y, v);
	F(scal)(layout, n, alpha, x, incx);
	for (int i = 0; i < n && incx > 0; i++)
		X(i) *= alpha;
	SAME("scal", x, u);
	F(rot)(layout, n, x, incx, y, incy, 2, -3);
	for (int i = 0; i < n; i++) {
		REAL p = X(i), q = Y(i);
		X(i) = 2 * p - 3 * q;
		Y(i) = 2 * q + 3 * p;
	}
	SAME("rot", x, u);
	SAME("rot", y, v);
	REAL param[5] = {1, 2, 0, 0, 3};
	F(rotm)(layout, n, x, incx, y, incy, param);
	for (int i = 0; i < n; i++) {
		REAL p = X(i), q = Y(i);
		X(i) = 2 * p + q;
		Y(i) = 3 * q - p;
	}
	SAME("rotm", x, u);
	SAME("rotm", y, v);
#undef X
#undef Y
	REAL a = 3, b = 4, c, s;
	F(rotg)(layout, &a, &b, &c, &s);
	CHECK(a == 5 && c == (REAL)0.6 && s == (REAL)0.8);
	REAL d1 = 1, d2 = 1, x1 = 3, p[5] = {9, 9, 9, 9, 9};
	F(rotmg)(layout, &d1, &d2, &x1, 4, p);
	CHECK(p[0] == 1 && p[1] == (REAL)0.75 && p[2] == 9 && p[3] == 9 && p[4] == (REAL)0.75 && x1 == (REAL)6.25);
}

/* value is an entry of op(A). */
static REAL G(value)(const REAL *a, struct storage s, char trans, int i, int j) {
	if (trans == 'T' || trans == 'C' || (s.uplo && !s.diag && place(s, i, j) < 0)) {
		int t = i;
		i = j;
		j = t;
	}
	if (s.diag == 'U' && i == j)
		return 1;
	return place(s, i, j) < 0 ? 0 : a[place(s, i, j)];
}

static void G(level2)(int layout) {
	int m = 1 + draw(5), n = 1 + draw(5), incx = increment(), incy = increment(), rows = layout == 101;
	int kl = draw(3), ku = draw(3), k = draw(4);
	char trans = pick("NTC"), uplo = pick("UL"), diag = pick("NU");
	REAL a[G(SIZE)], x[G(SIZE)], y[G(SIZE)], u[G(SIZE)], v[G(SIZE)], alpha = draw(5) - 2, beta = draw(3);
	G(fill)(a);
	G(fill)(x);
	G(fill)(y);
	int nx = trans == 'N' ? n : m, ny = trans == 'N' ? m : n;
#define PRODUCT(what, s, t, nx, ny, call)                                                               \
	do {                                                                                                \
		struct storage S = s;                                                                           \
		memcpy(v, y, sizeof y);                                                                         \
		for (int i = 0; i < (ny); i++) {                                                                \
			REAL sum = 0;                                                                               \
			for (int j = 0; j < (nx); j++)                                                              \
				sum += G(value)(a, S, t, i, j) * *G(at)(x, nx, incx, j);                                \
			REAL *p = G(at)(v, ny, incy, i);                                                            \
			*p = alpha * sum + beta * *p;                                                               \
		}                                                                                               \
		call;                                                                                           \
		SAME(what, y, v);                                                                               \
	} while (0)
#define STORAGE(...) ((struct storage){__VA_ARGS__, .rows = rows})
	PRODUCT("gemv", STORAGE(.ld = 7), trans, nx, ny, F(gemv)(layout, trans, m, n, alpha, a, 7, x, incx, beta, y, incy));
	PRODUCT("gbmv", STORAGE(BAND, .kl = kl, .ku = ku, .ld = 6), trans, nx, ny,
		F(gbmv)(layout, trans, m, n, kl, ku, alpha, a, 6, x, incx, beta, y, incy));
	PRODUCT("symv", STORAGE(.ld = 7, .uplo = uplo), 'N', n, n, F(symv)(layout, uplo, n, alpha, a, 7, x, incx, beta, y, incy));
	PRODUCT("sbmv", STORAGE(BAND, .kl = uplo == 'L' ? k : 0, .ku = uplo == 'U' ? k : 0, .ld = 6, .uplo = uplo), 'N', n, n,
		F(sbmv)(layout, uplo, n, k, alpha, a, 6, x, incx, beta, y, incy));
	PRODUCT("spmv", STORAGE(PACKED, .n = n, .uplo = uplo), 'N', n, n, F(spmv)(layout, uplo, n, alpha, a, x, incx, beta, y, incy));

	/* Triangles: a product, then the system that has the vector as its solution. */
#define TRIANGLE(what, s, product, system)                                                              \
	do {                                                                                                \
		struct storage S = s;                                                                           \
		for (int i = 0; i < n; i++)                                                                     \
			a[place(S, i, i)] = (REAL[]){1, -1, 2, -4}[draw(4)];                                        \
		G(fill)(x);                                                                                     \
		memcpy(u, x, sizeof x);                                                                         \
		memcpy(v, x, sizeof x);                                                                         \
		for (int i = 0; i < n; i++) {                                                                   \
			REAL sum = 0;                                                                               \
			for (int j = 0; j < n; j++)                                                                 \
				sum += G(value)(a, S, trans, i, j) * *G(at)(x, n, incx, j);                             \
			*G(at)(v, n, incx, i) = sum;                                                                \
		}                                                                                               \
		product;                                                                                        \
		SAME(what "mv", x, v);                                                                          \
		system;                                                                                         \
		SAME(what "sv", x, u);                                                                          \
	} while (0)
	TRIANGLE("tr", STORAGE(.ld = 7, .uplo = uplo, .diag = diag), F(trmv)(layout, uplo, trans, diag, n, a, 7, x, incx),
		F(trsv)(layout, uplo, trans, diag, n, a, 7, x, incx));
	TRIANGLE("tb", STORAGE(BAND, .kl = uplo == 'L' ? k : 0, .ku = uplo == 'U' ? k : 0, .ld = 6, .uplo = uplo, .diag = diag),
		F(tbmv)(layout, uplo, trans, diag, n, k, a, 6, x, incx), F(tbsv)(layout, uplo, trans, diag, n, k, a, 6, x, incx));
	TRIANGLE("tp", STORAGE(PACKED, .n = n, .uplo = uplo, .diag = diag), F(tpmv)(layout, uplo, trans, diag, n, a, x, incx),
		F(tpsv)(layout, uplo, trans, diag, n, a, x, incx));
}

static void G(updates)(int layout) {
	int m = 1 + draw(5), n = 1 + draw(5), incx = increment(), incy = increment(), rows = layout == 101;
	char uplo = pick("UL");
	REAL a[G(SIZE)], w[G(SIZE)], x[G(SIZE)], y[G(SIZE)], alpha = draw(5) - 2;
	G(fill)(a);
	G(fill)(x);
	G(fill)(y);
#define UPDATE(what, s, m, expression, call)                                                            \
	do {                                                                                                \
		struct storage S = s;                                                                           \
		memcpy(w, a, sizeof a);                                                                         \
		for (int i = 0; i < (m); i++)                                                                   \
			for (int j = 0; j < n; j++)                                                                 \
				if (place(S, i, j) >= 0)                                                                \
					w[place(S, i, j)] += alpha * (expression);                                          \
		call;                                                                                           \
		SAME(what, a, w);                                                                               \
	} while (0)
#define X(i) *G(at)(x, n, incx, i)
#define Y(i) *G(at)(y, n, incy, i)
	UPDATE("ger", STORAGE(.ld = 8), m, *G(at)(x, m, incx, i) * Y(j), F(ger)(layout, m, n, alpha, x, incx, y, incy, a, 8));
	UPDATE("syr", STORAGE(.ld = 8, .uplo = uplo), n, X(i) * X(j), F(syr)(layout, uplo, n, alpha, x, incx, a, 8));
	UPDATE("syr2", STORAGE(.ld = 8, .uplo = uplo), n, X(i) * Y(j) + Y(i) * X(j), F(syr2)(layout, uplo, n, alpha, x, incx, y, incy, a, 8));
	UPDATE("spr", STORAGE(PACKED, .n = n, .uplo = uplo), n, X(i) * X(j), F(spr)(layout, uplo, n, alpha, x, incx, a));
	UPDATE("spr2", STORAGE(PACKED, .n = n, .uplo = uplo), n, X(i) * Y(j) + Y(i) * X(j), F(spr2)(layout, uplo, n, alpha, x, incx, y, incy, a));
#undef X
#undef Y
}

static void G(level3)(int layout) {
	int m = 1 + draw(5), n = 1 + draw(5), k = draw(6), rows = layout == 101;
	char ta = pick("NTC"), tb = pick("NTC"), uplo = pick("UL"), side = pick("LR"), diag = pick("NU");
	REAL a[G(SIZE)], b[G(SIZE)], c[G(SIZE)], w[G(SIZE)], alpha = draw(5) - 2, beta = draw(3);
	G(fill)(a);
	G(fill)(b);
	G(fill)(c);
	struct storage general = STORAGE(.ld = 9), triangle = STORAGE(.ld = 9, .uplo = uplo);
	struct storage A = STORAGE(.ld = 7), B = STORAGE(.ld = 8), S = STORAGE(.ld = 7, .uplo = uplo), T = STORAGE(.ld = 7, .uplo = uplo, .diag = diag);
	char other = ta == 'N' ? 'T' : 'N';
#define MATRIX(what, c, beta, s, m, n, k, p, q, call)                                                   \
	do {                                                                                                \
		memcpy(w, c, sizeof c);                                                                         \
		for (int i = 0; i < (m); i++)                                                                   \
			for (int j = 0; j < (n); j++) {                                                             \
				REAL sum = 0;                                                                           \
				for (int l = 0; l < (k); l++)                                                           \
					sum += (p) * (q);                                                                   \
				if (place(s, i, j) >= 0)                                                                \
					w[place(s, i, j)] = alpha * sum + (beta) * w[place(s, i, j)];                       \
			}                                                                                           \
		call;                                                                                           \
		SAME(what, c, w);                                                                               \
	} while (0)
#define V(x, s, t, i, j) G(value)(x, s, t, i, j)
	MATRIX("gemm", c, beta, general, m, n, k, V(a, A, ta, i, l), V(b, B, tb, l, j),
		F(gemm)(layout, ta, tb, m, n, k, alpha, a, 7, b, 8, beta, c, 9));
	if (side == 'L')
		MATRIX("symm", c, beta, general, m, n, m, V(a, S, 'N', i, l), V(b, B, 'N', l, j), F(symm)(layout, side, uplo, m, n, alpha, a, 7, b, 8, beta, c, 9));
	else
		MATRIX("symm", c, beta, general, m, n, n, V(b, B, 'N', i, l), V(a, S, 'N', l, j), F(symm)(layout, side, uplo, m, n, alpha, a, 7, b, 8, beta, c, 9));
	MATRIX("syrk", c, beta, triangle, n, n, k, V(a, A, ta, i, l), V(a, A, other, l, j), F(syrk)(layout, uplo, ta, n, k, alpha, a, 7, beta, c, 9));
	MATRIX("syr2k", c, beta, triangle, n, n, 2 * k, l < k ? V(a, A, ta, i, l) : V(b, B, ta, i, l - k),
		l < k ? V(b, B, other, l, j) : V(a, A, other, l - k, j), F(syr2k)(layout, uplo, ta, n, k, alpha, a, 7, b, 8, beta, c, 9));
	for (int i = 0; i < 7; i++)
		a[i * 8] = (REAL[]){1, -1, 2, -4}[draw(4)];
	alpha = (REAL[]){1, -2, 4}[draw(3)];
	REAL u[G(SIZE)];
	memcpy(u, b, sizeof b);
	if (side == 'L')
		MATRIX("trmm", b, 0, B, m, n, m, V(a, T, ta, i, l), V(u, B, 'N', l, j), F(trmm)(layout, side, uplo, ta, diag, m, n, alpha, a, 7, b, 8));
	else
		MATRIX("trmm", b, 0, B, m, n, n, V(u, B, 'N', i, l), V(a, T, ta, l, j), F(trmm)(layout, side, uplo, ta, diag, m, n, alpha, a, 7, b, 8));
	F(trsm)(layout, side, uplo, ta, diag, m, n, 1 / alpha, a, 7, b, 8);
	SAME("trsm", b, u);
}
#endif

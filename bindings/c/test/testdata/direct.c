/* The BLAS on arrays against loops, on small integers, of which every result is exact. */
#ifndef REAL
#include "check.h"

enum { N = 6, LD = 8 };

static uint64_t seed = 1;
static int draw(int n) { /* 0 to n - 1 */
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % n);
}
static char pick(const char *letters) { return letters[draw((int)strlen(letters))]; }
static int increment(void) { return (int[]){1, 2, -1, -3}[draw(4)]; }

#define REAL double
#define F(name) halfulp_blas_d##name
#define G(name) d##name
#include "direct.c"
#undef REAL
#undef F
#undef G
#define REAL float
#define F(name) halfulp_blas_s##name
#define G(name) s##name
#include "direct.c"

static void misuse(void) {
	double x[4] = {1, 2, 3, 4}, r;
	FAILS(HALFULP_MISUSE, "incy", halfulp_blas_daxpy(2, 1, x, 1, x, 0, 0));
	OK(halfulp_blas_ddot(2, x + 1, 0, x, 1, 0, &r));
	EQUAL(r, 6);
	FAILS(HALFULP_MISUSE, "at least 0", halfulp_blas_ddot(-1, x, 1, x, 1, 0, &r));
	FAILS(HALFULP_MISUSE, "strides", halfulp_blas_dgemv('N', 2, 2, 1, x, 1, x, 1, 0, x, 1, 0));
	FAILS(HALFULP_MISUSE, "argument uplo", halfulp_blas_dsymv('X', 2, 1, x, 2, x, 1, 0, x, 1, 0));
	OK(halfulp_blas_dgemm('N', 'N', 0, 1, 2, 1, NULL, 1, x, 2, 0, NULL, 1, 0));
	float f[2] = {1e8f, 1}, g[2] = {1, 0x1p-30f};
	OK(halfulp_blas_dsdot(2, f, 1, g, 1, 0, &r));
	EQUAL(r, 1e8 + 0x1p-30);
	OK(halfulp_blas_sdsdot(2, -1e8f, f, 1, g, 1, 0, &r));
	EQUAL(r, 0x1p-30);
	/* Infinities stay within their band. */
	double band[6] = {1, 1, 1, 1, 1, 0}, v[3] = {INFINITY, 1, 1};
	OK(halfulp_blas_dtbmv('L', 'N', 'N', 3, 1, band, 2, v, 1, 0));
	CHECK(v[0] == INFINITY && v[1] == INFINITY && v[2] == 2);
	double w[3] = {INFINITY, 1, 1}, diagonal[3] = {1, 2, 4};
	OK(halfulp_blas_dtbsv('U', 'N', 'N', 3, 0, diagonal, 1, w, 1, 0));
	CHECK(w[0] == INFINITY && w[1] == 0.5 && w[2] == 0.25);
	/* One rounding. */
	double t[4] = {3, 1, 1, 0}, b[2] = {1, 1};
	OK(halfulp_blas_dtbsv('L', 'N', 'N', 2, 1, t, 2, b, 1, 0));
	EQUAL(b[0], 1.0 / 3);
	EQUAL(b[1], 0x1.5555555555556p-1);
}

int main(void) {
	for (int i = 0; i < 150; i++) {
		dlevel1();
		slevel1();
		dlevel2();
		slevel2();
		dlevel3();
		slevel3();
	}
	misuse();
	return finished();
}
#else

/* entry i of a vector of the BLAS */
static REAL *G(at)(REAL *x, int n, int inc, int i) { return inc > 0 ? x + i * inc : x + (n - 1 - i) * -inc; }

static void G(fill)(REAL *x, int n) {
	for (int i = 0; i < n; i++)
		x[i] = draw(9) - 4;
}

static void G(same)(int line, const char *what, const REAL *x, const REAL *want, int n) {
	for (int i = 0; i < n; i++)
		if (x[i] != want[i]) {
			printf("%d: %s: %d of %d: %g, want %g\n", line, what, i, n, x[i], want[i]);
			failures++;
			return;
		}
}
#define SAME(what, x, want) G(same)(__LINE__, what, x, want, sizeof(x) / sizeof *(x))

static void G(level1)(void) {
	int n = draw(6), incx = increment(), incy = increment();
	REAL x[20], y[20], u[20], v[20], alpha = draw(5) - 2, c = 2, s = -3;
	G(fill)(x, 20);
	G(fill)(y, 20);
	memcpy(u, x, sizeof x);
	memcpy(v, y, sizeof y);
#define X(i) *G(at)(u, n, incx, i)
#define Y(i) *G(at)(v, n, incy, i)
	double r, dot = 0, sum = 0, squares = 0;
	for (int i = 0; i < n; i++) {
		dot += X(i) * Y(i);
		sum += fabs(X(i));
		squares += X(i) * X(i);
	}
	OK(F(dot)(n, x, incx, y, incy, 0, &r));
	CHECK(r == dot);
	OK(F(asum)(n, x, incx, 0, &r));
	EQUAL(r, sum);
	OK(F(nrm2)(n, x, incx, 0, &r));
	EQUAL(r, (REAL)sqrt(squares));
	OK(F(axpy)(n, alpha, x, incx, y, incy, 0));
	for (int i = 0; i < n; i++)
		Y(i) += alpha * X(i);
	SAME("axpy", y, v);
	OK(F(scal)(n, alpha, x, incx, 0));
	for (int i = 0; i < n; i++)
		X(i) *= alpha;
	SAME("scal", x, u);
	OK(F(rot)(n, x, incx, y, incy, c, s, 0));
	for (int i = 0; i < n; i++) {
		REAL p = X(i), q = Y(i);
		X(i) = c * p + s * q;
		Y(i) = c * q - s * p;
	}
	SAME("rot", x, u);
	REAL param[5] = {1, 2, 0, 0, 3};
	OK(F(rotm)(n, x, incx, y, incy, param, 0));
	for (int i = 0; i < n; i++) {
		REAL p = X(i), q = Y(i);
		X(i) = 2 * p + q;
		Y(i) = 3 * q - p;
	}
	SAME("rotm", x, u);
	SAME("rotm", y, v);
	REAL a = 3, b = 4;
	OK(F(rotg)(&a, &b, &c, &s, 0));
	CHECK(a == 5 && c == (REAL)0.6 && s == (REAL)0.8);
	REAL d1 = 1, d2 = 1, x1 = 3, p[5] = {9, 9, 9, 9, 9};
	OK(F(rotmg)(&d1, &d2, &x1, 4, p, 0));
	CHECK(p[0] == 1 && p[1] == (REAL)0.75 && p[2] == 9 && p[3] == 9 && p[4] == (REAL)0.75 && x1 == (REAL)6.25);
}

static void G(level2)(void) {
	int m = 1 + draw(5), n = 1 + draw(5), incx = increment(), incy = increment();
	char trans = pick("NTCn"), uplo = pick("ULu"), diag = pick("NU");
	int transposed = trans == 'T' || trans == 'C', upper = uplo != 'L', unit = diag == 'U';
	REAL a[LD * N], x[20], y[20], v[20], alpha = draw(5) - 2, beta = draw(3);
	G(fill)(a, LD * N);
	G(fill)(x, 20);
	G(fill)(y, 20);
	memcpy(v, y, sizeof y);
	int nx = transposed ? m : n, ny = transposed ? n : m;
#undef X
#undef Y
#define A(i, j) a[(i) + (j)*LD]
#define X(i) *G(at)(x, nx, incx, i)
#define Y(i) *G(at)(v, ny, incy, i)
	for (int i = 0; i < ny; i++) {
		REAL s = 0;
		for (int j = 0; j < nx; j++)
			s += (transposed ? A(j, i) : A(i, j)) * X(j);
		Y(i) = alpha * s + beta * Y(i);
	}
	OK(F(gemv)(trans, m, n, alpha, a, LD, x, incx, beta, y, incy, 0));
	SAME("gemv", y, v);
	int kl = draw(3), ku = draw(3);
	REAL band[LD * N];
	G(fill)(band, LD * N);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			if (i - j <= kl && j - i <= ku)
				band[ku + i - j + j * LD] = A(i, j);
	for (int i = 0; i < ny; i++) {
		REAL s = 0;
		for (int j = 0; j < nx; j++) {
			int r = transposed ? j : i, c = transposed ? i : j;
			if (r - c <= kl && c - r <= ku)
				s += A(r, c) * X(j);
		}
		Y(i) = alpha * s + beta * Y(i);
	}
	OK(F(gbmv)(trans, m, n, kl, ku, alpha, band, LD, x, incx, beta, y, incy, 0));
	SAME("gbmv", y, v);
	/* from here on symmetric and triangular, of order n */
	nx = ny = n;
	REAL full[LD * N], packed[N * N], full0[LD * N];
	int k = draw(3), at = 0;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			REAL e = (i <= j) == upper || i == j ? A(i, j) : A(j, i);
			full[i + j * LD] = e;
		}
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			if (i == j || (i < j) == upper)
				packed[at++] = A(i, j);
	G(fill)(band, LD * N);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			if (upper && i <= j && j - i <= k)
				band[k + i - j + j * LD] = A(i, j);
			else if (!upper && i >= j && i - j <= k)
				band[i - j + j * LD] = A(i, j);
	for (int kind = 0; kind < 3; kind++) {
		for (int i = 0; i < n; i++) {
			REAL s = 0;
			for (int j = 0; j < n; j++)
				if (kind < 2 || abs(i - j) <= k)
					s += full[i + j * LD] * X(j);
			Y(i) = alpha * s + beta * Y(i);
		}
		if (kind == 0)
			OK(F(symv)(uplo, n, alpha, a, LD, x, incx, beta, y, incy, 0));
		else if (kind == 1)
			OK(F(spmv)(uplo, n, alpha, packed, x, incx, beta, y, incy, 0));
		else
			OK(F(sbmv)(uplo, n, k, alpha, band, LD, x, incx, beta, y, incy, 0));
		SAME("symv, spmv, sbmv", y, v);
	}
	/* triangular: products, and systems whose solutions are the integers that they began with */
	for (int j = 0; j < n; j++) {
		A(j, j) = draw(2) ? 2 : -1;
		band[(upper ? k : 0) + j * LD] = A(j, j);
		at = upper ? j * (j + 3) / 2 : j * (2 * n - j + 1) / 2;
		packed[at] = A(j, j);
	}
	for (int kind = 0; kind < 3; kind++) {
		REAL before[20];
		for (int i = 0; i < 20; i++)
			y[i] = v[i] = before[i] = draw(5) - 2;
		REAL t[N];
		for (int i = 0; i < n; i++) {
			t[i] = 0;
			for (int j = 0; j < n; j++) {
				int r = transposed ? j : i, c = transposed ? i : j;
				if (r == c)
					t[i] += (unit ? 1 : A(r, c)) * Y(j);
				else if ((r < c) == upper && (kind < 2 || abs(r - c) <= k))
					t[i] += A(r, c) * Y(j);
			}
		}
		for (int i = 0; i < n; i++)
			Y(i) = t[i];
		if (kind == 0)
			OK(F(trmv)(uplo, trans, diag, n, a, LD, y, incy, 0));
		else if (kind == 1)
			OK(F(tpmv)(uplo, trans, diag, n, packed, y, incy, 0));
		else
			OK(F(tbmv)(uplo, trans, diag, n, k, band, LD, y, incy, 0));
		SAME("trmv, tpmv, tbmv", y, v);
		if (kind == 0)
			OK(F(trsv)(uplo, trans, diag, n, a, LD, y, incy, 0));
		else if (kind == 1)
			OK(F(tpsv)(uplo, trans, diag, n, packed, y, incy, 0));
		else
			OK(F(tbsv)(uplo, trans, diag, n, k, band, LD, y, incy, 0));
		SAME("trsv, tpsv, tbsv", y, before);
	}
	/* updates */
	G(fill)(y, 20);
	memcpy(v, y, sizeof y);
	memcpy(full, a, sizeof a);
	memcpy(full0, a, sizeof a);
	nx = m;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			full[i + j * LD] += alpha * X(i) * Y(j);
	OK(F(ger)(m, n, alpha, x, incx, y, incy, a, LD, 0));
	SAME("ger", a, full);
	memcpy(a, full0, sizeof a);
	nx = n;
	for (int two = 0; two < 2; two++) {
		memcpy(full, a, sizeof a);
		REAL want[N * N];
		memcpy(want, packed, sizeof want);
		at = 0;
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++)
				if (i == j || (i < j) == upper) {
					REAL e = two ? X(i) * Y(j) + Y(i) * X(j) : X(i) * X(j);
					full[i + j * LD] += alpha * e;
					want[at++] += alpha * e;
				}
		if (two) {
			OK(F(syr2)(uplo, n, alpha, x, incx, y, incy, a, LD, 0));
			OK(F(spr2)(uplo, n, alpha, x, incx, y, incy, packed, 0));
		} else {
			OK(F(syr)(uplo, n, alpha, x, incx, a, LD, 0));
			OK(F(spr)(uplo, n, alpha, x, incx, packed, 0));
		}
		SAME("syr, syr2", a, full);
		G(same)(__LINE__, "spr, spr2", packed, want, at);
	}
}

/* op(X)(i, j) */
static REAL G(op)(const REAL *x, int transposed, int i, int j) { return transposed ? x[j + i * LD] : x[i + j * LD]; }

static void G(level3)(void) {
	int m = 1 + draw(5), n = 1 + draw(5), k = 1 + draw(5);
	char ta = pick("NTc"), tb = pick("NtC"), uplo = pick("UL"), diag = pick("NU"), side = pick("LR"), trans = pick("NTC");
	int transposed = trans != 'N', upper = uplo == 'U', left = side == 'L', unit = diag == 'U';
	REAL a[LD * N], b[LD * N], c[LD * N], w[LD * N], t[LD * N], alpha = draw(5) - 2, beta = draw(3);
	G(fill)(a, LD * N);
	G(fill)(b, LD * N);
	G(fill)(c, LD * N);
	memcpy(w, c, sizeof c);
#define C(i, j) w[(i) + (j)*LD]
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			REAL s = 0;
			for (int h = 0; h < k; h++)
				s += G(op)(a, ta != 'N', i, h) * G(op)(b, tb != 'N', h, j);
			C(i, j) = alpha * s + beta * C(i, j);
		}
	OK(F(gemm)(ta, tb, m, n, k, alpha, a, LD, b, LD, beta, c, LD, 0));
	SAME("gemm", c, w);
	int order = left ? m : n;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			REAL s = 0;
			for (int h = 0; h < order; h++) {
				int p = left ? i : h, q = left ? h : j;
				REAL e = (p <= q) == upper || p == q ? A(p, q) : A(q, p);
				s += e * (left ? b[h + j * LD] : b[i + h * LD]);
			}
			C(i, j) = alpha * s + beta * C(i, j);
		}
	OK(F(symm)(side, uplo, m, n, alpha, a, LD, b, LD, beta, c, LD, 0));
	SAME("symm", c, w);
	for (int two = 0; two < 2; two++) {
		for (int i = 0; i < LD * N; i++)
			c[i] = w[i] = draw(9) - 4;
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++) {
				REAL s = 0;
				for (int h = 0; h < k; h++) {
					REAL p = G(op)(a, transposed, i, h), q = G(op)(a, transposed, j, h);
					s += two ? p * G(op)(b, transposed, j, h) + G(op)(b, transposed, i, h) * q : p * q;
				}
				if (i == j || (i < j) == upper)
					C(i, j) = alpha * s + beta * C(i, j);
			}
		if (two)
			OK(F(syr2k)(uplo, trans, n, k, alpha, a, LD, b, LD, beta, c, LD, 0));
		else
			OK(F(syrk)(uplo, trans, n, k, alpha, a, LD, beta, c, LD, 0));
		SAME("syrk, syr2k", c, w);
	}
	for (int j = 0; j < N; j++)
		A(j, j) = draw(2) ? 2 : -1;
	memcpy(w, b, sizeof b);
	memcpy(t, b, sizeof b);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			REAL s = 0;
			for (int h = 0; h < order; h++) {
				int p = left ? i : h, q = left ? h : j;
				int r = transposed ? q : p, l = transposed ? p : q;
				REAL e = r == l ? (unit ? 1 : A(r, l)) : (r < l) == upper ? A(r, l) : 0;
				s += e * (left ? t[h + j * LD] : t[i + h * LD]);
			}
			C(i, j) = 2 * s;
		}
	OK(F(trmm)(side, uplo, trans, diag, m, n, 2, a, LD, b, LD, 0));
	SAME("trmm", b, w);
	OK(F(trsm)(side, uplo, trans, diag, m, n, (REAL)0.5, a, LD, b, LD, 0));
	SAME("trsm", b, t);
}
#undef A
#undef C
#undef X
#undef Y
#undef SAME

#endif

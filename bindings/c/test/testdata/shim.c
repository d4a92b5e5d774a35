/* What libhalfulpblas does beside computing; the first argument says what to try. */
#include <complex.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#ifdef ILP64
typedef int64_t INT;
#else
typedef int32_t INT;
#endif

double ddot_(const INT *, const double *, const INT *, const double *, const INT *);
void dgemm_(const char *, const char *, const INT *, const INT *, const INT *, const double *, const double *, const INT *, const double *,
	const INT *, const double *, double *, const INT *, size_t, size_t);
void cblas_dsyr(int, int, INT, double, const double *, INT, double *, INT);
void zgemm_(const char *, const char *, const INT *, const INT *, const INT *, const double complex *, const double complex *, const INT *,
	const double complex *, const INT *, const double complex *, double complex *, const INT *, size_t, size_t);
float complex cdotc_(const INT *, const float complex *, const INT *, const float complex *, const INT *);
void cblas_csscal(INT, float, void *, INT);

static const INT one = 1, two = 2;

/* a sum that only one rounding gets right */
static int right(void) {
	const double x[3] = {1e16, 1, -1e16}, y[3] = {1, 1, 1};
	const INT n = 3;
	return ddot_(&n, x, &one, y, &one) == 1;
}

static void *in_thread(void *unused) {
	(void)unused;
	return right() ? NULL : (void *)1;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	alarm(60); /* no hang */
	if (!strcmp(what, "fork-before")) {
		pid_t child = fork();
		int status = 0;
		if (child == 0)
			_exit(right() ? 0 : 1);
		waitpid(child, &status, 0);
		return !right() || status != 0;
	}
	if (!strcmp(what, "folder")) /* the name of the library is relative to another folder */
		return chdir("/") != 0 || !right();
	if (!strcmp(what, "threads")) {
		pthread_t t[8];
		int failed = 0;
		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, in_thread, NULL);
		for (int i = 0; i < 8; i++) {
			void *r;
			pthread_join(t[i], &r);
			failed |= r != NULL;
		}
		return failed;
	}
	if (!strcmp(what, "xerbla")) {
		double x[4] = {0};
		dgemm_("N", "N", &two, &two, &two, x, x, &one, x, &two, x, x, &two, 1, 1);
		return 7;
	}
	if (!strcmp(what, "cblas_xerbla")) {
		double x[4] = {0};
		cblas_dsyr(101, 121, 2, 1, x, 1, x, 1);
		return 7;
	}
	if (!strcmp(what, "suffix")) { /* as libblastrampoline looks for names and integers */
		const int64_t n = (int64_t)0xffffffff00000003, i = 1;
		const float x[3] = {1, 2, 1};
		const char *names[] = {"isamax_", "isamax_64_"};
		for (int k = 0; k < 2; k++) {
			int64_t (*isamax)(const int64_t *, const float *, const int64_t *);
			*(void **)&isamax = dlsym(RTLD_DEFAULT, names[k]);
			if (!isamax)
				printf("%s: none\n", names[k]);
			else
				printf("%s: %d\n", names[k], (int)(isamax(&n, x, &i) & 0xffffffff));
		}
		return 0;
	}
#ifdef __x86_64__
	if (!strcmp(what, "mode")) { /* rounding towards 0, subnormal numbers as 0 */
		const double x[2] = {1, 1}, y[2] = {1, 0x1.8p-53}, u[1] = {0x1p-1000}, v[1] = {0x1p-60};
		const unsigned mode = 0x1f80 | 0x6000 | 0x8040;
		_mm_setcsr(mode);
		double s = ddot_(&two, x, &one, y, &one), t = ddot_(&one, u, &one, v, &one);
		unsigned after = _mm_getcsr();
		_mm_setcsr(0x1f80);
		printf("%a %a %s\n", s, t, after == mode ? "kept" : "changed");
		return 0;
	}
#endif
	if (!strcmp(what, "complex")) { /* shim-behind.c is the BLAS behind */
		double complex a = 1, b = 2, c = 3, alpha = 4, beta = 5;
		const INT m = 11, n = 12, k = 13, lda = 14, ldb = 15, ldc = 16;
		zgemm_("C", "T", &m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc, 1, 1);
		float complex x = 2 + 3 * I, y = 5 - 7 * I, d = cdotc_(&one, &x, &one, &y, &one);
		cblas_csscal(1, 0.5f, &x, 1);
		printf("%g %g%+gi %g%+gi\n", creal(c), crealf(d), cimagf(d), crealf(x), cimagf(x));
		return 0;
	}
	if (!strcmp(what, "verify")) {
		double a[4] = {1, 2, 3, 4}, c[4] = {0}, alpha = 1, beta = 0;
		const double y[3] = {1, 1, 1};
		printf("%.17g", ddot_(&two, a, &one, y, &one));
		dgemm_("N", "N", &two, &two, &two, &alpha, a, &two, a, &two, &beta, c, &two, 1, 1);
		printf(" %g %g %g %g\n", c[0], c[1], c[2], c[3]);
		return 0;
	}
	return 8;
}

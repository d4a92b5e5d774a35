/* Times calls of the C library: a line "time CALLS NAME" on standard input is answered by the
 * nanoseconds that so many calls take, of processor time and by the clock; "memory" by the bytes of
 * resident memory and the live handles. */
#include <halfulp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void ok(int status) {
	if (status != HALFULP_OK) {
		printf("no %s\n", halfulp_last_error());
		exit(1);
	}
}

static halfulp_matrix of(int64_t rows, int64_t cols, const char *format) {
	halfulp_matrix m;
	ok(halfulp_random(rows, cols, 0, (uint64_t)(1 + cols), format, &m));
	return m;
}

static long long now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t memory(void) {
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		exit(1);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static double x[4], y[8], a[64], z[64];
static halfulp_matrix x4, x8, a8, wide4, wide8, wideA, a1000;

static void ddot(void) {
	double r;
	ok(halfulp_blas_ddot(4, x, 1, x, 1, 0, &r));
}
static void dgemv(void) { ok(halfulp_blas_dgemv('N', 8, 8, 1, a, 8, y, 1, 0, z, 1, 0)); }
static void dgemm(void) { ok(halfulp_blas_dgemm('N', 'N', 8, 8, 8, 1, a, 8, a, 8, 0, z, 8, 0)); }

static void dot_of(halfulp_matrix v) {
	halfulp_scalar s;
	ok(halfulp_dot(v, v, NULL, 0, &s));
	ok(halfulp_free(s));
}
static void matmul_of(halfulp_matrix p, halfulp_matrix q) {
	halfulp_matrix r;
	ok(halfulp_matmul(p, q, NULL, 0, &r));
	ok(halfulp_free(r));
}
static void solve_of(halfulp_matrix p, halfulp_matrix q) {
	halfulp_matrix r;
	ok(halfulp_solve(p, q, NULL, 0, &r));
	ok(halfulp_free(r));
}

static void dot(void) { dot_of(x4); }
static void gemv(void) { matmul_of(a8, x8); }
static void gemm(void) { matmul_of(a8, a8); }
static void solve(void) { solve_of(a8, x8); }
static void wide_dot(void) { dot_of(wide4); }
static void wide_gemm(void) { matmul_of(wideA, wideA); }
static void wide_solve(void) { solve_of(wideA, wide8); }
static void large(void) { matmul_of(a1000, a1000); }

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{"dot 4, arrays", ddot}, {"gemv 8, arrays", dgemv}, {"gemm 8, arrays", dgemm},
	{"dot 4", dot}, {"gemv 8", gemv}, {"gemm 8", gemm}, {"solve 8", solve},
	{"dot 4, mp:424", wide_dot}, {"gemm 8, mp:424", wide_gemm}, {"solve 8, mp:424", wide_solve},
	{"gemm 1000", large},
};

int main(void) {
	char line[100], name[100];
	long n;
	x4 = of(4, 1, "f64"), x8 = of(8, 1, "f64"), a8 = of(8, 8, "f64");
	wide4 = of(4, 1, "mp:424"), wide8 = of(8, 1, "mp:424"), wideA = of(8, 8, "mp:424");
	a1000 = of(1000, 1000, "f64");
	ok(halfulp_matrix_get_f64(x4, x, 1, 4));
	ok(halfulp_matrix_get_f64(x8, y, 1, 8));
	ok(halfulp_matrix_get_f64(a8, a, 1, 8));
	while (fgets(line, sizeof line, stdin)) {
		if (strcmp(line, "memory\n") == 0) {
			int64_t live;
			ok(halfulp_live_handles(&live));
			printf("%lld %lld\n", (long long)memory(), (long long)live);
		} else if (sscanf(line, "time %ld %99[^\n]", &n, name) == 2) {
			size_t k = 0;
			while (k < sizeof calls / sizeof *calls && strcmp(calls[k].name, name) != 0)
				k++;
			if (k == sizeof calls / sizeof *calls) {
				puts("no such call");
				fflush(stdout);
				continue;
			}
			for (long i = 0; i < n / 2; i++) /* caches are filled */
				calls[k].call();
			long long cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
			for (long i = 0; i < n; i++)
				calls[k].call();
			printf("%lld %lld\n", now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - wall);
		} else
			puts("no such command");
		fflush(stdout);
	}
}

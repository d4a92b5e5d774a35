/* A program that rounds upwards and counts subnormal numbers as zero, since before it loads the
 * library: every bit is the same, and the state of the floating-point unit stays the program's. */
#include "check.h"
#include <dlfcn.h>
#include <stdint.h>

#if defined __x86_64__
#define GET() __builtin_ia32_stmxcsr()
#define SET(x) __builtin_ia32_ldmxcsr(x)
/* flush to zero, round upwards, subnormal operands are 0 */
#define CHANGED (0x1f80 | 0x8000 | 0x4000 | 0x0040)
#elif defined __aarch64__
static uint64_t GET(void) {
	uint64_t x;
	__asm__ volatile("mrs %0, fpcr" : "=r"(x));
	return x;
}
#define SET(x) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)(x)))
#define CHANGED (1u << 24 | 1u << 22)
#endif

enum { N = 160 };
static double a[N * N], b[N * N], c[N * N], expected[N * N];

/* number returns n 2^e: the bits are put together, since arithmetic would round. */
static double number(int n, int e) {
	int sign = n < 0, top = 0;
	uint64_t m = sign ? -n : n, bits = 0;
	double x;
	if (m) {
		while (m >> top > 1)
			top++;
		bits = (uint64_t)(1023 + e + top) << 52 | (m << (52 - top) & ((1ull << 52) - 1));
	}
	bits |= (uint64_t)sign << 63;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* subnormal returns s 2^-1080 rounded to a multiple of 2^-1074, to nearest even. */
static double subnormal(int64_t s) {
	uint64_t m = s < 0 ? -s : s, q = m >> 6, r = m & 63;
	q += r > 32 || (r == 32 && (q & 1));
	q |= (uint64_t)(s < 0) << 63;
	double x;
	memcpy(&x, &q, sizeof x);
	return x;
}

int main(int count, char **names) {
	if (count != 2)
		return 2;
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			a[i + j * N] = number((i * 7 + j * 13) % 31 - 15, -540);
			b[i + j * N] = number((i * 5 + j * 3) % 29 - 14, -540);
		}
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			int64_t s = 0;
			for (int h = 0; h < N; h++)
				s += (int64_t)((i * 7 + h * 13) % 31 - 15) * ((h * 5 + j * 3) % 29 - 14);
			expected[i + j * N] = subnormal(s);
		}

#if defined CHANGED
	SET(CHANGED);
#endif
	void *lib = dlopen(names[1], RTLD_NOW);
	if (!lib) {
		puts(dlerror());
		return 1;
	}
	__typeof__(&halfulp_blas_dgemm) gemm = (__typeof__(gemm))dlsym(lib, "halfulp_blas_dgemm");
	__typeof__(&halfulp_blas_ddot) dot = (__typeof__(dot))dlsym(lib, "halfulp_blas_ddot");
	__typeof__(&halfulp_blas_dtrsv) trsv = (__typeof__(trsv))dlsym(lib, "halfulp_blas_dtrsv");
	const double x[] = {1, 0x1p-60}, y[] = {1, 1}, third[] = {3};
	for (int round = 0; round < 3; round++) {
		for (int n = 1; n <= N; n = n < 20 ? n + 1 : n * 2) {
			memset(c, 255, sizeof c);
			CHECK(gemm('N', 'N', n, N, N, 1, a, N, b, N, 0, c, N, 0) == HALFULP_OK);
			for (int j = 0; j < N; j++)
				CHECK(!memcmp(c + j * N, expected + j * N, n * sizeof *c));
		}
		double z, q[] = {1};
		uint64_t one = 0x3ff0000000000000, quotient = 0x3fd5555555555555;
		CHECK(dot(2, x, 1, y, 1, 0, &z) == HALFULP_OK && !memcmp(&z, &one, sizeof z));
		CHECK(trsv('L', 'N', 'N', 1, third, 1, q, 1, 0) == HALFULP_OK && !memcmp(q, &quotient, sizeof z));
#if defined CHANGED
		CHECK(GET() == CHANGED);
#endif
	}
	if (!failures)
		puts("passed");
	return failures != 0;
}

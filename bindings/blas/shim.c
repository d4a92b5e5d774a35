/* libhalfulpblas: the BLAS for float and double numbers, computed by libhalfulp. This object has no
 * Go in it. It loads libhalfulp at the first call, so that a program may fork before. With ILP64
 * defined, integers have 64 bits, and all names exist with the suffix 64_ as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <float.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fork.h"
#include "mode.h"

#if FLT_EVAL_METHOD != 0 || defined __FAST_MATH__
#error "float and double arithmetic has to be the one of IEEE 754"
#endif

#ifdef ILP64
typedef int64_t INT;
#define XERBLA xerbla_64_
#else
typedef int32_t INT;
#define XERBLA xerbla_
#endif

void stop(const char *format, ...) {
	char text[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, SELF ": %s\n", text);
	abort();
}

/* Arguments that are wrong. Programs may define these three functions themselves. */

EXPORT __attribute__((weak, noinline)) void xerbla_(const char *name, const INT *info, size_t length) {
	while (length > 0 && name[length - 1] == ' ')
		length--;
	fprintf(stderr, " ** On entry to %.*s parameter number %2lld had an illegal value\n", (int)length, name, (long long)*info);
	exit(1);
}

#ifdef ILP64
EXPORT __attribute__((weak, noinline)) void xerbla_64_(const char *name, const INT *info, size_t length) {
	xerbla_(name, info, length);
}
#endif

/* The reference CBLAS gives cblas_xerbla the number that an argument has in the call of Fortran.
 * Arguments of a row-major call have changed places there, and RowMajorStrg is set for such a call.
 * Programs define a cblas_xerbla that changes the number back, so that is kept here. */
EXPORT int RowMajorStrg, CBLAS_CallFromC;

/* exchanged returns the number of the argument that changes places with an argument. */
static int exchanged(int info, const char *name) {
	static const struct {
		const char *routine;
		int a, b;
	} pairs[] = {{"gemm", 4, 5}, {"gemm", 9, 11}, {"symm", 4, 5}, {"hemm", 4, 5}, {"trmm", 6, 7}, {"trsm", 6, 7}, {"gemv", 3, 4},
		{"gbmv", 3, 4}, {"gbmv", 5, 6}, {"ger", 2, 3}, {"ger", 6, 8}, {"gerc", 2, 3}, {"gerc", 6, 8}, {"geru", 2, 3}, {"geru", 6, 8},
		{"her2", 6, 8}, {"hpr2", 6, 8}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (strlen(name) > 7 && !strcmp(name + 7, pairs[i].routine) && (info == pairs[i].a || info == pairs[i].b))
			return pairs[i].a + pairs[i].b - info;
	return info;
}

EXPORT __attribute__((weak, noinline)) void cblas_xerbla(int info, const char *name, const char *format, ...) {
	va_list args;
	va_start(args, format);
	fprintf(stderr, "Parameter %d to routine %s was incorrect\n", RowMajorStrg ? exchanged(info, name) : info, name);
	vfprintf(stderr, format, args);
	va_end(args);
	exit(1);
}

/* wrong reports an argument by its number in the call of CBLAS. */
static void wrong(int info, const char *name, int rows) {
	RowMajorStrg = rows;
	cblas_xerbla(rows ? exchanged(info, name) : info, name, "");
}

EXPORT void xerbla_array_(const char *name, const INT *length, const INT *info, size_t one) {
	char padded[32];
	size_t n = *length < 0 ? 0 : (size_t)*length;
	(void)one;
	memset(padded, ' ', sizeof padded);
	memcpy(padded, name, n < sizeof padded ? n : sizeof padded);
	XERBLA(padded, info, sizeof padded);
}

static char upper(char c) {
	return 'a' <= c && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

EXPORT INT lsame_(const char *a, const char *b, size_t la, size_t lb) {
	(void)la;
	(void)lb;
	return upper(*a) == upper(*b);
}

/* of_cblas returns Fortran's letter for a constant of CBLAS, and 0 for other numbers. The constants
 * of the letters begin with first. */
static char of_cblas(int c, int first, const char *letters) {
	return c >= first && c < first + (int)strlen(letters) ? letters[c - first] : 0;
}

/* libhalfulp */

struct address {
	const char *name;
	void **to;
};
static void load(void);
static atomic_int loaded;

static inline void need(void) {
	if (!atomic_load_explicit(&loaded, memory_order_acquire))
		load();
}

/* enter prepares a call of libhalfulp. */
static inline struct mode enter(void) {
	struct mode mode = standard_mode();
	need();
	return mode;
}

const char *(*halfulp_text)(void);

/* ended ends the process if a call of libhalfulp has failed: Fortran's BLAS return no errors. */
static inline void ended(int status) {
	if (__builtin_expect(status != HALFULP_OK, 0))
		stop("%s", halfulp_text());
}

/* HALFULP_BLAS_VERIFY */

struct count {
	const char *name;
	int64_t calls, entries, wrong, different; /* different: a NaN or infinity on one side alone */
	long double largest;                      /* error in ulps of the right number */
};
static int verify; /* 0: not known, 1: no, 2: yes */

static int verifying(void) {
	if (__builtin_expect(verify == 0, 0)) {
		const char *v = getenv("HALFULP_BLAS_VERIFY");
		verify = v && *v && strcmp(v, "0") ? 2 : 1;
	}
	return verify == 2;
}

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void begin_count(struct count *c) {
	pthread_mutex_lock(&counting);
	c->calls++;
}

static void end_count(void) {
	pthread_mutex_unlock(&counting);
}

static void *keep(const void *data, int64_t n, size_t size) {
	void *copy = malloc(n > 0 ? n * size : 1);
	if (!copy)
		stop("HALFULP_BLAS_VERIFY: there is no memory for a copy of %lld numbers", (long long)n);
	if (n > 0)
		memcpy(copy, data, n * size);
	return copy;
}

/* ulps returns the distance of got from a number of p bits whose least exponent is given. */
static long double ulps(long double got, double want, int p, int least) {
	int e = least;
	if (want != 0) {
		frexp(want, &e);
		e = e - p > least ? e - p : least;
	}
	return ldexpl(fabsl(got - want), -e);
}

#define ulps_float(got, want) ulps(got, want, 24, -149)
#define ulps_double(got, want) ulps(got, want, 53, -1074)

#define COMPARE(REAL)                                                                                   \
	static void compare_##REAL(struct count *c, const REAL *got, const REAL *want, int64_t rows,        \
		int64_t cols, int64_t ld, char triangle) {                                                      \
		for (int64_t j = 0; j < cols; j++)                                                              \
			for (int64_t i = triangle == 'L' ? j : 0; i < (triangle == 'U' ? j + 1 : rows); i++) {      \
				REAL g = got[i + j * ld], w = want[i + j * ld];                                         \
				c->entries++;                                                                           \
				if (g == w || (g != g && w != w))                                                       \
					continue;                                                                           \
				c->wrong++;                                                                             \
				if (g - g != 0 || w - w != 0) {                                                         \
					c->different++;                                                                     \
					continue;                                                                           \
				}                                                                                       \
				long double error = ulps_##REAL(g, w);                                                  \
				if (error > c->largest)                                                                 \
					c->largest = error;                                                                 \
			}                                                                                           \
	}
COMPARE(float)
COMPARE(double)

static void find_behind(void **to, const char *name);

/* What the generated functions use. */

#define NOT(trans) ((trans) == 'N')
#define LEFT(side) ((side) == 'L')
#define IS_TRANS(c) ((c) == 'N' || (c) == 'T' || (c) == 'C')
#define IS_UPLO(c) ((c) == 'U' || (c) == 'L')
#define IS_DIAG(c) ((c) == 'U' || (c) == 'N')
#define IS_SIDE(c) ((c) == 'L' || (c) == 'R')
#define FLIP(c, a, b) ((c) == (a) ? (b) : (a))
#define MAX1(n) ((int64_t)(n) > 1 ? (int64_t)(n) : 1)
#define SIZE(inc) ((inc) < 0 ? -(int64_t)(inc) : (int64_t)(inc))
#define EXTENT(rows, cols, ld) ((int64_t)(rows) > 0 && (int64_t)(cols) > 0 ? ((int64_t)(cols) - 1) * (ld) + (rows) : 0)
/* the place of entry i of a vector */
#define STEP(i, n, inc) (((inc) < 0 ? (int64_t)(i) - (n) + 1 : (int64_t)(i)) * (inc))
/* how many columns on either side a comparison of a large product leaves out */
#define SAMPLE(m, n, k) ((double)(m) * (n) * (k) > 1e8 && (n) > 64 ? ((n) - 64) / 2 : 0)

/* Code of the names that are forwarded: a jump to the address in a slot, which resolve finds once.
 * So their arguments need not be known here. */
#define TEXT(x) #x
#if defined __x86_64__
#define LABEL(name) __asm__(".text\n.globl " TEXT(name) "\n.type " TEXT(name) ", @function\n" TEXT(name) ":");
#define JUMP(i, offset)                                                                               \
	__asm__("movq slots+" TEXT(offset) "(%rip), %r11\ntestq %r11, %r11\njz 1f\njmp *%r11\n"           \
			"1: movl $" TEXT(i) ", %r11d\njmp resolve_and_jump");
__asm__(".text\nresolve_and_jump:\n"
		"pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\npushq %rax\n"
		"subq $128, %rsp\n"
		"movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n"
		"movups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\nmovups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"
		"movl %r11d, %edi\ncall resolve\nmovq %rax, %r11\n"
		"movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"
		"movups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\nmovups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"
		"addq $128, %rsp\n"
		"popq %rax\npopq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\njmp *%r11");
#elif defined __aarch64__
#define LABEL(name) __asm__(".text\n.globl " TEXT(name) "\n.type " TEXT(name) ", %function\n" TEXT(name) ":");
#define JUMP(i, offset)                                                                               \
	__asm__("adrp x16, slots\nadd x16, x16, :lo12:slots\nldr x16, [x16, #" TEXT(offset) "]\ncbz x16, 1f\nbr x16\n" \
			"1: mov w17, #" TEXT(i) "\nb resolve_and_jump");
__asm__(".text\nresolve_and_jump:\n"
		"stp x29, x30, [sp, #-224]!\nmov x29, sp\n"
		"stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
		"stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
		"mov w0, w17\nbl resolve\nmov x16, x0\n"
		"ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n"
		"ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n"
		"ldp x29, x30, [sp], #224\nbr x16");
#else /* no complex numbers */
#define LABEL(name)
#define JUMP(i, offset)
#endif

/* Copies, swaps and searches, which round nothing. */
#define MOVES(T, REAL)                                                                                \
	static void copy_##T(INT n, const REAL *x, INT incx, REAL *y, INT incy) {                         \
		for (int64_t i = 0; i < n; i++)                                                               \
			y[STEP(i, n, incy)] = x[STEP(i, n, incx)];                                                \
	}                                                                                                 \
	static void swap_##T(INT n, REAL *x, INT incx, REAL *y, INT incy) {                               \
		for (int64_t i = 0; i < n; i++) {                                                             \
			REAL *p = x + STEP(i, n, incx), *q = y + STEP(i, n, incy), t = *p;                        \
			*p = *q;                                                                                  \
			*q = t;                                                                                   \
		}                                                                                             \
	}                                                                                                 \
	static int64_t iamax_##T(INT n, const REAL *x, INT incx) {                                        \
		if (n < 1 || incx <= 0)                                                                       \
			return 0;                                                                                 \
		int64_t at = 1;                                                                               \
		REAL largest = x[0] < 0 ? -x[0] : x[0];                                                       \
		for (int64_t i = 1; i < n; i++) {                                                             \
			REAL a = x[i * incx] < 0 ? -x[i * incx] : x[i * incx];                                    \
			if (a > largest) {                                                                        \
				largest = a;                                                                          \
				at = i + 1;                                                                           \
			}                                                                                         \
		}                                                                                             \
		return at;                                                                                    \
	}                                                                                                 \
	EXPORT void T##copy_(const INT *n, const REAL *x, const INT *incx, REAL *y, const INT *incy) {    \
		copy_##T(*n, x, *incx, y, *incy);                                                             \
	}                                                                                                 \
	EXPORT void T##swap_(const INT *n, REAL *x, const INT *incx, REAL *y, const INT *incy) {          \
		swap_##T(*n, x, *incx, y, *incy);                                                             \
	}                                                                                                 \
	EXPORT INT i##T##amax_(const INT *n, const REAL *x, const INT *incx) {                            \
		return (INT)iamax_##T(*n, x, *incx);                                                          \
	}                                                                                                 \
	EXPORT void cblas_##T##copy(INT n, const REAL *x, INT incx, REAL *y, INT incy) {                  \
		copy_##T(n, x, incx, y, incy);                                                                \
	}                                                                                                 \
	EXPORT void cblas_##T##swap(INT n, REAL *x, INT incx, REAL *y, INT incy) {                        \
		swap_##T(n, x, incx, y, incy);                                                                \
	}                                                                                                 \
	EXPORT size_t cblas_i##T##amax(INT n, const REAL *x, INT incx) {                                  \
		int64_t i = iamax_##T(n, x, incx);                                                            \
		return i > 0 ? (size_t)(i - 1) : 0;                                                           \
	}
MOVES(s, float)
MOVES(d, double)

static int c_sdot(INT n, const float *x, INT incx, const float *y, INT incy, halfulp_options, double *result);
static int c_ddot(INT n, const double *x, INT incx, const double *y, INT incy, halfulp_options, double *result);
static int c_sscal(INT n, float alpha, float *x, INT incx, halfulp_options);
static int c_dscal(INT n, double alpha, double *x, INT incx, halfulp_options);
static int c_saxpy(INT n, float alpha, const float *x, INT incx, float *y, INT incy, halfulp_options);
static int c_daxpy(INT n, double alpha, const double *x, INT incx, double *y, INT incy, halfulp_options);

#include "routines.inc"

/* Routines whose results are one operation of IEEE 754 each. halfulp leaves vectors unread where
 * alpha is 0; here scal multiplies by it, as the reference does. Long vectors of axpy go to
 * libhalfulp, which has several at once. */
#define SHORT(T, REAL, FMA)                                                                           \
	static int c_##T##scal(INT n, REAL alpha, REAL *x, INT incx, halfulp_options unused) {            \
		(void)unused;                                                                                 \
		for (int64_t i = 0; i < n; i++)                                                               \
			x[i * incx] *= alpha;                                                                     \
		return HALFULP_OK;                                                                            \
	}                                                                                                 \
	static int c_##T##axpy(INT n, REAL alpha, const REAL *x, INT incx, REAL *y, INT incy, halfulp_options o) { \
		if (n > 64) {                                                                                 \
			need();                                                                                   \
			return run_##T##axpy(n, alpha, x, incx, y, incy, o);                                       \
		}                                                                                             \
		for (int64_t i = 0; i < n; i++) {                                                             \
			REAL *p = y + STEP(i, n, incy);                                                           \
			*p = FMA(alpha, x[STEP(i, n, incx)], *p);                                                 \
		}                                                                                             \
		return HALFULP_OK;                                                                            \
	}
SHORT(s, float, fmaf)
SHORT(d, double, fma)

/* exact_product returns whether p = x y is exact. */
static inline int exact_product(double x, double y, double *p) {
	*p = x * y;
	if (*p == 0)
		return x == 0 || y == 0;
	return fabs(*p) > 0x1p-900 && fabs(*p) < INFINITY && fma(x, y, -*p) == 0;
}

/* exact_sum returns whether s + p is exact and finite, and stores it in s. */
static inline int exact_sum(double *s, double p) {
	double sum = *s + p, q = sum - *s, error = (*s - (sum - q)) + (p - q);
	*s = sum;
	return error == 0 && fabs(sum) < INFINITY;
}

/* Short scalar products whose every step is exact need no libhalfulp. numpy has such a one as it is
 * imported; programs that fork thereafter live. */
#define DOT(T, REAL)                                                                                  \
	static int c_##T##dot(INT n, const REAL *x, INT incx, const REAL *y, INT incy, halfulp_options o, double *result) { \
		double s = 0, p;                                                                              \
		int exact = n <= 16;                                                                          \
		for (int64_t i = 0; exact && i < n; i++) {                                                    \
			exact = exact_product(x[STEP(i, n, incx)], y[STEP(i, n, incy)], &p);                      \
			if (i == 0)                                                                               \
				s = p;                                                                                \
			else                                                                                      \
				exact &= exact_sum(&s, p);                                                            \
		}                                                                                             \
		*result = (REAL)s;                                                                            \
		if (exact)                                                                                    \
			return HALFULP_OK;                                                                        \
		need();                                                                                       \
		return run_##T##dot(n, x, incx, y, incy, o, result);                                           \
	}
DOT(s, float)
DOT(d, double)

/* Loading of libhalfulp, and fork. */

EXPORT extern const int halfulp_blas_shim;
const int halfulp_blas_shim = sizeof(INT); /* marks these libraries */

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static char self[PATH_MAX]; /* the file of this library */

const char *library(void) {
	return self;
}

void lock(void) {
	pthread_mutex_lock(&loading);
}

void unlock(void) {
	pthread_mutex_unlock(&loading);
}

/* A fork waits until another thread has loaded a library. */
static void before_fork(void) {
	lock();
	pthread_mutex_lock(&counting);
}

static void after_fork(void) {
	pthread_mutex_unlock(&counting);
	unlock();
}

static void in_child(void) {
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		*counts[i] = (struct count){.name = counts[i]->name};
	forget_helper();
	after_fork();
}

__attribute__((constructor)) static void begin(void) {
	Dl_info info;
	/* now, since the name may be relative to a folder that the program leaves */
	if (dladdr(&halfulp_blas_shim, &info) && !realpath(info.dli_fname, self))
		snprintf(self, sizeof self, "%s", info.dli_fname);
	pthread_atfork(before_fork, after_fork, in_child);
}

int beside(const char *file, char *name, size_t size) {
	Dl_info info;
	char copy[PATH_MAX];
	const char *files[] = {self, dladdr(&halfulp_blas_shim, &info) ? info.dli_fname : ""};
	for (int i = 0; i < 2; i++) {
		snprintf(copy, sizeof copy, "%s", files[i]);
		snprintf(name, size, "%s/%s", dirname(copy), file);
		if (access(name, F_OK) == 0)
			return 1;
	}
	return 0;
}

/* open_halfulp opens libhalfulp: the file that HALFULP_LIBRARY names, else the one beside this
 * library, else what the loader finds. */
static void *open_halfulp(char *name, size_t size) {
	const char *given = getenv("HALFULP_LIBRARY");
	if (given && *given)
		snprintf(name, size, "%s", given);
	else if (!beside("libhalfulp.so", name, size))
		snprintf(name, size, "libhalfulp.so");
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void load(void) {
	lock();
	if (!atomic_load_explicit(&loaded, memory_order_relaxed)) {
		char name[PATH_MAX + 32];
		void *library = open_halfulp(name, sizeof name);
		if (!library)
			stop("libhalfulp.so cannot be loaded: %s; HALFULP_LIBRARY may name the file", dlerror());
		for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
			if (!(*addresses[i].to = dlsym(library, addresses[i].name)))
				stop("%s is of another version: it has no function %s", name, addresses[i].name);
		*(void **)&halfulp_text = dlsym(library, "halfulp_last_error");
		atomic_store_explicit(&loaded, 1, memory_order_release);
	}
	unlock();
}

void need_halfulp(void) {
	need();
}

/* The BLAS behind. */

static void *behind;         /* a handle; NULL if names come from the libraries loaded next */
static int behind_searched;  /* whether behind is known */
static char behind_name[PATH_MAX];

/* symbol finds a function with or without the suffix of 64-bit integers. */
static void *symbol(void *handle, const char *name) {
	void *p = NULL;
#ifdef ILP64
	char suffixed[64];
	snprintf(suffixed, sizeof suffixed, "%s64_", name);
	p = dlsym(handle, suffixed);
	if (!p && !strncmp(name, "cblas_", 6)) {
		snprintf(suffixed, sizeof suffixed, "%s_64", name);
		p = dlsym(handle, suffixed);
	}
#endif
	return p ? p : dlsym(handle, name);
}

/* fits reports whether a library has a BLAS with integers of this size, and is none of ours. */
static int fits(void *handle) {
	INT (*isamax)(const int64_t *, const float *, const int32_t *);
	*(void **)&isamax = symbol(handle, "isamax_");
	if (!isamax)
		return 0;
	Dl_info info;
	if (!dladdr(*(void **)&isamax, &info))
		return 0;
	void *same = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	int ours = same && dlsym(same, "halfulp_blas_shim") != NULL;
	if (same)
		dlclose(same);
	if (ours)
		return 0;
	/* 3 as an integer of 32 bits, less than 0 as one of 64 */
	const int64_t n = (int64_t)0xffffffff00000003;
	const int32_t one[2] = {1, 0};
	const float x[3] = {1, 2, 1};
	int found = (int)(isamax(&n, x, one) & 0x7fffffff);
	if (found != (sizeof(INT) == 8 ? 0 : 2))
		return 0;
	snprintf(behind_name, sizeof behind_name, "%s", info.dli_fname);
	return 1;
}

#if defined __x86_64__
#define TRIPLE "x86_64-linux-gnu"
#elif defined __aarch64__
#define TRIPLE "aarch64-linux-gnu"
#else
#define TRIPLE "."
#endif

static void search_behind(void) {
	const char *given = getenv("HALFULP_BLAS_BEHIND");
	if (given && *given) {
		behind = dlopen(given, RTLD_NOW | RTLD_LOCAL);
		if (!behind)
			stop("HALFULP_BLAS_BEHIND: %s", dlerror());
		if (!fits(behind))
			stop("HALFULP_BLAS_BEHIND: %s is not another BLAS with integers of %d bits", given, (int)sizeof(INT) * 8);
		return;
	}
	if (fits(RTLD_NEXT))
		return;
	static const char *const names[] = {
#ifdef ILP64
		"libblas64.so.3", "libopenblas64.so.0", "libopenblas64_.so.0", "libblis64.so.4",
		"/usr/lib/" TRIPLE "/openblas64-pthread/libblas64.so.3", "/usr/lib/" TRIPLE "/openblas64-serial/libblas64.so.3",
		"/usr/lib/" TRIPLE "/openblas64-openmp/libblas64.so.3", "/usr/lib/" TRIPLE "/blas64/libblas64.so.3",
#else
		"libblas.so.3", "libopenblas.so.0", "libblis.so.4",
		"/usr/lib/" TRIPLE "/openblas-pthread/libblas.so.3", "/usr/lib/" TRIPLE "/openblas-serial/libblas.so.3",
		"/usr/lib/" TRIPLE "/openblas-openmp/libblas.so.3", "/usr/lib/" TRIPLE "/blas/libblas.so.3",
#endif
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (handle && fits(handle)) {
			behind = handle;
			return;
		}
		if (handle)
			dlclose(handle);
	}
	behind = NULL;
	*behind_name = 0;
}

/* find_behind finds a function of the BLAS behind. */
static void find_behind(void **to, const char *name) {
	if (__atomic_load_n(to, __ATOMIC_ACQUIRE))
		return;
	lock();
	if (!behind_searched) {
		search_behind();
		behind_searched = 1;
	}
	void *p = *behind_name ? symbol(behind ? behind : RTLD_NEXT, name) : NULL;
	if (!p)
		stop("%s is for another BLAS (complex numbers, or HALFULP_BLAS_VERIFY), but %s%s; HALFULP_BLAS_BEHIND may name its file", name,
			*behind_name ? "there is no such function in " : "no other BLAS was found", behind_name);
	__atomic_store_n(to, p, __ATOMIC_RELEASE);
	unlock();
}

HIDDEN __attribute__((used)) void *resolve(int i) {
	find_behind(&slots[i], forwarded[i]);
	return slots[i];
}

/* The report of HALFULP_BLAS_VERIFY. */
__attribute__((destructor)) static void report(void) {
	int titled = 0;
	if (verify != 2)
		return;
	pthread_mutex_lock(&counting);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		const struct count *c = counts[i];
		if (!c->calls)
			continue;
		if (!titled++)
			fprintf(stderr,
				SELF ": process %ld, results of %s compared with correctly rounded ones\n"
				"%-8s %10s %14s %23s %22s %12s\n",
				(long)getpid(), behind_name, "routine", "calls", "entries", "not correctly rounded", "largest error in ulps", "NaN or inf");
		fprintf(stderr, "%-8s %10lld %14lld %22.4f%% %22.3Lg %12lld\n", c->name, (long long)c->calls, (long long)c->entries,
			c->entries ? 100.0 * c->wrong / c->entries : 0.0, c->largest, (long long)c->different);
	}
	pthread_mutex_unlock(&counting);
}

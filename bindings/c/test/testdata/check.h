/* What the test programs share. */
#include <halfulp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

/* OK fails the test unless a call succeeds. */
#define OK(call) \
	do { \
		int status_ = (call); \
		if (status_ != HALFULP_OK) { \
			printf("%s:%d: %s: status %d: %s\n", __FILE__, __LINE__, #call, status_, halfulp_last_error()); \
			exit(1); \
		} \
	} while (0)

/* FAILS fails the test unless a call ends with a status and a text that contains some words. */
#define FAILS(want, words, call) \
	do { \
		int status_ = (call); \
		if (status_ != (want) || !strstr(halfulp_last_error(), words)) { \
			printf("%s:%d: %s: status %d: %s, want %d: ...%s...\n", __FILE__, __LINE__, #call, status_, halfulp_last_error(), want, words); \
			failures++; \
		} \
	} while (0)

/* EQUAL fails the test unless two doubles have the same bits. */
#define EQUAL(x, want) \
	do { \
		double x_ = (x), want_ = (want); \
		if (memcmp(&x_, &want_, sizeof x_) && !(isnan(x_) && isnan(want_))) { \
			printf("%s:%d: %s = %a, want %a\n", __FILE__, __LINE__, #x, x_, want_); \
			failures++; \
		} \
	} while (0)

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
			failures++; \
		} \
	} while (0)

static inline int finished(void) {
	int64_t live;
	OK(halfulp_live_handles(&live));
	if (live != 0) {
		printf("%lld handles are not freed\n", (long long)live);
		failures++;
	}
	if (!failures)
		printf("passed\n");
	return failures != 0;
}

static inline void free_handle(uint64_t handle) { OK(halfulp_free(handle)); }

/* value returns the double of a scalar, and frees it. */
static inline double value(halfulp_scalar s) {
	double x;
	OK(halfulp_scalar_get_f64(s, &x));
	free_handle(s);
	return x;
}

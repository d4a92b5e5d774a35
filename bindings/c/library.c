#include "wrap.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int forked;
static long parent;

/* The text of each thread. It is no thread-local array: Go's runtime puts the thread-local storage
 * of the whole library in a block of few hundred bytes where a program loads it by dlopen. */
static pthread_key_t last_error;

/* A child of fork has none of the threads of Go's runtime: a call would wait for ever. */
static void in_child(void) {
	forked = 1;
}

/* While Go's runtime starts, signals that tell a program something are blocked, and so they stay in
 * its threads: handlers of the program run in the program's threads, as without the library. */
static sigset_t before;

/* The state of the floating-point unit is the standard one as well, for these threads. */
static struct mode mode_before;

__attribute__((constructor(101))) static void block(void) {
	const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2,
		SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGIO, SIGXCPU, SIGXFSZ};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	mode_before = standard_mode();
}

__attribute__((constructor)) static void loaded(void) {
	restore_mode(mode_before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	parent = (long)getpid();
	pthread_atfork(NULL, NULL, in_child);
	pthread_key_create(&last_error, free);
}

/* keep makes text, which it takes, the one of this thread. */
static void keep(char *text) {
	free(pthread_getspecific(last_error));
	pthread_setspecific(last_error, text);
}

int refuse(const char *name) {
	char *text = malloc(512);
	if (text)
		snprintf(text, 512,
			"%s: process %ld was forked from process %ld after that had loaded libhalfulp, whose threads do not survive fork; "
			"start the child by exec (in Python's multiprocessing: the start method \"spawn\"), or fork before the library is loaded",
			name, (long)getpid(), parent);
	keep(text);
	return HALFULP_FORKED;
}

int finish(int status, char *text) {
	if (status != HALFULP_OK)
		keep(text);
	return status;
}

const char *halfulp_last_error(void) {
	const char *text = pthread_getspecific(last_error);
	return text ? text : "";
}

int halfulp_signal_stacks(void) {
	int changed = 0;
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;
		if (sigaction(i, NULL, &action) != 0 || action.sa_flags & SA_ONSTACK ||
			(!(action.sa_flags & SA_SIGINFO) && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)))
			continue;
		action.sa_flags |= SA_ONSTACK;
		changed += sigaction(i, &action, NULL) == 0;
	}
	return changed;
}

void halfulp_text_free(void *text) {
	free(text);
}

int call_progress(halfulp_progress progress, double done, void *argument) {
	return progress(done, argument);
}

/* The structures of dlpack.h, version 1.0. */

struct dl_tensor {
	void *data;
	struct { int32_t type, id; } device;
	int32_t dimensions;
	struct { uint8_t code, bits; uint16_t lanes; } type;
	int64_t *shape, *strides;
	uint64_t byte_offset;
};

struct dl_managed {
	struct dl_tensor tensor;
	void *context;
	void (*deleter)(struct dl_managed *);
};

struct dl_versioned {
	struct { uint32_t major, minor; } version;
	void *context;
	void (*deleter)(struct dl_versioned *);
	uint64_t flags;
	struct dl_tensor tensor;
};

enum { DL_CPU = 1, DL_CUDA = 2, DL_FLOAT = 2 };

/* A tensor with the handle of its numbers. */
struct exported {
	union { struct dl_managed managed; struct dl_versioned versioned; };
	halfulp_matrix shared;
	int64_t sizes[]; /* shape, strides */
};

static void release(struct exported *t) {
	halfulp_free(t->shared); /* in a child of fork it does nothing */
	free(t);
}

static void release_managed(struct dl_managed *t) {
	if (t)
		release((struct exported *)t);
}

static void release_versioned(struct dl_versioned *t) {
	if (t)
		release((struct exported *)t);
}

static int misused(const char *what, int64_t x, int64_t y) {
	char *text = malloc(512);
	if (text)
		snprintf(text, 512, "halfulp_dlpack: %s %lld x %lld", what, (long long)x, (long long)y);
	return finish(HALFULP_MISUSE, text);
}

int halfulp_dlpack(halfulp_matrix a, int dimensions, const int64_t *shape, int versioned, uint64_t flags, void **tensor) {
	int64_t rows, cols, address, row_stride, col_stride, bits, gpu;
	int status = halfulp_matrix_shape(a, &rows, &cols);
	if (status != HALFULP_OK)
		return status;
	if (dimensions < 0 || (dimensions > 0 && !shape) || !tensor)
		return misused("an argument is negative or NULL; the matrix is", rows, cols);
	int64_t m = 1, n = 1; /* the shape of a matrix with these dimensions */
	for (int i = 0; i < dimensions; i++)
		if (i == dimensions - 1 && dimensions > 1)
			n = shape[i];
		else if (__builtin_mul_overflow(m, shape[i], &m))
			m = -1;
	int across = dimensions == 1 && rows == 1 && m == cols; /* a row as a vector */
	if (!across && (m != rows || n != cols))
		return misused("the shape does not fit the matrix, which is", rows, cols);
	struct exported *t = malloc(sizeof *t + 2 * dimensions * sizeof(int64_t));
	if (!t) {
		char *text = malloc(64);
		if (text)
			snprintf(text, 64, "halfulp_dlpack: there is no memory for the tensor");
		return finish(HALFULP_MEMORY, text);
	}
	status = halfulp_matrix_share(a, &t->shared, &address, &row_stride, &col_stride, &bits, &gpu);
	if (status != HALFULP_OK) {
		free(t);
		return status;
	}
	int64_t *strides = t->sizes + dimensions, step = across ? col_stride : row_stride;
	for (int i = dimensions - 1; i >= 0; i--) {
		t->sizes[i] = shape[i];
		if (i == dimensions - 1 && dimensions > 1) {
			strides[i] = col_stride;
			continue;
		}
		strides[i] = step;
		step *= shape[i];
	}
	struct dl_tensor d = {
		.data = (void *)(uintptr_t)address,
		.device = {gpu < 0 ? DL_CPU : DL_CUDA, gpu < 0 ? 0 : (int32_t)gpu},
		.dimensions = dimensions,
		.type = {DL_FLOAT, (uint8_t)bits, 1},
		.shape = t->sizes,
		.strides = strides,
	};
	if (versioned)
		t->versioned = (struct dl_versioned){.version = {1, 0}, .context = t, .deleter = release_versioned, .flags = flags, .tensor = d};
	else
		t->managed = (struct dl_managed){.tensor = d, .context = t, .deleter = release_managed};
	*tensor = t;
	return HALFULP_OK;
}

/* Functions of Python. */
static int (*is_valid)(void *, const char *);
static void *(*pointer_of)(void *, const char *);

void halfulp_dlpack_python(int (*capsule_is_valid)(void *, const char *), void *(*capsule_get_pointer)(void *, const char *)) {
	is_valid = capsule_is_valid;
	pointer_of = capsule_get_pointer;
}

void halfulp_dlpack_unused(void *capsule) {
	if (is_valid(capsule, "dltensor"))
		release_managed(pointer_of(capsule, "dltensor"));
	else if (is_valid(capsule, "dltensor_versioned"))
		release_versioned(pointer_of(capsule, "dltensor_versioned"));
}

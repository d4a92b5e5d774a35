/* libhalfulpblas in processes that fork has made after the first call; the first argument says what
 * to try. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ILP64
typedef int64_t INT;
#else
typedef int32_t INT;
#endif

double ddot_(const INT *, const double *, const INT *, const double *, const INT *);
void dgemm_(const char *, const char *, const INT *, const INT *, const INT *, const double *, const double *, const INT *, const double *,
	const INT *, const double *, double *, const INT *, size_t, size_t);
void ssyrk_(const char *, const char *, const INT *, const INT *, const float *, const float *, const INT *, const float *, float *,
	const INT *, size_t, size_t);

static const INT one = 1;

/* a sum that only one rounding gets right */
static int right(void) {
	const double x[3] = {1e16, 1, -1e16}, y[3] = {1, 1, 1};
	const INT n = 3;
	return ddot_(&n, x, &one, y, &one) == 1;
}

static void *in_thread(void *unused) {
	(void)unused;
	for (int i = 0; i < 5; i++)
		if (!right())
			return (void *)1;
	return NULL;
}

static int threads(void) {
	pthread_t t[8];
	int ok = 1;
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, in_thread, NULL);
	for (int i = 0; i < 8; i++) {
		void *r;
		pthread_join(t[i], &r);
		ok &= r == NULL;
	}
	return ok;
}

/* run_forked runs f in a child and returns whether it returned a number other than 0. */
static int run_forked(int (*f)(void)) {
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		alarm(60); /* no hang */
		_exit(!f());
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d\n", WTERMSIG(status));
	return status == 0;
}

/* The helper of a process is no child of it: a process may wait for all of its own. */
static int again(void) {
	int ok = right() && run_forked(right) && right();
	while (wait(NULL) > 0)
		;
	return ok && errno == ECHILD;
}

/* Large operands, zeros, infinities and NaNs; the matrices have numbers between their columns. */
enum { N = 150, LD = 160 };
static double a[LD * N], b[LD * N], c[LD * N];
static float s[LD * N], t[LD * N];

static void fill(void) {
	uint64_t state = 1;
	for (int i = 0; i < LD * N; i++) {
		double *to[3] = {a, b, c};
		for (int k = 0; k < 3; k++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			to[k][i] = (double)(int64_t)state * (state >> 60 & 1 ? 0x1p-90 : 0x1p-60);
		}
		s[i] = (float)a[i];
		t[i] = (float)b[i];
	}
	a[3] = b[LD * 5] = -0.0;
	a[LD * 7 + 9] = 1.0 / 0.0;
	b[LD * 11 + 13] = 0.0 / 0.0;
	s[LD * 17 + 19] = -1.0f / 0.0f;
}

static void products(void) {
	const INT n = N, k = N - 20, ld = LD;
	const double alpha = 0.1, beta = -1.5;
	const float f = 3;
	dgemm_("T", "N", &n, &n, &k, &alpha, a, &ld, b, &ld, &beta, c, &ld, 1, 1);
	ssyrk_("L", "N", &n, &k, &f, s, &ld, &f, t, &ld, 1, 1);
}

static double want_c[LD * N];
static float want_t[LD * N];

static int same(void) {
	fill();
	products();
	return !memcmp(c, want_c, sizeof c) && !memcmp(t, want_t, sizeof t);
}

/* A process that becomes a daemon closes all files. Others get their numbers. */
static int closed(void) {
	char name[] = "fileXXXXXX";
	struct stat s;
	int file = mkstemp(name);
	if (!right() || file < 0)
		return 0;
	for (int i = 3; i < 200; i++)
		if (i != file && close(i) == 0)
			dup2(file, i);
	return right() && right() && fstat(file, &s) == 0 && s.st_size == 0 && unlink(name) == 0;
}

/* Signals of the terminal go to the group of processes. */
static int ignored(void) {
	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	int ok = right();
	kill(0, SIGINT);
	kill(0, SIGTERM);
	return ok && right();
}

/* The helper ends with its process. This one gets the processes that others leave. */
static int ends(void) {
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	int ok = run_forked(right), helpers = 0;
	while (wait(NULL) > 0)
		helpers++;
	return ok && helpers == 1;
}

/* The helper, alone in a group of processes, is killed. */
static int killed(void) {
	pid_t group = getpgrp();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setpgid(0, 0);
	int ok = right();
	setpgid(0, group);
	kill(-getpid(), SIGKILL);
	wait(NULL);
	return ok && right();
}

int main(int argc, char **argv) {
	const struct {
		const char *name;
		int (*f)(void);
	} tests[] = {{"right", right}, {"again", again}, {"threads", threads}, {"same", same}, {"closed", closed}, {"ignored", ignored},
		{"ends", ends}, {"killed", killed}};
	const char *what = argc > 1 ? argv[1] : "";
	alarm(120); /* no hang */
	setvbuf(stdout, NULL, _IONBF, 0);
	fill();
	products();
	memcpy(want_c, c, sizeof c);
	memcpy(want_t, t, sizeof t);
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (!strcmp(what, tests[i].name)) {
			int ok = right() && run_forked(tests[i].f) && right();
			printf("%s\n", ok ? "passed" : "failed");
			return !ok;
		}
	return 8;
}

/* How calls run: threads, cancellation, progress, statistics, fork. */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8

/* Each thread works on its own handles and on a shared one, and has its own errors. */
static halfulp_matrix shared;

static void *work(void *argument) {
	int id = (int)(intptr_t)argument;
	char words[32];
	for (int round = 0; round < 40; round++) {
		double x[16], z[16];
		for (int i = 0; i < 16; i++)
			x[i] = id * 100 + round + i;
		halfulp_matrix a, b, c;
		OK(halfulp_matrix_wrap_f64(x, 4, 4, 1, 4, &a));
		OK(halfulp_matmul(a, shared, NULL, 0, &b)); /* shared is 2 I */
		OK(halfulp_matrix_get_f64(b, z, 1, 4));
		for (int i = 0; i < 16; i++)
			EQUAL(z[i], 2 * x[i]);
		FAILS(HALFULP_MISUSE, "needed", halfulp_matrix_transpose(0, &c));
		snprintf(words, sizeof words, "%#x", 0x70000 + id);
		FAILS(HALFULP_MISUSE, words, halfulp_free(0x70000 + id));
		free_handle(a);
		free_handle(b);
	}
	return NULL;
}

static void threads(void) {
	double d[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};
	OK(halfulp_matrix_from_f64(d, 4, 4, 4, 1, NULL, &shared));
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	free_handle(shared);
}

/* A call that takes long. */
static int long_call(halfulp_options options) {
	static halfulp_matrix a;
	const double rotation[4] = {0.6, -0.8, 0.8, 0.6}; /* its powers stay near 1 */
	if (!a)
		OK(halfulp_matrix_from_f64(rotation, 2, 2, 2, 1, NULL, &a));
	halfulp_matrix x;
	int status = halfulp_matrix_power(a, INT64_C(1) << 62, "mp:1000000", options, &x);
	free_handle(a);
	a = 0;
	return status;
}

/* A handle that one thread frees while others use it: each call finds it or not. */
static void *use(void *argument) {
	(void)argument;
	for (int i = 0; i < 200; i++) {
		double z[16];
		int status = halfulp_matrix_get_f64(shared, z, 1, 4);
		CHECK(status == HALFULP_OK || status == HALFULP_MISUSE);
	}
	return NULL;
}

static void freed(void) {
	pthread_t t[THREADS];
	OK(halfulp_identity(4, NULL, &shared));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, use, NULL);
	free_handle(shared);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static pthread_t caller;
static int reports;

static int report(double done, void *argument) {
	CHECK(pthread_equal(pthread_self(), caller));
	CHECK(done >= 0 && done <= 1);
	CHECK(argument == &reports);
	return ++reports == 3;
}

static volatile int32_t flag;

#ifndef __SANITIZE_THREAD__
static void interrupted(int number) {
	(void)number;
	CHECK(gettid() == getpid()); /* in the program's thread, not in one of Go */
	flag = 1;
}
#endif

static void *set_flag(void *argument) {
	(void)argument;
	struct timespec t = {0, 20000000};
	nanosleep(&t, NULL);
	flag = 1;
	return NULL;
}

static void cancellation(void) {
	halfulp_options o;
	OK(halfulp_options_new(&o));
	OK(halfulp_options_set_cancel(o, (const int32_t *)&flag));
	flag = 1;
	FAILS(HALFULP_CANCELLED, "canceled", long_call(o)); /* before it begins */
	flag = 0;
	pthread_t t;
	pthread_create(&t, NULL, set_flag, NULL);
	FAILS(HALFULP_CANCELLED, "canceled", long_call(o));
	pthread_join(t, NULL);
#ifndef __SANITIZE_THREAD__ /* it holds signals back, and has a thread of its own */
	/* A handler of the program gets Ctrl-C. */
	flag = 0;
	struct sigaction action = {0};
	action.sa_handler = interrupted;
	sigaction(SIGINT, &action, NULL);
	CHECK(halfulp_signal_stacks() == 1);
	sigaction(SIGINT, NULL, &action);
	CHECK(action.sa_flags & SA_ONSTACK && action.sa_handler == interrupted);
	CHECK(halfulp_signal_stacks() == 0);
	timer_t timer;
	struct sigevent event = {0};
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGINT;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	struct itimerspec soon = {{0, 0}, {0, 20000000}};
	timer_settime(timer, 0, &soon, NULL);
	FAILS(HALFULP_CANCELLED, "canceled", long_call(o));
	CHECK(flag == 1);
	timer_delete(timer);
#endif
	OK(halfulp_options_set_cancel(o, NULL));
	/* The function that is called on this thread. */
	caller = pthread_self();
	OK(halfulp_options_set_progress(o, report, &reports, 5));
	FAILS(HALFULP_CANCELLED, "canceled", long_call(o));
	CHECK(reports == 3);
	FAILS(HALFULP_MISUSE, "interval", halfulp_options_set_progress(o, report, &reports, 0));
	/* Errors of a routine that runs on another thread come back. */
	halfulp_matrix a, x;
	OK(halfulp_matrix_new(NULL, 3, 3, NULL, &a));
	FAILS(HALFULP_SINGULAR, "singular", halfulp_inverse(a, NULL, o, &x));
	free_handle(a);
	OK(halfulp_matrix_new(NULL, 3, 2, NULL, &a));
	FAILS(HALFULP_MISUSE, "square", halfulp_inverse(a, NULL, o, &x));
	free_handle(a);
	free_handle(o);
}

#ifndef __SANITIZE_THREAD__
/* Threads of Go have signals blocked that are for the program, which has none blocked. */
static void masks(void) {
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int others = 0;
	while ((entry = readdir(tasks))) {
		char name[300], line[300];
		unsigned long long blocked = 0;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "/proc/self/task/%s/status", entry->d_name);
		int own = atoi(entry->d_name) == getpid(), there = 1;
		/* A thread that is being made has all of them blocked. */
		for (int tries = 0; there && tries < 1000; tries++) {
			FILE *file = fopen(name, "r");
			there = file != NULL;
			while (file && fgets(line, sizeof line, file))
				sscanf(line, "SigBlk: %llx", &blocked);
			if (file)
				fclose(file);
			if (!(blocked >> (SIGURG - 1) & 1))
				break;
			nanosleep(&(struct timespec){0, 10000000}, NULL);
		}
		if (!there)
			continue;
		CHECK((int)(blocked >> (SIGINT - 1) & 1) != own);
		CHECK(!(blocked >> (SIGURG - 1) & 1)); /* Go interrupts its threads by this one */
		others += !own;
	}
	closedir(tasks);
	CHECK(others > 0);
}
#endif

static void options(void) {
	halfulp_options o;
	OK(halfulp_options_new(&o));
	OK(halfulp_options_set(o, "threads", "1"));
	OK(halfulp_options_set(o, "device", "cpu"));
	OK(halfulp_options_set(o, "method", "direct"));
	FAILS(HALFULP_MISUSE, "no option", halfulp_options_set(o, "colour", "red"));
	FAILS(HALFULP_MISUSE, "threads", halfulp_options_set(o, "threads", "-1"));
	FAILS(HALFULP_MISUSE, "fast", halfulp_options_set(o, "method", "fast"));
	FAILS(HALFULP_DEVICE, "", halfulp_options_set(o, "device", "cuda:77"));
	char *text;
	FAILS(HALFULP_MISUSE, "statistics", halfulp_options_statistics(o, &text));
	OK(halfulp_options_set(o, "statistics", "1"));
	halfulp_matrix a, b, x;
	OK(halfulp_hilbert(5, NULL, &a));
	OK(halfulp_matmul(a, a, NULL, o, &b));
	OK(halfulp_options_statistics(o, &text));
	CHECK(strstr(text, "\"method\":\"direct\"") && strstr(text, "\"threads\":1"));
	halfulp_text_free(text);
	OK(halfulp_options_set(o, "method", "auto"));
	OK(halfulp_solve(a, b, "dd", o, &x));
	OK(halfulp_options_statistics(o, &text));
	CHECK(strstr(text, "\"method\":\"solve\""));
	halfulp_text_free(text);
	free_handle(x);
	OK(halfulp_options_set(o, "check", "1"));
	halfulp_scalar s;
	FAILS(HALFULP_MISUSE, "", halfulp_sum(a, NULL, o, &s)); /* no vector */
	free_handle(a);
	free_handle(b);
	free_handle(o);
	FAILS(HALFULP_MISUSE, "was freed", halfulp_options_set(o, "threads", "1"));
}

/* A child of fork gets an error at once, whatever it calls. */
static void forked(void) {
	halfulp_scalar s;
	OK(halfulp_scalar_from_f64(1, &s));
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		alarm(20); /* a hang fails */
		failures = 0;
		double x;
		char *text;
		FAILS(HALFULP_FORKED, "spawn", halfulp_scalar_get_f64(s, &x));
		FAILS(HALFULP_FORKED, "halfulp_version", halfulp_version(&text));
		FAILS(HALFULP_FORKED, "halfulp_free", halfulp_free(s));
		fflush(stdout);
		_exit(failures);
	}
	int status;
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EQUAL(value(s), 1); /* the parent goes on */
}

int main(void) {
	threads();
	freed();
	cancellation();
#ifndef __SANITIZE_THREAD__
	masks();
#endif
	options();
	forked();
	return finished();
}

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

#include "wrap.h"

#include <pthread.h>
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

__attribute__((constructor)) static void loaded(void) {
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

void halfulp_text_free(void *text) {
	free(text);
}

int call_progress(halfulp_progress progress, double done, void *argument) {
	return progress(done, argument);
}

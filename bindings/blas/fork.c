/* Calls of processes that fork has made after Go's runtime had started. Its threads do not survive
 * fork, so another process does the calls of such a process: its helper. That is the program
 * halfulpblas-helper, which loads this library and runs halfulp_blas_serve. Requests, operands and
 * results go through a socket. The helper ends when the process has ended, and its end of the
 * socket is closed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fork.h"

#define PROGRAM "halfulpblas-helper"

/* struct hello is what a helper sends first. */
struct hello {
	uint64_t build; /* a hash of the sources */
	int64_t process;
};

/* struct reply answers a request. A text of some length follows, or the operands that the routine
 * writes, packed. */
struct reply {
	int64_t status, length;
	double result;
};

/* A stream of bytes, with a buffer for small pieces. Each end writes a message and then reads one,
 * so what is left in the buffer belongs to the message. */
static struct {
	int socket;
	size_t begin, end; /* of what is in the buffer */
	char buffer[1 << 16];
} stream = {.socket = -1};

static int send_all(const char *p, size_t n) {
	while (n > 0) {
		ssize_t sent = send(stream.socket, p, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return 0;
		p += sent;
		n -= (size_t)sent;
	}
	return 1;
}

static int receive_some(char *p, size_t n, size_t *received) {
	for (;;) {
		ssize_t r = recv(stream.socket, p, n, 0);
		if (r < 0 && errno == EINTR)
			continue;
		*received = r > 0 ? (size_t)r : 0;
		return r > 0;
	}
}

/* begin_message begins to write or to read a message. */
static void begin_message(void) {
	stream.begin = stream.end = 0;
}

/* flush sends what put has kept. */
static int flush(void) {
	size_t n = stream.end;
	stream.end = 0;
	return send_all(stream.buffer, n);
}

static int put(const void *p, size_t n) {
	if (n > sizeof stream.buffer - stream.end && !flush())
		return 0;
	if (n > sizeof stream.buffer)
		return send_all(p, n);
	memcpy(stream.buffer + stream.end, p, n);
	stream.end += n;
	return 1;
}

static int get(void *to, size_t n) {
	for (char *p = to; n > 0;) {
		size_t some = stream.end - stream.begin;
		if (some == 0 && n >= sizeof stream.buffer) {
			if (!receive_some(p, n, &some))
				return 0;
		} else {
			if (some == 0) {
				stream.begin = stream.end = 0;
				if (!receive_some(stream.buffer, sizeof stream.buffer, &stream.end))
					return 0;
				some = stream.end;
			}
			some = some < n ? some : n;
			memcpy(p, stream.buffer + stream.begin, some);
			stream.begin += some;
		}
		p += some;
		n -= some;
	}
	return 1;
}

/* range stores the first row of column j that belongs to the operand, and the row after them. */
static void range(const struct operand *o, int64_t j, int64_t *first, int64_t *end) {
	*first = 0;
	*end = o->rows;
	if (o->part == 'U')
		*end = j + 1;
	if (o->part == 'L')
		*first = j;
	if (o->part == 'B') { /* row i of the matrix is row i + above - j of the band */
		if (o->above > j)
			*first = o->above - j;
		if (o->m + o->above - j < *end)
			*end = o->m + o->above - j;
	}
	if (*end < *first)
		*end = *first;
}

static char *number(const struct operand *o, int64_t i, int64_t j) {
	return o->data + (i * o->inc + j * o->ld) * o->size;
}

static int put_zeros(int64_t n, int64_t size) {
	static const double zero;
	for (int64_t i = 0; i < n; i++)
		if (!put(&zero, (size_t)size))
			return 0;
	return 1;
}

/* put_operand sends an operand, with zeros for what the routine does not read. */
static int put_operand(const struct operand *o) {
	for (int64_t j = 0; j < o->cols; j++) {
		int64_t first, end;
		range(o, j, &first, &end);
		if (!o->data)
			first = end = 0;
		if (!put_zeros(first, o->size))
			return 0;
		if (o->inc == 1 && end > first) {
			if (!put(number(o, first, j), (size_t)((end - first) * o->size)))
				return 0;
		} else {
			for (int64_t i = first; i < end; i++)
				if (!put(number(o, i, j), (size_t)o->size))
					return 0;
		}
		if (!put_zeros(o->rows - end, o->size))
			return 0;
	}
	return 1;
}

/* get_operand receives an operand. It stores only the numbers that belong to it: other threads may
 * write to the numbers between. */
static int get_operand(const struct operand *o) {
	double dropped;
	for (int64_t j = 0; j < o->cols; j++) {
		int64_t first, end;
		range(o, j, &first, &end);
		for (int64_t i = 0; i < o->rows; i++) {
			int64_t n = 1;
			char *to = (char *)&dropped;
			if (i >= first && i < end) {
				to = number(o, i, j);
				n = o->inc == 1 ? end - i : 1;
			}
			if (!get(to, (size_t)(n * o->size)))
				return 0;
			i += n - 1;
		}
	}
	return 1;
}

/* The process that asks. */

static struct {
	pid_t owner; /* the process whose helper it is; 0: there is none */
	dev_t device;
	ino_t inode; /* of the socket */
	int64_t process;
} helper;

/* The next call of a thread notices one that a jump out of a signal's handler has left. */
static const pthread_mutex_t unlocked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t asking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

/* ours reports whether the socket is still open. Programs that become daemons close all files, and
 * another one may have got its number since. */
static int ours(void) {
	struct stat s;
	return stream.socket >= 0 && fstat(stream.socket, &s) == 0 && S_ISSOCK(s.st_mode) && s.st_dev == helper.device && s.st_ino == helper.inode;
}

/* forget_helper closes the socket, since a helper ends when nobody has it open. */
void forget_helper(void) {
	if (ours())
		close(stream.socket);
	stream.socket = -1;
	helper.owner = 0;
	asking = unlocked;
}

/* above_standard moves a file to a number that is used neither by standard files nor by the files
 * of a new program. */
static int above_standard(int file) {
	int moved = fcntl(file, F_DUPFD_CLOEXEC, 10);
	close(file);
	return moved;
}

/* spawn starts the program, and returns 0 or an error. Signals that end or stop the processes of a
 * terminal are blocked in it: this process decides when it ends. */
static int spawn(const char *program, int socket) {
	static const int blocked[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT, SIGTSTP,
		SIGTTIN, SIGTTOU, SIGWINCH, SIGIO, SIGXFSZ};
	sigset_t mask, all;
	sigemptyset(&mask);
	sigfillset(&all);
	for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++)
		sigaddset(&mask, blocked[i]);
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t files;
	int error = posix_spawnattr_init(&attributes);
	if (error)
		return error;
	error = posix_spawn_file_actions_init(&files);
	if (!error) {
		char *args[] = {(char *)PROGRAM, (char *)library(), NULL};
		pid_t pid;
		posix_spawnattr_setsigmask(&attributes, &mask);
		posix_spawnattr_setsigdefault(&attributes, &all);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
		if (!(error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)) &&
			!(error = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)) &&
			!(error = posix_spawn_file_actions_adddup2(&files, socket, 3)) &&
			!(error = posix_spawn(&pid, program, &files, &attributes, args, environ)))
			/* The program forks at once, so the helper is no child of this process, which may wait
			 * for all of its own. */
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
		posix_spawn_file_actions_destroy(&files);
	}
	posix_spawnattr_destroy(&attributes);
	return error;
}

/* start starts a helper and returns NULL, or why there is none. */
static const char *start(void) {
	static char program[PATH_MAX + 32];
	if (!beside(PROGRAM, program, sizeof program))
		return "there is no program " PROGRAM " beside the library";
	lock();
	int ends[2], error = 0;
	struct stat s = {0};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		error = errno;
	} else {
		stream.socket = above_standard(ends[0]);
		int other = above_standard(ends[1]);
		error = stream.socket < 0 || other < 0 || fstat(stream.socket, &s) < 0 ? errno : spawn(program, other);
		if (other >= 0)
			close(other);
	}
	helper.device = s.st_dev;
	helper.inode = s.st_ino;
	unlock();
	if (error) {
		forget_helper();
		return strerror(error);
	}
	struct hello hello;
	begin_message();
	if (!get(&hello, sizeof hello))
		return PROGRAM " ended at once";
	if (hello.build != BUILD)
		return PROGRAM " has loaded another build of the library";
	helper.process = hello.process;
	helper.owner = getpid();
	return NULL;
}

/* call sends a request and receives the reply. It returns 0 if the helper ends before. */
static int call(struct request *r, const struct operand *o, struct reply *reply, char *text, int64_t size) {
	begin_message();
	if (!put(r, sizeof *r))
		return 0;
	for (int i = 0; i < r->operands; i++)
		if (!put_operand(&o[i]))
			return 0;
	if (!flush())
		return 0;
	begin_message();
	if (!get(reply, sizeof *reply) || reply->length >= size || !get(text, (size_t)reply->length))
		return 0;
	text[reply->length] = 0;
	for (int i = 0; reply->status == HALFULP_OK && i < r->operands; i++)
		if (o[i].written && !get_operand(&o[i]))
			return 0;
	return 1;
}

int ask(const char *name, struct request *r, const struct operand *o, double *result) {
	struct reply reply;
	char text[1024];
	int state, error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	int left = pthread_mutex_lock(&asking) != 0;
	if (left || helper.owner != getpid() || !ours()) {
		if (ours())
			close(stream.socket);
		const char *reason = start();
		if (reason)
			stop("%s; no helper process computes for it: %s", halfulp_text(), reason);
	}
	for (int i = 0; i < r->operands; i++) {
		r->operand[i].size = o[i].size;
		r->operand[i].written = o[i].written;
		r->operand[i].numbers = o[i].rows > 0 && o[i].cols > 0 ? o[i].rows * o[i].cols : 0;
	}
	if (!call(r, o, &reply, text, sizeof text))
		stop("%s: process %lld, the helper of process %ld, has ended", name, (long long)helper.process, (long)getpid());
	if (reply.status != HALFULP_OK)
		stop("%s", text);
	if (result)
		*result = reply.result;
	pthread_mutex_unlock(&asking);
	pthread_setcancelstate(state, NULL);
	errno = error;
	return HALFULP_OK;
}

/* The helper. */

/* watch ends the helper when the process that asks has ended, also while a call runs. */
static void *watch(void *unused) {
	struct pollfd p = {.fd = stream.socket};
	(void)unused;
	while (!(p.revents & (POLLHUP | POLLERR | POLLNVAL)))
		poll(&p, 1, -1);
	_exit(0);
}

/* serve receives a request, does the call and replies. It returns 0 if the socket is closed. */
static int serve(void) {
	struct request r;
	struct reply reply = {0};
	void *data[MOST_OPERANDS] = {0};
	begin_message();
	if (!get(&r, sizeof r))
		return 0;
	if (r.routine < 0 || r.routine >= served_routines || r.operands > MOST_OPERANDS)
		stop("a request for routine %lld", (long long)r.routine);
	for (int i = 0; i < r.operands; i++) {
		size_t size = (size_t)(r.operand[i].numbers * r.operand[i].size);
		data[i] = malloc(size + 1);
		if (!data[i])
			stop("there is no memory for an operand of %lld numbers", (long long)r.operand[i].numbers);
		if (!get(data[i], size))
			return 0;
	}
	reply.status = served[r.routine](r.args, data, &reply.result);
	const char *text = reply.status == HALFULP_OK ? "" : halfulp_text();
	reply.length = (int64_t)strnlen(text, 1000);
	begin_message();
	if (!put(&reply, sizeof reply) || !put(text, (size_t)reply.length))
		return 0;
	for (int i = 0; i < r.operands; i++) {
		if (reply.status == HALFULP_OK && r.operand[i].written && !put(data[i], (size_t)(r.operand[i].numbers * r.operand[i].size)))
			return 0;
		free(data[i]);
	}
	return flush();
}

/* halfulp_blas_serve does the calls that come through a socket until its other end is closed. */
EXPORT void halfulp_blas_serve(int socket) {
	struct hello hello = {.build = BUILD, .process = getpid()};
	pthread_t thread;
	stream.socket = socket;
	if (pthread_create(&thread, NULL, watch, NULL) != 0)
		stop("no thread can be started");
	need_halfulp();
	begin_message();
	if (put(&hello, sizeof hello) && flush())
		while (serve())
			;
}

/* What the files of libhalfulpblas share. */
#include <stdint.h>
#include <stddef.h>

#include "halfulp.h"

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

#ifdef ILP64
#define SELF "libhalfulpblas64"
#else
#define SELF "libhalfulpblas"
#endif

/* shim.c */

/* stop ends the process with a message. */
HIDDEN __attribute__((noreturn, format(printf, 1, 2))) void stop(const char *format, ...);

/* library returns the file of this library, links resolved where it can be. */
HIDDEN const char *library(void);

/* beside stores the name of a file beside this library or beside what a link to it points to, and
 * returns whether there is one. */
HIDDEN int beside(const char *file, char *name, size_t size);

/* need loads libhalfulp, if that has not been done. lock and unlock keep other threads from loading
 * libraries, and from fork. */
HIDDEN void need_halfulp(void);
HIDDEN void lock(void);
HIDDEN void unlock(void);

/* halfulp_text returns the text of the last error of libhalfulp. */
HIDDEN extern const char *(*halfulp_text)(void);

/* Calls for forked processes: fork.c */

/* union value is an argument that is no array. */
union value {
	int64_t i;
	double d;
	float f;
};

enum { MOST_ARGUMENTS = 13, MOST_OPERANDS = 5 };

/* struct operand is an array of a call: its number (i, j) is at i inc + j ld. */
struct operand {
	char *data; /* NULL: the routine does not read it */
	int64_t size, written, rows, cols, ld, inc;
	char part;        /* 0: all of it; U or L: a triangle; B: a band of a matrix with m rows */
	int64_t m, above; /* of a band: the number of diagonals above the main one */
};

/* struct request asks for a call. The operands follow, column after column without gaps. */
struct request {
	int64_t routine, operands;
	union value args[MOST_ARGUMENTS];
	struct {
		int64_t size, written, numbers;
	} operand[MOST_OPERANDS];
};

/* ask has another process do a call. It stores the numbers that the routine writes, and its result
 * unless that is NULL, and returns HALFULP_OK. If there is no such process, it ends this one. */
HIDDEN int ask(const char *name, struct request *r, const struct operand *o, double *result);

/* forget_helper makes a process that fork has just made start a helper of its own. */
HIDDEN void forget_helper(void);

/* serve_routine does a call, and served has such a function for each routine (generated). */
typedef int serve_routine(const union value *v, void **data, double *result);
HIDDEN extern serve_routine *const served[];
HIDDEN extern const int64_t served_routines;

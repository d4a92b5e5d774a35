/* What the functions of halfulp.h, which are in C, do before and after they call Go. */
#include "halfulp.h"
#include "mode.h"

/* forked is 1 in a child of a process that loaded the library before it forked. */
extern int forked;

/* refuse sets the text of the thread and returns the status of calls in such a child. */
int refuse(const char *name);

/* finish takes the text of a call and returns its status. */
int finish(int status, char *text);

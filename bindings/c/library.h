/* What the Go and C files of the library share. */
#include "halfulp.h"

/* call_progress calls the function of halfulp_options_set_progress. */
int call_progress(halfulp_progress progress, double done, void *argument);

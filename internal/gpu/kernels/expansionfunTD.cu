#define WORDS 3
#define FORMAT TD
#include "expansionfun.cuh"

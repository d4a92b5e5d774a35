#define WORDS 2
#define FORMAT DD
#include "expansionfun.cuh"

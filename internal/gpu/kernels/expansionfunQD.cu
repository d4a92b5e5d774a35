#define WORDS 4
#define FORMAT QD
#include "expansionfun.cuh"

// The kernels of seed.cu with the tensor cores of Hopper.
#define HOPPER
#include "seed.cu"

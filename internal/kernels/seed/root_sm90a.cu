// The kernels of root.cu with the tensor cores of Hopper.
#define HOPPER
#include "root.cu"

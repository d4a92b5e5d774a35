// The kernels of convolve.cuh for 24 and 32 digits of 28 bits.
#include "convolve.cuh"

CONVOLVE(24, 3)
CONVOLVE(32, 3)

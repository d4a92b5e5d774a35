// The kernels of convolve.cuh for 24 and 32 digits of 28 bits.
#include "convolve.cuh"

CONVOLVE(24, 16)
CONVOLVE(32, 12)

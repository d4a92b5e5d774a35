// The kernels of convolve.cuh for 13 and 17 digits of 28 bits.
#include "convolve.cuh"

CONVOLVE(13, 16)
CONVOLVE(17, 16)

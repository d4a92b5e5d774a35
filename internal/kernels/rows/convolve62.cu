// The kernels of convolve.cuh for 48 and 62 digits of 28 bits.
#include "convolve.cuh"

CONVOLVE(48, 8)
CONVOLVE(62, 8)

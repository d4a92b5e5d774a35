// The kernels of reduce.cuh for 24 and 32 digits.
#include "reduce.cuh"

ACCUMULATE(24, 4, 3)
ACCUMULATE(32, 4, 3)

// The kernels of reduce.cuh for 13 and 17 digits.
#include "reduce.cuh"

ACCUMULATE(13, 6, 5)
ACCUMULATE(17, 6, 4)

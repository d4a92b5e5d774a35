// The kernels of reduce.cuh for 13 and 17 digits.
#include "reduce.cuh"

ACCUMULATE(13)
ACCUMULATE(17)

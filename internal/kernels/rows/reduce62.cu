// The kernels of reduce.cuh for 48 and 62 digits.
#include "reduce.cuh"

ACCUMULATE(48, 3, 2)
ACCUMULATE(62, 3, 2)

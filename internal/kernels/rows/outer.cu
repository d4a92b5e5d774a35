// The kernels of outer.cuh.
#include "outer.cuh"

OUTER(2, 1, 3, 2)
OUTER(4, 2, 3, 2)
OUTER(7, 4, 3, 2)
OUTER(14, 8, 4, 1)

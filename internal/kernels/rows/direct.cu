// The kernels of direct.cuh. Kernels alone on an H100, µs, with a batch of one and of two products:
// matrix-vector products at 106 bits 18.4 and 19.9, dot products 26.9 and 25.8; with three blocks
// of 256 threads a multiprocessor some 2 more. Sums and dot products at 424 bits with one block of
// more registers 40.7 and 70.9, with two 41.1 and 72.2 (calls).
#include "direct.cuh"

DIRECT(3, 8, 2, 4, 2)
DIRECT(4, 8, 2, 4, 2)
DIRECT(5, 8, 2, 1, 2)
DIRECT(6, 6, 2, 2, 2)
DIRECT(9, 4, 2, 2, 2)
DIRECT(13, 2, 2, 1, 2)
DIRECT(17, 2, 1, 3, 1)

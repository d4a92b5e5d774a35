// The kernels of direct.cuh. BenchmarkRows on an H100, µs of sums and dot products at 106 bits,
// with three blocks of 256 threads a multiprocessor and batches of four and two: 32, 50; so: 28,
// 40.
#include "direct.cuh"

DIRECT(3, 8, 2, 4, 2)
DIRECT(4, 8, 2, 4, 2)
DIRECT(5, 6, 2, 2, 2)
DIRECT(6, 6, 2, 2, 2)
DIRECT(9, 4, 2, 2, 2)
DIRECT(13, 2, 2, 1, 2)
DIRECT(17, 2, 2, 1, 2)

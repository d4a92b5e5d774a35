// The kernels of words.cuh.
#include "words.cuh"

WORDS(32, 1, 32, 32)
WORDS(32, 2, 16, 64)

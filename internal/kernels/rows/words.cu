// The kernels of words.cuh.
#include "words.cuh"

WORDS(8, 1, 8)
WORDS(16, 1, 16)
WORDS(32, 1, 32)
WORDS(32, 2, 64)

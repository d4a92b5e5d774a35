// Package rns, bases of 17 to 32 moduli.
#include "rnskernels.cuh"

KERNELS(4, 8, 32, 1)

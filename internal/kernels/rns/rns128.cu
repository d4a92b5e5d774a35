// Package rns, bases of 65 to 128 moduli.
#include "rnskernels.cuh"

KERNELS(16, 8, 32, 4)

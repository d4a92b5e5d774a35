// Package rns, bases of 9 to 16 moduli.
#include "rnskernels.cuh"

KERNELS(2, 8, 16, 1)

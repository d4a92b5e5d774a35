// Package rns, bases of 33 to 64 moduli.
#include "rnskernels.cuh"

KERNELS(8, 8, 32, 2)

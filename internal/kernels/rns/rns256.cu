// Package rns, bases of 129 to 256 moduli.
#include "rnskernels.cuh"

KERNELS(32, 8, 32, 8)

// Package rns, bases of up to 8 moduli.
#include "rnskernels.cuh"

KERNELS(1, 8, 8, 1)

// Package rns, bases of up to 8 moduli: quotients, square roots, fused multiply-adds.
#include "divide.cuh"

DIVIDE_KERNELS(1)

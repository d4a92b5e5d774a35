// Package rns, bases of 129 to 256 moduli: quotients, square roots, fused multiply-adds.
#include "divide.cuh"

DIVIDE_KERNELS(32)

// Package rns, bases of 65 to 128 moduli: quotients, square roots, fused multiply-adds.
#include "divide.cuh"

DIVIDE_KERNELS(16)

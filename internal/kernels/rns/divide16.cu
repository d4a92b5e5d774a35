// Package rns, bases of 9 to 16 moduli: quotients, square roots, fused multiply-adds.
#include "divide.cuh"

DIVIDE_KERNELS(2)

// Package rns, bases of 33 to 64 moduli: quotients, square roots, fused multiply-adds.
#include "divide.cuh"

DIVIDE_KERNELS(8)

// Package rns, bases of 17 to 32 moduli.
#include "sparse.cuh"

SPARSE_KERNEL(4, 8)

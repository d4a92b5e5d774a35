// Package rns, bases of 65 to 128 moduli.
#include "sparse.cuh"

SPARSE_KERNEL(16, 8)

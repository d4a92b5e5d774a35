// Package rns, bases of 9 to 16 moduli.
#include "sparse.cuh"

SPARSE_KERNEL(2, 8)

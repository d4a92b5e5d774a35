// Package rns, bases of 129 to 256 moduli.
#include "sparse.cuh"

SPARSE_KERNEL(32, 8)

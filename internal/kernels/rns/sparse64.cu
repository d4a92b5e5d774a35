// Package rns, bases of 33 to 64 moduli.
#include "sparse.cuh"

SPARSE_KERNEL(8, 8)

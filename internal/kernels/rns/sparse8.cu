// Package rns, bases of up to 8 moduli.
#include "sparse.cuh"

SPARSE_KERNEL(1, 8)

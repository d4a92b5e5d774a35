// Package rns, algorithm 1 as published, for all sizes of bases.
#include "algorithm1.cuh"

SERIAL(1, 32)
SERIAL(2, 128)
SERIAL(3, 256)

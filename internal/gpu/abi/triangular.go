package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of kernels/rows/triangular.cu.

// QuotientLanes is the most rows that quotientsOfRows solves.
const QuotientLanes = 32

// Quotients is the argument of quotientsOfRows.
type Quotients struct {
	T, R                                      Vectors
	X                                         Target
	Top, Odd, Counts                          cuda.Pointer
	Prec                                      int64
	Lo, Hi, Lower, Unit, Words, QuotientWords int32
}

// Raising is the argument of raiseTops.
type Raising struct {
	R        Vectors
	Top      cuda.Pointer
	Rows     int64
	First, _ int32
}

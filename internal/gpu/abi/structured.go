package abi

import "github.com/halfulp/halfulp/internal/cuda"

// What kernels/rows/structured.cu takes.

// How entries of a structured matrix are stored.
const (
	LayoutView        = iota // as a matrix
	LayoutSymmetric          // those on and above the diagonal
	LayoutPackedUpper        // one triangle of a symmetric matrix, column after column
	LayoutPackedLower
)

// Filling is what fill takes.
type Filling struct {
	X                          Vectors
	Z                          Target
	I0, J0, Order              int64
	Below, Above, Layout, Unit int32
}

// Looking is what odd takes.
type Looking struct {
	X     Vectors
	Count cuda.Pointer
}

// Mending is what mend takes.
type Mending struct {
	S, B, Old                           Vectors
	C                                   Target
	I0, J0                              int64
	Below, Above, Neg, NegBeta, Adds, _ int32
}

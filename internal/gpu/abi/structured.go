package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of kernels/rows/structured.cu.

// Storage of the entries of a structured matrix.
const (
	LayoutView        = iota // as a matrix
	LayoutSymmetric          // entries on and above the diagonal are stored
	LayoutPackedUpper        // one triangle of a symmetric matrix, column by column
	LayoutPackedLower
)

// Filling is the argument of fill.
type Filling struct {
	X                          Vectors
	Z                          Target
	I0, J0, Order              int64
	Below, Above, Layout, Unit int32
}

// Looking is the argument of odd.
type Looking struct {
	X     Vectors
	Count cuda.Pointer
}

// Mending is the argument of mend.
type Mending struct {
	S, B, Old                           Vectors
	C                                   Target
	I0, J0                              int64
	Below, Above, Neg, NegBeta, Adds, _ int32
}

package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Pivoting is what pivotPanel takes beside the elimination: kernels/seed/partial.cu.
type Pivoting struct {
	Tops, Keys, Rows, Chosen cuda.Pointer
	N, _                     int32
}

// Parting is what parted takes: kernels/newton/splitting.cu.
type Parting struct {
	A            Vectors
	Lower, Upper Target
}

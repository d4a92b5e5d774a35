package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Pivoting is the argument of pivotPanel besides Elimination: kernels/seed/partial.cu.
type Pivoting struct {
	Tops, Keys, Rows, Chosen cuda.Pointer
	N, _                     int32
}

// Parting is the argument of parted: kernels/newton/splitting.cu.
type Parting struct {
	A            Vectors
	Lower, Upper Target
}

// SquareOf is the argument of squaredFactors and square: kernels/seed/seed.cu.
type SquareOf struct {
	E                Vectors
	Columns, Rows, Z cuda.Pointer
	Size, _          int32
}

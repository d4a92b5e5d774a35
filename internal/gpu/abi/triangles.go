package abi

import "github.com/halfulp/halfulp/internal/cuda"

// What kernels/newton/triangles.cu takes.

// What is done with the diagonal of a square matrix.
const (
	DiagonalHalve    = iota // halves it
	DiagonalPositive        // counts the numbers that are not positive
)

// Diagonal is what diagonal takes. Count may be null for operations that do not count.
type Diagonal struct {
	A            Vectors
	Count        cuda.Pointer
	Operation, _ int32
}

// Across is what acrossTiles takes: matrices of one format that are to be equal, below or above the
// diagonal, or everywhere for 0. The numbers that differ are counted, or, where Count is null, A
// gets those of B.
type Across struct {
	A, B        Vectors
	Count       cuda.Pointer
	Triangle, _ int32
}

// Bounding is what magnitudesTimes takes. X may be null, which stands for ones.
type Bounding struct {
	A    Vectors
	X, Z cuda.Pointer
}

package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of kernels/newton/triangles.cu.

// Operations on the diagonal of a square matrix.
const (
	DiagonalHalve    = iota // halves it
	DiagonalPositive        // counts the entries that are not positive
)

// Diagonal is the argument of diagonal. Count may be null for operations that do not count.
type Diagonal struct {
	A            Vectors
	Count        cuda.Pointer
	Operation, _ int32
}

// Across is the argument of acrossTiles, for two matrices of one format: it compares them below or
// above the diagonal, or everywhere if Triangle is 0. The entries that differ are counted; if Count
// is null, the entries of B are copied to A instead.
type Across struct {
	A, B        Vectors
	Count       cuda.Pointer
	Triangle, _ int32
}

// Bounding is the argument of magnitudesTimes. A null X stands for a vector of ones.
type Bounding struct {
	A    Vectors
	X, Z cuda.Pointer
}

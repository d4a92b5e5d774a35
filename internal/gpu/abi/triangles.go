package abi

import "github.com/halfulp/halfulp/internal/cuda"

// What kernels/newton/triangles.cu takes.

// What is done with a square matrix.
const (
	TriangleHalve     = iota // halves the diagonal
	TriangleMirror           // copies the lower triangle to the upper one
	TrianglePositive         // counts the numbers of the diagonal that are not positive
	TriangleSymmetric        // counts the numbers below the diagonal that differ from those across
)

// Triangular is what triangle takes. Count may be null for operations that do not count.
type Triangular struct {
	A            Vectors
	Count        cuda.Pointer
	Operation, _ int32
}

// Bounding is what magnitudesTimes takes. X may be null, which stands for ones.
type Bounding struct {
	A    Vectors
	X, Z cuda.Pointer
}

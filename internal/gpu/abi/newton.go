package abi

import "github.com/halfulp/halfulp/internal/cuda"

// What kernels/newton/newton.cu takes.

// Shifting is what shifted takes. Rows and Cols may be null.
type Shifting struct {
	X               Vectors
	Z               Target
	Rows, Cols, Odd cuda.Pointer
}

// Summing is what summed takes. Errors, Rows and Cols may be null, Triangle is 'U', 'L' or 0.
// Errors are of columns, or of rows if ByRows is 1.
type Summing struct {
	X, D               Vectors
	Z                  Target
	Rest               Leftovers
	Errors, Rows, Cols cuda.Pointer
	Unit               int64
	Words, Triangle    int32
	ByRows, _          int32
}

// Gathering is what gathered takes: kernels/newton/gather.cu.
type Gathering struct {
	X     Vectors
	Z     Target
	Order cuda.Pointer
}

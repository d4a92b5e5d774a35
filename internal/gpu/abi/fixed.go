package abi

import "github.com/halfulp/halfulp/internal/cuda"

// What kernels/newton/fixed.cu takes.

// Refining is what its kernels take.
type Refining struct {
	F, X, G, Z                 Vectors
	Planes, R, Y, Parts, Sums  cuda.Pointer
	Tops                       cuda.Pointer
	Shift                      int64
	N, Words, Top, Count       int32
	Scale, Step, Used, Columns int32
}

// Rows of a block of these kernels, planes of a chunk, words of its integers, rows of a block of
// fixedResidual and columns of a slice.
const (
	FixedRows    = 128
	FixedChunk   = 4
	FixedWords   = FixedChunk + 2
	FixedUpdate  = 32
	FixedColumns = 128
)

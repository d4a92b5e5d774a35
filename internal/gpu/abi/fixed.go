package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/place"
)

// Structures of kernels/newton/fixed.cu.

// Refining is the argument of the kernels of fixed.cu.
type Refining struct {
	F, X, G, Z                Vectors
	Planes, R, Y, Parts, Sums cuda.Pointer
	Tops, Joined, Highest     cuda.Pointer
	AllParts, AllSums         [FixedGPUs]cuda.Pointer
	AllTops                   [FixedGPUs]cuda.Pointer
	AllWidths                 [FixedGPUs]int32
	Shift                     int64
	N, Words, Top, Count      int32
	Scale, Step, Used         int32
	Columns, Slices, Slice    int32
	Begin, Width, GPUs        int32
}

// Sizes that the host and the kernels share.
const (
	FixedRows    = 128             // rows of most blocks
	FixedChunk   = 4               // planes of a chunk, which has one more word in a slice
	FixedUpdate  = 32              // rows of a block of fixedJoin and fixedResidual
	FixedParts   = 16              // threads of such a block for a row
	FixedColumns = 128             // columns of a slice of X
	FixedSlice   = 64              // columns of a slice of F
	FixedGPUs    = place.MaxPanels // the most GPUs
)

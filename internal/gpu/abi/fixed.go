package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/place"
)

// What kernels/newton/fixed.cu takes.

// Refining is what its kernels take.
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

// Sizes that the host and the kernels agree on.
const (
	FixedRows    = 128             // of a block, mostly
	FixedChunk   = 4               // planes of a chunk, whose integers have a word more for a slice
	FixedUpdate  = 32              // rows of a block of fixedJoin and fixedResidual
	FixedParts   = 16              // threads of it for a row
	FixedColumns = 128             // of a slice of X
	FixedSlice   = 64              // of one of F
	FixedGPUs    = place.MaxPanels // at most
)

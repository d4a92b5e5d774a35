package abi

import "github.com/halfulp/halfulp/internal/cuda"

// What kernels of seeds take: kernels/seed/seed.cu.

// SeedBlock is the number of columns that a step of the elimination takes, and SeedNode the most
// rows of which a node of the tournament picks so many.
const (
	SeedBlock = 64
	SeedNode  = 256
)

// Where no tournament is needed pivots are picked among SeedCandidates rows, in SeedPickShared
// bytes of shared memory.
const (
	SeedCandidates = 96
	SeedPickShared = 8*SeedBlock*(SeedCandidates+1) + 8*SeedBlock*(SeedBlock+4) + (8+4)*SeedBlock
)

// NoTop is the exponent of rows and columns of zeros, of bytes NoTopByte.
const (
	NoTop     = -0x7f7f7f7f7f7f7f80
	NoTopByte = 0x80
)

// What may go wrong in an elimination.
const (
	SeedSingular = 1 << iota
	SeedNotFinite
	SeedGrowth // a number of the left factor of a row without a pivot is above SeedMost
)

// SeedMost is what numbers of the left factor may be at most where pivots are those of a few rows.
const SeedMost = 256

// Equilibration is what scales a matrix. Rows and Cols have the negatives of exponents.
type Equilibration struct {
	A                  Vectors
	Rows, Cols, Status cuda.Pointer
}

// Elimination is a step of the inversion of the scaled matrix.
type Elimination struct {
	F, Order, Slot cuda.Pointer
	Corner, Upper  cuda.Pointer
	Left, Right    cuda.Pointer
	Status         cuda.Pointer
	N, First       int32
	Columns, Panel int32
	Width, _       int32
}

// Root is a step towards the inverse of a Cholesky factor: kernels/seed/root.cu.
type Root struct {
	A            Vectors
	Exps, Status cuda.Pointer
	F            cuda.Pointer
	Inverse, P   cuda.Pointer
	N, First     int32
	Panel, _     int32
}

// RootTiles are the tiles of rows from Row on in columns Begin <= j < End, and those of the lower
// triangle in columns Triangle <= j < Until.
type RootTiles struct{ Row, Begin, End, Triangle, Until int32 }

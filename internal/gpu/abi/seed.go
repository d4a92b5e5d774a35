package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of the kernels of seeds: kernels/seed/seed.cu.

// SeedBlock is the number of columns of a step of the elimination. SeedNode is the most rows among
// which a node of the tournament picks SeedBlock rows.
const (
	SeedBlock = 64
	SeedNode  = 256
)

// Where no tournament is needed, pivots are picked among SeedCandidates rows, in SeedPickShared
// bytes of shared memory.
const (
	SeedCandidates = 96
	SeedPickShared = 8*SeedBlock*(SeedCandidates+1) + 8*SeedBlock*(SeedBlock+4) + (8+4)*SeedBlock
)

// SeedAheadShared is the shared memory in bytes of a block that picks pivots and updates others.
const SeedAheadShared = 8 * SeedBlock * (SeedCandidates + 1 + SeedCandidates)

// One block finds the pivots of at most SeedShortRows rows by partial pivoting, SeedShortShare rows
// a thread, in SeedShortShared bytes of shared memory.
const (
	SeedShortRows   = 1024
	SeedShortShare  = 2
	SeedShortShared = SeedPickShared + 2*8*(1+16+2)*SeedShortRows/SeedShortShare/32
)

// A cluster of SeedCluster blocks finds the pivots of matrices of at most SeedClusterRows rows by
// partial pivoting, in SeedClusterShared bytes of shared memory each.
const (
	SeedCluster       = 8
	SeedClusterRows   = SeedCluster * 128
	SeedClusterShared = 8*SeedBlock*128 + 8*SeedBlock*(SeedBlock+4) + (8+4)*SeedBlock + 2*8*SeedCluster*(SeedBlock+2) + 2*8 + 2*8*4*(SeedBlock+2+1)
)

// NoTop is the exponent of zero rows and columns; all its bytes are NoTopByte.
const (
	NoTop     = -0x7f7f7f7f7f7f7f80
	NoTopByte = 0x80
)

// Failures of an elimination.
const (
	SeedSingular = 1 << iota
	SeedNotFinite
	SeedGrowth // an entry of the left factor, in a row without a pivot, exceeds SeedMost
)

// SeedMost is the largest allowed entry of the left factor where pivots are picked among a few
// rows.
const SeedMost = 256

// Equilibration is the scaling of a matrix. Rows and Cols hold the negated exponents.
type Equilibration struct {
	A                  Vectors
	Rows, Cols, Status cuda.Pointer
}

// Elimination is a step of the inversion of the scaled matrix.
type Elimination struct {
	F, Order, Slot cuda.Pointer
	Corner, Upper  cuda.Pointer
	Left, Right    cuda.Pointer
	Ahead, Status  cuda.Pointer
	N, First       int32
	Columns, Panel int32
	Width, _       int32
}

// Root is a step of the inversion of a Cholesky factor: kernels/seed/root.cu.
type Root struct {
	A            Vectors
	Exps, Status cuda.Pointer
	F            cuda.Pointer
	Inverse, P   cuda.Pointer
	N, First     int32
	Panel, _     int32
}

// RootTiles are the tiles of the rows from Row on in columns Begin <= j < End, and the tiles of the
// lower triangle in columns Triangle <= j < Until.
type RootTiles struct{ Row, Begin, End, Triangle, Until int32 }

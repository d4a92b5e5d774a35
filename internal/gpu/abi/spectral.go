package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of the kernels of spectra: kernels/seed/spectral.cu.

// Rows of a block of spectralColumn, columns and threads of a block of spectralDots, and columns of
// a block of spectralTurn.
const (
	SpectralRows    = 32
	SpectralColumns = 8
	SpectralThreads = 128
	SpectralTurn    = 32
)

// Spectral is a reduction of a symmetric matrix.
type Spectral struct {
	A, V, W      cuda.Pointer
	Raw, Squares [2]cuda.Pointer
	U, P, Q      cuda.Pointer
	Cross        cuda.Pointer
	D, E, Tau    cuda.Pointer
	N, Order     int32
}

// SpectralRank is an update of a matrix by SeedBlock columns and rows.
type SpectralRank struct {
	F, Left, Right, Zeros cuda.Pointer
	N, Row, Column, _     int32
}

// SpectralProduct is a product of SeedBlock reflectors and a matrix.
type SpectralProduct struct {
	V, Z, To         cuda.Pointer
	N, Row, Parts, _ int32
}

// SpectralMerge is a merge of divide and conquer: kernels/seed/merge.cu.
type SpectralMerge struct {
	Q, D, Z, Roots, Tau, Origin, Place, Columns, Above, Below, Rest, Delta, Failed cuda.Pointer
	LD, Order, Upper, Kept, Top, Mixed                                             int32
}

// SpectralRotation is a rotation of two columns: their numbers, the second one in the upper half,
// and the bits of its cosine and sine.
type SpectralRotation [3]uint64

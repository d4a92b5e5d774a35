package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of kernels/seed/spectra.cu.

// SpectraSide is the number of rows and columns of a tile.
const SpectraSide = 32

// Spectra has bounds of S and R, and lists of numbers.
type Spectra struct {
	S, R                                 Vectors
	FS, FR                               cuda.Pointer
	LongS, LostS                         cuda.Pointer
	Hi, Lo, Last, Size, Lost, RowS, RowR cuda.Pointer
	Radius, Tilt, Image, To, Failed      cuda.Pointer
	Alpha, Cut                           float64
	N, _                                 int32
}

// SpectraSign is the argument of spectraSigns.
type SpectraSign struct {
	X, D       Vectors
	Errors, To cuda.Pointer
}

// SpectraOrder is the argument of spectraColumns.
type SpectraOrder struct {
	X            Vectors
	Z            Target
	Order, Signs cuda.Pointer
}

package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Structures of kernels/newton/newton.cu.

// Shifting is the argument of shifted. Rows and Cols may be null.
type Shifting struct {
	X               Vectors
	Z               Target
	Rows, Cols, Odd cuda.Pointer
}

// Summing is the argument of summed. Errors, Rows and Cols may be null. Triangle is 'U', 'L' or 0.
// Errors has an entry for each column, or for each row if ByRows is 1.
type Summing struct {
	X, D               Vectors
	Z                  Target
	Rest               Leftovers
	Errors, Rows, Cols cuda.Pointer
	Unit               int64
	Words, Triangle    int32
	ByRows, _          int32
}

// Gathering is the argument of gathered: kernels/newton/gather.cu.
type Gathering struct {
	X     Vectors
	Z     Target
	Order cuda.Pointer
}

// Squaring is the argument of lessSquares, for columns of at most LessLimbs and SquaredLimbs limbs.
type Squaring struct {
	D    Target
	Z    Vectors
	Rest Leftovers
}

// The most limbs of numbers of lessSquares, and the most limbs and words of numbers and windows of
// summedShort.
const (
	LessLimbs     = 8
	SquaredLimbs  = 4
	ShortSumLimbs = 2
	ShortSumWords = 6
)

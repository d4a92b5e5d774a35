package place

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
)

// Processes is the part of a place that is several processes, each of which has a host.
type Processes interface {
	// Hosts returns how many they are, if all of them compute on their CPUs alone, else 0. All
	// processes call it.
	Hosts(ctx context.Context) (int, error)
}

// Newton is the part of a place for Newton's method in package linsolve, with matrices that live
// there.
// Results share no entry with operands.
type Newton interface {
	// Oblique reports whether views may have their entries along diagonals of what is stored.
	Oblique() bool
	// Room returns the rows x cols numbers of a matrix by columns that live there, with unspecified
	// contents: for results that are all stored before they are read.
	Room(cfg Config, f num.Format, rows, cols int) (*num.Array, error)
	// Extents returns what bounds the rows of matrices, and what the tally has counted, if there is
	// one: see residue.Bound. It waits for all that was to be done before.
	Extents(cfg Config, tally *num.Array, list ...num.Mat) (x []Extents, left int, err error)
	// Inverse begins to set X, of Float64, to an approximate inverse of F = diag(2^rows) A
	// diag(2^cols), A square, and returns the exponents, which bring the largest magnitude of each
	// row and column near 1. Nothing is known of the error. It is not ok, and X unspecified, if
	// there is none in float64 arithmetic: the next attempt, of which the first is number 0, may
	// have one then. There is no seed, but nil, if there is no such attempt.
	Inverse(cfg Config, a, x num.Mat, attempt int) (rows, cols []int64, begun Seed, err error)
	// Shift sets Z, of MP with at least as many bits as X has, to diag(2^rows) X diag(2^cols),
	// where nil stands for zeros. It returns how many entries it cannot: those that are not finite,
	// which become zeros, and those with exponents or shifts beyond 2^29. X is of Float32, Float64
	// or MP. With a tally they are counted there, and it does not wait.
	Shift(cfg Config, x num.Mat, rows, cols []int64, z num.Mat, tally *num.Array) (odd int, err error)
	// Sum sets Z as s says and returns how many entries are left as they are: those whose rounding
	// is not known, and results that are not normal. With a tally they are counted there, and it
	// does not wait.
	Sum(cfg Config, s Sum, z num.Mat) (left int, err error)
}

// Extents are bounds of the rows of a matrix: numbers are below 2^Top[i], and the sum of their
// magnitudes is at most Norm[i] 2^Top[i]; of zeros alone Top is below -2^60. Numbers of row i are
// multiples of 2^Low[i], and Width is the largest Top[i] - Low[i] of rows with others than zeros.
// Special says that there are infinities or NaN.
type Extents struct {
	Top     []int64
	Low     []int64
	Norm    []float64
	Width   int64
	Special bool
}

// Sum is Z = X + D, for finite numbers of MP. What is added is cut off below 2^-(32 words) times
// the larger of the two. Without Errors the sum is rounded as it is then. With them entries of
// column j of X + D are known up to 2^Errors[j], and are scaled by 2^(Rows[i] + Cols[j]) and
// rounded to nearest, if all that they may be rounds to one number. Triangle restricts it to one
// triangle of square matrices: 'U', 'L', or 0. Without Errors sums are cut off to multiples of
// 2^Unit first, if Unit is not nil.
type Sum struct {
	X, D               num.Mat
	Bits               int // that sums have at least
	Errors, Rows, Cols []int64
	Triangle           byte
	Tally              *num.Array // nil: none
	Unit               *int64
}

// Words returns how many words of 32 bits hold the sums: 32 bits are to spare.
func (s *Sum) Words() int { return (s.Bits+31)/32 + 1 }

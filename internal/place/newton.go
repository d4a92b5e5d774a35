package place

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
)

// Processes is the part of a place that consists of several processes, each with a host.
type Processes interface {
	// Hosts returns the number of processes if all of them compute on their CPUs alone, else 0. All
	// processes must call it.
	Hosts(ctx context.Context) (int, error)
}

// Newton is the part of a place for Newton's method in package linsolve. Its matrices live at the
// place. Results share no entry with operands.
type Newton interface {
	// Oblique reports whether the entries of a view may lie along diagonals of the stored matrix.
	Oblique() bool
	// Room returns an array of rows x cols numbers at the place, for a matrix stored by columns,
	// with unspecified contents. It is for results that are stored completely before they are read.
	Room(cfg Config, f num.Format, rows, cols int) (*num.Array, error)
	// Zeros is Room for a matrix of zeros, some of which are replaced by results. Of a zero in MP
	// only the class is specified, so the array is for operations of the place only.
	Zeros(cfg Config, f num.Format, rows, cols int) (*num.Array, error)
	// Extents returns bounds of the rows of matrices, and the count in tally unless that is nil:
	// see residue.Bound. It waits for all earlier operations.
	Extents(cfg Config, tally *num.Array, list ...num.Mat) (x []Extents, left int, err error)
	// Inverse starts to compute X, of Float64, an approximate inverse of F = diag(2^rows) A
	// diag(2^cols) for a square A. It returns the exponents rows and cols, which bring the largest
	// magnitude of each row and column near 1. Nothing is known of the error of X. The seed is not
	// ok, and X unspecified, if float64 arithmetic finds no inverse; the next attempt may find one.
	// Attempts are numbered from 0. The seed is nil if there is no attempt of this number.
	Inverse(cfg Config, a, x num.Mat, attempt int) (rows, cols []int64, begun Seed, err error)
	// Shift sets Z to diag(2^rows) X diag(2^cols), where nil stands for exponents that are all 0. X
	// is of Float32, Float64 or MP, and Z is of MP with at least as many bits as X. It returns the
	// number of entries that it cannot represent: entries that are not finite, which become zeros,
	// and entries with exponents or shifts beyond 2^29. With a tally they are counted there and
	// Shift does not wait.
	Shift(cfg Config, x num.Mat, rows, cols []int64, z num.Mat, tally *num.Array) (odd int, err error)
	// Sum computes Z as s says and returns the number of entries that it leaves unchanged: entries
	// whose rounding is not known, and results that are not normal. With a tally they are counted
	// there and Sum does not wait.
	Sum(cfg Config, s Sum, z num.Mat) (left int, err error)
}

// Extents bounds the rows of a matrix. The magnitudes in row i are below 2^Top[i], their sum is at
// most Norm[i] 2^Top[i], and all numbers are multiples of 2^Low[i]. Top[i] of a row of zeros is
// below -2^60. Width is the largest Top[i] - Low[i] of the rows that are not all zero. Special says
// that the matrix has an infinity or NaN.
type Extents struct {
	Top     []int64
	Low     []int64
	Norm    []float64
	Width   int64
	Special bool
}

// MostSummed is the most bits of X and Z in a sum with a D in Float64.
const MostSummed = 128

// Sum is Z = X + D for finite numbers of MP; D may be in Float64, see MostSummed. Bits of an addend
// below 2^-(32 words) times the larger addend may be cut off. Without Errors the sum is then
// rounded; if Unit is not nil it is first cut off to a multiple of 2^Unit. With Errors the entries
// of column j of X + D are known up to 2^Errors[j]; they are scaled by 2^(Rows[i] + Cols[j]) and
// rounded to nearest, if all values within the error round to one number. Triangle restricts the
// operation to one triangle of square matrices, 'U' or 'L'; 0: all entries.
type Sum struct {
	X, D               num.Mat
	Bits               int // precision of the sums, at least
	Errors, Rows, Cols []int64
	Triangle           byte
	Tally              *num.Array // receives the count, or nil
	Unit               *int64
}

// Words returns the number of 32-bit words that hold the sums. At least 32 of their bits are spare.
func (s *Sum) Words() int { return (s.Bits+31)/32 + 1 }

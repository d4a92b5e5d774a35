package place

import "github.com/halfulp/halfulp/internal/num"

// A Seed is an approximation in float64 arithmetic that a place has started to compute. Later
// operations that use it are queued behind it, so a caller can request them before it knows whether
// the seed is ok. If the seed is not ok, the caller must discard their results.
type Seed interface {
	// Settle waits for the seed, reports whether it is ok, and releases it.
	Settle(cfg Config) (ok bool, err error)
	// Drop releases the seed, unless it has been settled.
	Drop()
}

// Made returns a seed that is already ok; nil if ok is false.
func Made(ok bool) Seed {
	if !ok {
		return nil
	}
	return made{}
}

type made struct{}

func (made) Settle(Config) (bool, error) { return true, nil }
func (made) Drop()                       {}

// Fetcher is the part of a place that copies matrices to memory of the caller.
type Fetcher interface {
	// Fetch copies a matrix of the place to a matrix of the host, of the same shape and format. The
	// error wraps ErrUnsupported if either is not stored by columns without gaps.
	Fetch(cfg Config, to, from num.Mat) error
}

// Spectral is the part of a place that reduces symmetric matrices in float64 arithmetic, with
// errors that have no known bound.
type Spectral interface {
	// Tridiagonal computes the diagonal d and the off-diagonal e of a tridiagonal matrix T =
	// H' A H, for a symmetric n x n matrix A of finite numbers below 1 at the place. H is
	// orthogonal. The caller must free the reduction.
	Tridiagonal(cfg Config, a num.Mat) (r Reduction, d, e []float64, err error)
}

// A Reduction is the matrix H of a Spectral, of order n, with room for an n x n matrix Q. The
// caller computes the eigenvectors of T in Q by divide and conquer: it loads the eigenvectors of
// blocks of T, merges neighbouring blocks, and multiplies by H.
type Reduction interface {
	// Load sets column j of Q to column j of q, of rows numbers, from row base[j] on, and to zeros
	// elsewhere. T can no longer be computed from A.
	Load(cfg Config, q []float64, rows int, base []int32) error
	// Ends returns, for the columns of a piece, the last row of its first part and the first row of
	// its second part, each where the column is one of that part.
	Ends(cfg Config, p Piece) ([]float64, error)
	// Merge replaces the columns of a piece of Q, and returns the roots of the secular equation. It
	// is not ok if an iteration does not converge.
	Merge(cfg Config, m Merge) (roots []float64, ok bool, err error)
	// Apply sets column p of X, in MP of 53 to 64 bits, to column order[p] of H Q. It is not ok if
	// a number is not finite. It is called at most once, after Load.
	Apply(cfg Config, order []int32, x num.Mat) (ok bool, err error)
	Free()
}

// A Piece has the rows and columns First ≤ i < To of a matrix, in two parts that meet at Mid.
type Piece struct{ First, Mid, To int }

// A Merge computes eigenvectors of D + z z' for the diagonal matrix D, in the basis of the columns
// of Q. Columns are numbered from the first column of the piece on.
type Merge struct {
	Piece
	// Rotations are pairs of columns that are rotated first, one pair after the other.
	Rotations []Rotation
	// Columns has the order of the columns afterwards: len(D) columns that take part, and the
	// columns that stay as they are. The first Top columns are zero below Mid, the ones from Mixed
	// on above Mid.
	Columns    []int32
	Top, Mixed int
	// D, in ascending order, and z. Place[j] is the position of number j in Columns.
	D, Z  []float64
	Place []int32
}

// A Rotation replaces columns x and y by C x + S y and C y - S x.
type Rotation struct {
	X, Y int
	C, S float64
}

package place

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// Structured is the part of a place for products with band, symmetric and triangular matrices of
// the place.
type Structured interface {
	// Dense returns rows i0 <= i < i1 of a structured matrix, from column first on, as a new matrix
	// of the place, like direct.Structured.Gather.
	Dense(cfg Config, s direct.Structured, i0, i1 int) (m num.Mat, first int, err error)
	// Plain reports whether a matrix has no infinity, no NaN, and no number of several terms that
	// overlap.
	Plain(cfg Config, m num.Mat) (bool, error)
	// MendZeros applies direct.Structured.MendZero to a product from row i0 on, in C = alpha M B +
	// beta Old. M is the result of Dense, and B consists of the rows of the right factor from first
	// on. All of these matrices are plain.
	MendZeros(cfg Config, s direct.Structured, alpha num.Real, m num.Mat, i0, first int, b num.Mat, beta num.Real, old, c num.Mat) error
}

// Solver is the part of a place for triangular systems of equations. Their matrices live at the
// place.
type Solver interface {
	// Solve sets X to the solution of S X = alpha B, S triangular, with every quotient rounded
	// once, and reports whether it could. It cannot where a rounding is not decided, for
	// infinities, NaN and zeros on the diagonal, and for S in DD, TD or QD; X is then unspecified.
	// X shares no entry with the others.
	Solve(cfg Config, s direct.Structured, alpha num.Real, b, x num.Mat, count func(num.Flags)) (residue.Stats, bool, error)
}

// Widener is the part of a place that converts matrices of the place to another format.
type Widener interface {
	// Widens reports whether Widen converts numbers of format f to format g.
	Widens(f, g num.Format) bool
	// Widen sets matrix to to matrix from, of the same shape, exactly. They share no entry.
	Widen(cfg Config, to, from num.Mat) error
}

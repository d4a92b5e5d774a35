package place

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// Structured is the part of a place for products with band, symmetric and triangular matrices that
// live there.
type Structured interface {
	// Dense returns rows i0 <= i < i1 of a matrix as a new one that lives there, from column first
	// on, like direct.Structured.Gather.
	Dense(cfg Config, s direct.Structured, i0, i1 int) (m num.Mat, first int, err error)
	// Plain reports whether a matrix has no infinity, no NaN, and no sum of terms that overlap.
	Plain(cfg Config, m num.Mat) (bool, error)
	// MendZeros is direct.Structured.MendZero for rows i0 and on of a product, in C = alpha M B +
	// beta Old, if M is what Dense returned, B the rows of the right factor from first on, and all
	// of these are plain.
	MendZeros(cfg Config, s direct.Structured, alpha num.Real, m num.Mat, i0, first int, b num.Mat, beta num.Real, old, c num.Mat) error
}

// Solver is the part of a place for triangular systems of equations that live there.
type Solver interface {
	// Solve sets X to the solution of S X = alpha B, S triangular, with every quotient rounded
	// once, and reports whether it could: not where a rounding is not decided, for infinities, NaN
	// and zeros on the diagonal, and for S in DD, TD or QD. X shares nothing with the others; it is
	// unspecified if not.
	Solve(cfg Config, s direct.Structured, alpha num.Real, b, x num.Mat, count func(num.Flags)) (residue.Stats, bool, error)
}

// Widener is the part of a place that takes matrices that live there to another format.
type Widener interface {
	// Widens reports whether Widen takes numbers of format f to format g.
	Widens(f, g num.Format) bool
	// Widen sets a matrix to another one of its shape, exactly. They share nothing.
	Widen(cfg Config, to, from num.Mat) error
}

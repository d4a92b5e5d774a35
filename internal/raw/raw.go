// Package raw gives the method packages of this module the storage of the root package's vectors
// and matrices, which the root package keeps to itself otherwise. Package halfulp fills the
// functions in; each panics if its argument is not what its name says.
package raw

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

var (
	// Vector returns the storage of a *halfulp.Vector, wherever it lives.
	Vector func(x any) num.Vec
	// Matrix returns the storage of a *halfulp.Matrix, wherever it lives.
	Matrix func(x any) num.Mat
	// NewMatrix returns the *halfulp.Matrix with that storage.
	NewMatrix func(m num.Mat) any
	// GemmWithin computes D = alpha A B + beta C like halfulp.GemmTo for *halfulp.Matrix and
	// *halfulp.Options, with a bound of D that the caller has proved: a wrong one makes wrong
	// numbers (residue.Bound). It returns the halfulp.Stats.
	GemmWithin func(alpha float64, a, b any, beta float64, c, d any, bound *residue.Bound, opt any) (any, error)
	// GemmTriangle is GemmWithin for a triangle of a square D, 'L' or 'U', or for all of D, 0. The
	// other triangle is neither read nor written. There may be no bound. The triangles of A and B
	// beyond the given ones have to be zeros.
	GemmTriangle func(alpha float64, a, b any, beta float64, c, d any, triangle byte, factors [2]byte, bound *residue.Bound, opt any) (any, error)
	// Scalar returns the value of a halfulp.Scalar.
	Scalar func(x any) num.Real
)

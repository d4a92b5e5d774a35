// Package raw gives the method packages of this module the storage of the root package's vectors
// and matrices, which the root package keeps to itself otherwise. Package halfulp fills the
// functions in; each panics if its argument is not what its name says.
package raw

import (
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
)

var (
	// Vector returns the storage of a *halfulp.Vector, wherever it lives.
	Vector func(x any) num.Vec
	// Matrix returns the storage of a *halfulp.Matrix, wherever it lives.
	Matrix func(x any) num.Mat
	// NewMatrix returns the *halfulp.Matrix with that storage.
	NewMatrix func(m num.Mat) any
	// SetText stores a number as text in entry (i, j) of a *halfulp.Matrix and says what the range
	// of its format took from it. Distinct entries may be set at the same time.
	SetText func(x any, i, j int, text []byte) (decimal.Loss, error)
	// Scalar returns the value of a halfulp.Scalar.
	Scalar func(x any) num.Real
)

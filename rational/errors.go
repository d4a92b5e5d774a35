package rational

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/proof/call"
)

// Messages of panics.
const (
	errShape = "rational: shapes do not fit"
	errIndex = "rational: index out of range"
	errNil   = "rational: nil matrix or number"
)

// ErrSingular is wrapped by errors about matrices that are proved to have dependent columns.
// Package linsolve has the same value.
var ErrSingular = call.ErrSingular

// ErrInconsistent is wrapped by errors about systems A X = B that are proved to have no solution.
var ErrInconsistent = errors.New("inconsistent system")

// ErrNotFinite is wrapped by errors about infinities and NaN. Package linsolve has the same value.
var ErrNotFinite = call.ErrNotFinite

// ErrSyntax is wrapped by errors about text that is no rational number.
var ErrSyntax = errors.New("not a rational number")

// SingularError reports that the columns of a matrix are proved to be dependent. It wraps
// [ErrSingular].
type SingularError struct {
	Rows, Cols int // of the matrix
	Rank       int // its rank: a count, not an index
}

// Error implements error.
func (e *SingularError) Error() string {
	return fmt.Sprintf("singular matrix: %d x %d of rank %d", e.Rows, e.Cols, e.Rank)
}

// Unwrap returns ErrSingular.
func (e *SingularError) Unwrap() error { return ErrSingular }

// InconsistentError reports that a system A X = B is proved to have no solution. It wraps
// [ErrInconsistent].
type InconsistentError struct {
	Col int // the first column of B, from 0, that is no combination of the columns of A
}

// Error implements error.
func (e *InconsistentError) Error() string {
	return fmt.Sprintf("inconsistent system: column %d of the right-hand side is no combination of the columns of the matrix", e.Col)
}

// Unwrap returns ErrInconsistent.
func (e *InconsistentError) Unwrap() error { return ErrInconsistent }

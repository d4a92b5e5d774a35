package linsolve

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
	"github.com/halfulp/halfulp/linsolve/internal/function"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// ErrSingular is wrapped by errors about matrices that are proved to be singular.
var ErrSingular = call.ErrSingular

// SingularError reports that a matrix is proved to be singular. It wraps ErrSingular.
type SingularError struct {
	N    int // order of the matrix
	Rank int // its rank: a count, not an index
}

func (e *SingularError) Error() string { return (*call.SingularError)(e).Error() }

func (e *SingularError) Unwrap() error { return ErrSingular }

// ErrNotSymmetric is wrapped by errors about matrices that must be symmetric and are not.
var ErrNotSymmetric = call.ErrNotSymmetric

// ErrNotFinite is wrapped by errors about infinities and NaN in operands.
var ErrNotFinite = call.ErrNotFinite

// ErrRange is wrapped by errors about numbers whose products do not fit any format.
var ErrRange = call.ErrRange

// ErrNotPositiveDefinite is wrapped by errors about matrices that are proved not to be positive
// definite.
var ErrNotPositiveDefinite = factors.ErrNotPositiveDefinite

// NotPositiveDefiniteError reports that a symmetric matrix is not positive definite, which the sign
// of a leading minor proves. It wraps ErrNotPositiveDefinite.
type NotPositiveDefiniteError struct {
	Order int // of the minor, from 1: its last row and column have index Order - 1
	Sign  int // of the minor: -1 or 0
}

func (e *NotPositiveDefiniteError) Error() string {
	return (*factors.NotPositiveDefiniteError)(e).Error()
}

func (e *NotPositiveDefiniteError) Unwrap() error { return ErrNotPositiveDefinite }

// RankError reports that the matrix of a least-squares problem is proved to have neither
// independent columns nor, with fewer rows than columns, independent rows. It wraps ErrSingular.
type RankError struct {
	Rows, Cols int // of the matrix, rows of weight 0 left out
	Rank       int // its rank
}

func (e *RankError) Error() string { return (*lsq.RankError)(e).Error() }

func (e *RankError) Unwrap() error { return ErrSingular }

// ErrWide is wrapped by errors about intervals so wide that matrices in them are not proved
// regular.
var ErrWide = solve.ErrWide

// ErrNorm is wrapped by errors about matrices whose exponentials may be beyond all formats.
var ErrNorm = function.ErrNorm

// ErrWeights is wrapped by errors about weights that are negative, infinite or NaN.
var ErrWeights = lsq.ErrWeights

// ErrUnit is wrapped by errors about units that are 0, and about units of weights that are not
// positive.
var ErrUnit = lsq.ErrUnit

// ErrConfidence is wrapped by errors about confidence levels that are not between 0 and 1, or so
// near 1 that the limits have no bound.
var ErrConfidence = lsq.ErrConfidence

// failure is an error with one of this package's error types inside and the text of the internal
// error, which tells more about where it happened.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.err }

// wrapped returns the error of routine name, with the error types of this package.
func wrapped(name string, err error) error {
	var (
		singular   *call.SingularError
		indefinite *factors.NotPositiveDefiniteError
		rank       *lsq.RankError
	)
	text := name + ": " + err.Error()
	switch {
	case errors.As(err, &singular):
		return &failure{text, (*SingularError)(singular)}
	case errors.As(err, &indefinite):
		return &failure{text, (*NotPositiveDefiniteError)(indefinite)}
	case errors.As(err, &rank):
		return &failure{text, (*RankError)(rank)}
	}
	return fmt.Errorf("%s: %w", name, err)
}

package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Norm names a norm of matrices.
type Norm byte

// The norms of a matrix: OneNorm is the largest sum of magnitudes of a column, InfNorm the largest
// sum of magnitudes of a row.
const (
	OneNorm Norm = '1'
	InfNorm Norm = 'I'
)

// Cond returns the condition number ‖A‖ ‖A^-1‖ of a square matrix A in a norm, correctly rounded to
// format f: +Inf for a singular A, 0 for n = 0.
//
// Time and errors are as for [Inverse]. Stats.Overflow counts a finite condition number that f
// rounds to +Inf, but not the +Inf of a singular A. Cond panics if A is not square, or for a norm
// other than OneNorm and InfNorm.
func Cond(norm Norm, a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	if norm != OneNorm && norm != InfNorm {
		panic("linsolve: bad Norm")
	}
	s, on, err := begin("Cond", opt, a.View())
	if err != nil {
		return halfulp.Scalar{}, err
	}
	z, err := solve.ConditionNumber(s, norm == OneNorm, on[0], f.View())
	if err != nil {
		return halfulp.Scalar{}, ended(opt, s, "Cond", err)
	}
	s.Finished()
	return halfulp.ScalarOf(z), ended(opt, s, "", nil)
}

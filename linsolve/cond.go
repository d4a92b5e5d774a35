package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Cond returns the condition number ‖A‖ ‖A^-1‖ of a square matrix A in a norm, correctly rounded to
// format f: +Inf for a singular A, 0 for n = 0.
//
// Time and errors are as for [Inverse]. Stats.Overflow counts a finite condition number that f
// rounds to +Inf, but not the +Inf of a singular A. Cond panics if A is not square, or for a norm
// other than [halfulp.OneNorm] and [halfulp.InfNorm].
func Cond(norm halfulp.Norm, a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	if norm != halfulp.OneNorm && norm != halfulp.InfNorm {
		panic("linsolve: bad Norm")
	}
	s, on, err := begin("Cond", opt, a.View())
	if err != nil {
		return halfulp.Scalar{}, err
	}
	z, err := solve.ConditionNumber(s, norm == halfulp.OneNorm, on[0], f.View())
	if err != nil {
		return halfulp.Scalar{}, ended(opt, s, "Cond", err)
	}
	s.Finished()
	return halfulp.ScalarOf(z), ended(opt, s, "", nil)
}

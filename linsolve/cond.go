package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Norm names a norm of matrices.
type Norm byte

// The norms: the largest sum of magnitudes of a column, and of a row.
const (
	OneNorm Norm = '1'
	InfNorm Norm = 'I'
)

// Cond returns the condition number ‖A‖ ‖A^-1‖ of a square matrix A in a norm, correctly rounded to
// format f: +Inf for a singular A, 0 for n = 0. A finite one that f rounds to +Inf is counted in
// Stats.Overflow, as that of a singular A is not. The time and errors are those of Inverse. Cond
// panics if A is not square, or for another norm.
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

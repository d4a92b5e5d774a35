package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// LogDet returns log|det(A)|, correctly rounded to format f, and the sign of det(A), for a square
// matrix A: -Inf and 0 for a singular A, 0 and 1 for n = 0. The determinant itself may be beyond
// the exponents of all formats. Errors are as for [Det]. LogDet panics if A is not square.
//
// Method. The determinant is enclosed as in [Det]. The logarithm of a rational number other than 1
// is transcendental, so there are no ties and enclosures decide the rounding. The determinant is
// computed exactly if its enclosures contain a number of magnitude 1, and for small matrices that
// are ill-conditioned or singular.
func LogDet(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (log halfulp.Scalar, sign int, err error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("LogDet", opt, a.View())
	if err != nil {
		return halfulp.Scalar{}, 0, err
	}
	defer s.Release()
	err = s.There(a.View(), det.Least(s), func(a num.Mat) (done bool, err error) {
		z, sgn, done, err := det.LogDet(s, a, f.View())
		log, sign = halfulp.ScalarOf(z), sgn
		return done, err
	})
	if err != nil {
		return halfulp.Scalar{}, 0, ended(opt, s, "LogDet", err)
	}
	s.Stage("determinant")
	s.Finished()
	return log, sign, ended(opt, s, "", nil)
}

package linsolve

import (
	"errors"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// LogDet returns log|det(A)|, correctly rounded to format f, and the sign of det(A), for a square
// matrix A: -Inf and 0 for a singular one, 0 and 1 for n = 0. The determinant itself may be beyond
// all formats.
//
// The logarithm of a rational number other than 1 is transcendental, so that no ties are there, and
// enclosures of the determinant as in Det decide; where they do not tell it from 1, and for small
// ill-conditioned and singular matrices, the determinant is computed exactly. Errors are those of
// Det. LogDet panics if A is not square.
func LogDet(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (log halfulp.Scalar, sign int, stats Stats, err error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("LogDet", opt, a.View())
	if err != nil {
		return halfulp.Scalar{}, 0, Stats{}, err
	}
	defer s.Release()
	err = s.There(a.View(), leastTraces, func(a num.Mat) (done bool, err error) {
		z, sgn, done, err := logDet(s, a, f.View())
		log, sign = halfulp.ScalarOf(z), sgn
		return done, err
	})
	if err != nil {
		return halfulp.Scalar{}, 0, result(s), wrapped("LogDet", err)
	}
	s.Stage("determinant")
	s.Finished()
	return log, sign, result(s), nil
}

// logDet returns the logarithm and the sign. It is not done where the run's place does not
// decide them.
func logDet(s *call.Run, a num.Mat, f num.Format) (log num.Scalar, sign int, done bool, err error) {
	if a.Rows == 0 {
		return num.NewScalar(f, new(big.Float)), 1, true, s.Ctx.Err()
	}
	if s.At == nil {
		if err := call.Finite("A", a); err != nil {
			return log, 0, false, err
		}
	}
	for bits := f.Bits() + 32; bits <= f.Bits()+32+2*ziv.Suspicion; bits += ziv.Suspicion {
		lo, hi, shift, err := encloseDet(s, a, bits)
		if errors.Is(err, call.ErrSingular) {
			s.Stats.Exact++
			return num.NewScalar(f, new(big.Float).SetInf(true)), 0, true, nil
		}
		if err != nil && !errors.Is(err, call.ErrRange) {
			return log, 0, false, err
		}
		if lo == nil {
			break
		}
		// lo and hi have one sign: they lie within 1 ± 2^-8 of the number between them.
		if lo.Sign() < 0 {
			lo, hi = hi.Neg(hi), lo.Neg(lo)
			sign = -1
		} else {
			sign = 1
		}
		lower, _, x := logEnds(lo, shift, f, bits)
		_, upper, y := logEnds(hi, shift, f, bits)
		if lower.Same(upper) {
			ziv.LeavesRange(s, lower, x, y)
			return lower, sign, true, nil
		}
	}
	if s.At != nil {
		return log, 0, false, nil
	}
	s.Stats.Exact++
	d, shift, err := exactDet(s, a)
	if err != nil {
		return log, 0, false, err
	}
	sign = d.Sign()
	if sign == 0 {
		return num.NewScalar(f, new(big.Float).SetInf(true)), 0, true, nil
	}
	d.Abs(d)
	if d.MinPrec() == 1 && int64(d.MantExp(nil))+shift == 1 { // 1
		return num.NewScalar(f, new(big.Float)), sign, true, nil
	}
	for bits := f.Bits() + 32; ; bits *= 2 {
		if lower, upper, x := logEnds(d, shift, f, bits); lower.Same(upper) {
			ziv.LeavesRange(s, lower, x, x)
			return lower, sign, true, nil
		}
	}
}

// logEnds returns what the ends of an enclosure of l = log(x 2^shift) round to, x > 0. l has a
// relative error below 2^-bits.
func logEnds(x *big.Float, shift int64, f num.Format, bits int) (lower, upper num.Scalar, l *big.Float) {
	m := new(big.Float)
	e := int64(x.MantExp(m))
	l = bigfun.LogScaled(m, e+shift, uint(bits))
	lower, upper = ziv.Ends(f, l, new(big.Float).SetMantExp(new(big.Float).Abs(l), -bits))
	return lower, upper, l
}

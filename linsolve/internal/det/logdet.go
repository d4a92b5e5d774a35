package det

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// LogDet returns log|det(a)|, rounded to format f, and the sign of det(a). done is false if the
// run's place does not decide them.
func LogDet(s *call.Run, a num.Mat, f num.Format) (log num.Scalar, sign int, done bool, err error) {
	if a.Rows == 0 {
		return num.NewScalar(f, new(big.Float)), 1, true, s.Ctx.Err()
	}
	if s.At.AtHand() {
		if err := call.Finite("A", a); err != nil {
			return log, 0, false, err
		}
	}
	var x *enclosed
	err = ziv.Decide(s, attempts(f.Bits()+32), func(bits int) (missing int, err error) {
		x, err = enclose(s, a, bits)
		if err != nil || x.Open() || x.exact {
			return ziv.Done, err
		}
		// Both ends have the same sign: they are the midpoint times a factor within 1 ± 2^-8.
		lo, hi := new(big.Float).Copy(x.lo), new(big.Float).Copy(x.hi)
		if sign = lo.Sign(); sign < 0 {
			lo, hi = hi.Neg(hi), lo.Neg(lo)
		}
		lower, _, from := logEnds(lo, x.shift, f, bits)
		_, upper, to := logEnds(hi, x.shift, f, bits)
		if done = lower.Same(upper); done {
			ziv.LeavesRange(s, lower, from, to)
			log = lower
			return ziv.Done, nil
		}
		return ziv.Suspicion, nil
	})
	if done || err != nil || !s.At.Decides() && !x.exact {
		return log, sign, done, err
	}
	if !x.exact {
		if err := x.byPrimes(); err != nil {
			return log, 0, false, err
		}
	}
	d, shift := x.lo, x.shift
	sign = d.Sign()
	if sign == 0 {
		return num.NewScalar(f, new(big.Float).SetInf(true)), 0, true, nil
	}
	d.Abs(d)
	if d.MinPrec() == 1 && int64(d.MantExp(nil))+shift == 1 { // 1
		return num.NewScalar(f, new(big.Float)), sign, true, nil
	}
	// The logarithm of a rational number other than 1 is transcendental (Lindemann), so no tie.
	err = ziv.Decide(s, ziv.Loop{What: "a logarithm", First: f.Bits() + 32}, func(bits int) (missing int, err error) {
		lower, upper, x := logEnds(d, shift, f, bits)
		if !lower.Same(upper) {
			return ziv.Double, nil
		}
		log = lower
		ziv.LeavesRange(s, log, x, x)
		return ziv.Done, nil
	})
	return log, sign, err == nil, err
}

// logEnds returns l = log(x 2^shift), x > 0, with a relative error below 2^-bits, and the numbers
// of format f that the two ends of its enclosure round to.
func logEnds(x *big.Float, shift int64, f num.Format, bits int) (lower, upper num.Scalar, l *big.Float) {
	m := new(big.Float)
	e := int64(x.MantExp(m))
	l = bigfun.LogScaled(m, e+shift, uint(bits))
	lower, upper = ziv.Ends(f, l, new(big.Float).SetMantExp(new(big.Float).Abs(l), -bits))
	return lower, upper, l
}

package det

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// LogDet returns the logarithm and the sign. It is not done where the run's place does not
// decide them.
func LogDet(s *call.Run, a num.Mat, f num.Format) (log num.Scalar, sign int, done bool, err error) {
	if a.Rows == 0 {
		return num.NewScalar(f, new(big.Float)), 1, true, s.Ctx.Err()
	}
	if s.At.AtHand() {
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
	if !s.At.Decides() {
		return log, 0, false, nil
	}
	s.Stats.Exact++
	d, shift, err := Exact(s, a)
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
		// The logarithm of a rational number other than 1 is transcendental (Lindemann), so no tie.
		if bits > bound.MaxBits {
			return log, 0, false, fmt.Errorf("%d bits: %w", bits, call.ErrMemory)
		}
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

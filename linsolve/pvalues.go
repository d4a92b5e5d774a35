package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/bigfun"
)

// encloser encloses t and p-values of statistics that are rounded to prec bits.
type encloser struct {
	format              halfulp.Format // of the results
	prec                uint
	freedom, parameters int64
	undecided           int // results whose enclosures do not round to one number
	vanished            int // results that are 0 and not exactly so
}

// MaxPValueBits are the most bits of a format of p-values: a fit for them has four times as many.
const MaxPValueBits = 1 << 17

// tested adds t and p-values to a fit in format f if opt requests them. refit computes the fit in a
// format of more than twice the bits of f. If a number remains undecided, it does so once more in
// twice as many bits.
func (z *Fit) tested(f halfulp.Format, opt *RegressionOptions, refit func(f halfulp.Format, opt *RegressionOptions) (*Fit, error)) error {
	if opt == nil || !opt.PValues {
		return nil
	}
	o := *opt
	o.PValues, o.Covariance, o.Confidence, o.Stats = false, false, nil, nil
	prec := uint(f.Bits() + 64 + bits.Len(uint(z.Observations)))
	for last := false; ; last = true {
		prec *= 2
		wide, err := refit(halfulp.MP(prec), &o)
		if err != nil {
			return err
		}
		e := encloser{format: f, prec: prec, freedom: int64(wide.DegreesOfFreedom), parameters: int64(wide.X.Rows())}
		if wide.Centered {
			e.parameters--
		}
		z.T, z.P = halfulp.NewMatrix(f, wide.X.Rows(), wide.X.Cols()), halfulp.NewMatrix(f, wide.X.Rows(), wide.X.Cols())
		for k := range wide.Responses {
			for i := range wide.X.Rows() {
				t, p := e.estimate(wide.X.At(i, k), wide.StandardErrors.At(i, k))
				z.T.Set(i, k, t)
				z.P.Set(i, k, p)
			}
			z.Responses[k].FP = e.overall(wide.Responses[k].F)
		}
		if e.undecided == 0 || last {
			z.UndecidedTests, z.VanishedTests = e.undecided, e.vanished
			return nil
		}
	}
}

// checkPValues returns an error if p-values are requested in a format that has none.
func checkPValues(name string, f halfulp.Format, opt *RegressionOptions) error {
	if opt != nil && opt.PValues && f.Bits() > MaxPValueBits {
		return fmt.Errorf("%s: %w: %v has no p-values: formats of up to mp:%d have them", name, halfulp.ErrOptions, f, MaxPValueBits)
	}
	return nil
}

// around encloses a number whose relative error is at most 2^(3-prec): two roundings to prec bits,
// and the roundings of this precision.
func (e *encloser) around(x *big.Float) (lower, upper *big.Float) {
	w := e.prec + 64
	one := new(big.Float).SetPrec(w).SetInt64(1)
	d := new(big.Float).SetMantExp(one, 3-int(e.prec))
	low, high := new(big.Float).SetPrec(w).Sub(one, d), new(big.Float).SetPrec(w).Add(one, d)
	lower, upper = new(big.Float).SetPrec(w).Mul(x, low), new(big.Float).SetPrec(w).Mul(x, high)
	if x.Sign() < 0 {
		lower, upper = upper, lower
	}
	return lower, upper
}

// decide rounds a number that lies between lower and upper; it is not ok if they do not determine
// the result.
func (e *encloser) decide(lower, upper *big.Float) (z halfulp.Scalar, ok bool) {
	z = halfulp.NewScalar(e.format, lower)
	ok = z.Same(halfulp.NewScalar(e.format, upper))
	if ok && z.Big().Sign() == 0 && upper.Sign() != 0 {
		e.vanished++
	}
	return z, ok
}

// float returns a number that the format holds.
func (e *encloser) float(x float64) halfulp.Scalar {
	return e.format.Mul(halfulp.Float(x), halfulp.Float(1))
}

// estimate tests an estimate.
func (e *encloser) estimate(x, deviation halfulp.Scalar) (t, p halfulp.Scalar) {
	switch {
	case deviation.IsNaN() || e.freedom < 1 || x.Big().Sign() == 0 && deviation.Big().Sign() == 0:
		return e.float(math.NaN()), e.float(math.NaN())
	case deviation.Big().Sign() == 0:
		return e.float(math.Inf(x.Big().Sign())), e.float(0)
	case x.Big().Sign() == 0:
		return e.float(0), e.float(1)
	}
	lower, upper := e.around(new(big.Float).SetPrec(e.prec+64).Quo(x.Big(), deviation.Big()))
	t, ok := e.decide(lower, upper)
	if !ok {
		e.undecided++
	}
	if lower.Sign() < 0 {
		lower, upper = upper.Neg(upper), lower.Neg(lower)
	}
	square := func(x *big.Float, mode big.RoundingMode) *big.Float {
		return new(big.Float).SetPrec(e.prec+64).SetMode(mode).Mul(x, x)
	}
	return t, e.tail(square(lower, big.ToNegativeInf), square(upper, big.ToPositiveInf), 1)
}

// overall tests F.
func (e *encloser) overall(f halfulp.Scalar) halfulp.Scalar {
	switch {
	case f.IsNaN() || e.freedom < 1 || e.parameters < 1:
		return e.float(math.NaN())
	case f.IsInf(0):
		return e.float(0)
	case f.Big().Sign() == 0:
		return e.float(1)
	}
	lower, upper := e.around(f.Big())
	return e.tail(lower, upper, e.parameters)
}

// tail is the probability that an F of m degrees of freedom, and the degrees of freedom of the
// residuals, exceeds a number that lies between lower and upper.
func (e *encloser) tail(lower, upper *big.Float, m int64) halfulp.Scalar {
	const doublings = 5 // 1 less a probability may lose bits
	w := e.prec + 64
	for k := range doublings {
		_, high := bigfun.FTail(lower, m, e.freedom, w)
		low, _ := bigfun.FTail(upper, m, e.freedom, w)
		if p, ok := e.decide(low, high); ok || k == doublings-1 {
			if !ok {
				e.undecided++
			}
			return p
		}
		w *= 2
	}
	panic("unreachable")
}

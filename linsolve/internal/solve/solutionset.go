package solve

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// ErrWide is wrapped by errors about intervals so wide that matrices in them are not proved
// regular.
var ErrWide = errors.New("intervals are too wide")

// Enclose returns lower and upper bounds of the solutions in format f, where A lives.
func Enclose(s *call.Run, t *IntervalSystem, f num.Format, steps int) (lower, upper num.Mat, err error) {
	here := &IntervalSystem{}
	for _, m := range []struct{ to, of *num.Mat }{{&here.A, &t.A}, {&here.DA, &t.DA}, {&here.B, &t.B}, {&here.DB, &t.DB}} {
		if m.of.Arr == nil {
			continue
		}
		on, err := OnHost(*m.of)
		if err != nil {
			return num.Mat{}, num.Mat{}, err
		}
		*m.to = on[0]
	}
	l, u := num.NewMat(f, t.B.Rows, t.B.Cols), num.NewMat(f, t.B.Rows, t.B.Cols)
	if err := encloseSet(s, here, l, u, steps); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if lower, err = Finish(s, l, t.A); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if upper, err = Finish(s, u, t.A); err != nil {
		lower.Free()
		return num.Mat{}, num.Mat{}, err
	}
	return lower, upper, nil
}

// IntervalSystem is the interval system of all A' X = B' with |A' - A| ≤ DA and |B' - B| ≤ DB. A
// radius without storage (Arr nil) stands for zeros.
type IntervalSystem struct{ A, DA, B, DB num.Mat }

// encloseSet stores bounds of the solutions in low and high.
func encloseSet(s *call.Run, t *IntervalSystem, low, high num.Mat, steps int) error {
	n, k := t.B.Rows, t.B.Cols
	if n == 0 || k == 0 {
		return s.Ctx.Err()
	}
	for _, m := range []struct {
		name string
		m    num.Mat
	}{{"A", t.A}, {"B", t.B}, {"DA", t.DA}, {"DB", t.DB}} {
		if m.m.Arr != nil {
			if err := call.Finite(m.name, m.m); err != nil {
				return err
			}
		}
	}
	p, err := ApproximateInverse(s, t.A)
	if err != nil {
		return err
	}
	cond := condition(s, t.A, p)
	rho := p.Rho
	var da bound.Bounds
	if t.DA.Arr != nil {
		da = bound.BoundsOf(t.DA, bound.Negated(p.Scale), bound.Negated(p.Weights))
		rho = bound.Upper().Add(rho, p.Abs.Times(da.Sums()))
		if rho.Cmp(big.NewFloat(1)) >= 0 {
			return fmt.Errorf("‖I - R A‖ + ‖|R| DA‖ ≤ %.2g only: %w", rho, ErrWide)
		}
	}
	s.Stats.Rho = call.Measure(rho)
	defer s.Stage("refinement")

	// The rounding of x leaves a residual, which |R| enlarges by up to 2^cond.
	target := max(low.Format().Bits(), high.Format().Bits()) + 64 + cond
	if err := call.Workable(target, t.B); err != nil {
		return err
	}
	x, err := refined(s, t.A, t.B, p, cond, steps, target)
	if err != nil {
		return err
	}
	r := num.NewMat(num.Precision(uint(64+cond)), n, k)
	if err := s.Gemm(-1, t.A, x, 1, t.B, r); err != nil {
		return err
	}
	more := bound.Upper().Quo(rho, new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), rho))
	for j := range k {
		residual := ziv.Magnitudes(r, j, p.Scale)
		if t.DB.Arr != nil {
			for i, v := range ziv.Magnitudes(t.DB, j, p.Scale) {
				residual[i] = bound.Upper().Add(residual[i], v)
			}
		}
		if t.DA.Arr != nil {
			for i, v := range da.Apply(ziv.Magnitudes(x, j, bound.Negated(p.Weights))) {
				residual[i] = bound.Upper().Add(residual[i], v)
			}
		}
		radius := p.Abs.Apply(residual)
		most := bound.Upper().Mul(bound.Largest(radius), more)
		for i, v := range radius {
			v = bound.Upper().Add(v, most)
			v = bound.ScaledUp(v, p.Weights[i])
			mid := x.Big(i, j)
			low.SetEntry(i, j, Below(low.Format(), mid, v))
			u := Below(high.Format(), mid.Neg(mid), v).Big()
			high.SetBig(i, j, u.Neg(u).Add(u, new(big.Float))) // no -0
		}
	}
	return nil
}

// refined returns an approximate solution after steps of refinement, with at most target bits. Its
// error is not bounded.
func refined(s *call.Run, a, b num.Mat, p *seed.Approximate, cond, steps, target int) (num.Mat, error) {
	n, k := b.Rows, b.Cols
	next := func(step int) num.Mat {
		return num.NewMat(num.Precision(uint(min(int(p.Gain*float64(step+1))+64+cond, target))), n, k)
	}
	x := next(1)
	if err := s.Gemm(1, p.R, b, 0, num.Mat{}, x); err != nil {
		return num.Mat{}, err
	}
	for step := range steps {
		s.Plan(float64(steps-step) * (call.ProductOf(n, n, k, 64+cond) + call.ProductOf(n, n, k, target)))
		r := num.NewMat(num.Precision(uint(64+cond)), n, k)
		if err := s.Gemm(-1, a, x, 1, b, r); err != nil {
			return num.Mat{}, err
		}
		y := next(step + 2)
		if err := s.Gemm(1, p.R, r, 1, x, y); err != nil {
			return num.Mat{}, err
		}
		x = y
		s.Stats.Steps++
	}
	s.Stats.Precision = x.Format().Bits()
	return x, nil
}

// Below returns a number of format f that is at most mid - radius and less than about two ulps
// below it.
func Below(f num.Format, mid, radius *big.Float) num.Scalar {
	v := new(big.Float).Copy(mid)
	if radius.Sign() != 0 {
		v = new(big.Float).SetPrec(mid.Prec()+64).SetMode(big.ToNegativeInf).Sub(mid, radius)
	}
	z := num.NewScalar(f, v)
	if z.IsInf(1) { // the largest number is less than v
		t, spacing := ziv.Border(f)
		return num.NewScalar(f, interval.ExactSub(t, spacing.SetMantExp(spacing, -1)))
	}
	if z.IsInf(-1) {
		return z
	}
	step := new(big.Float).SetMantExp(big.NewFloat(1), v.MantExp(nil)-f.Bits())
	for z.Big().Cmp(v) > 0 {
		z = num.NewScalar(f, new(big.Float).SetPrec(v.Prec()+64).SetMode(big.ToNegativeInf).Sub(v, step))
		step.SetMantExp(step, 1)
	}
	if ziv.IsZero(z) {
		return num.NewScalar(f, new(big.Float)) // no -0
	}
	return z
}

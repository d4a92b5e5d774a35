package linsolve

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// errWide is wrapped by errors about intervals so wide that matrices in them are not proved
// regular.
var errWide = errors.New("intervals are too wide")

// Enclose stores bounds L ≤ X ≤ U of the solution of A X = B, A square and regular, after a number
// of steps of refinement: it does not go on until results are correctly rounded, as Solve does.
// Bounds are proved, and rounded outwards to the formats of L and U. A step gains 8 to 45 bits, up
// to those of the formats. Float64 arithmetic is behind it, which rounds differently on other
// instruction sets: so do the bounds, all proved.
//
// Errors are those of Solve. Enclose panics if shapes do not fit, or for a negative number of
// steps.
func Enclose(a, b, lower, upper *halfulp.Matrix, steps int, opt *halfulp.Options) (Stats, error) {
	return enclosed("Enclose", &intervalSystem{a: a.View(), b: b.View()}, lower.View(), upper.View(), steps, opt)
}

// EncloseSet stores bounds of the solution set of an interval system: L ≤ X ≤ U for the solutions
// of all A' X = B' with |A' - A| ≤ DA and |B' - B| ≤ DB, entry by entry. DA and DB have the shapes
// of A and B; nil stands for zeros, and signs of their entries do not matter. In a weighted
// maximum norm, and with an approximate inverse R of A,
//
//	rho = ‖I - R A‖ + ‖|R| DA‖ < 1
//
// proves all these A' to be regular, and with r = |B - A x'| + DB + DA |x'| every such x has
//
//	|x - x'| ≤ |R| r + rho/(1 - rho) ‖|R| r‖
//
// (Rump, Verification methods, Acta Numerica 2010, section 10). Bounds contain the set; they are
// not the narrowest that do, nor the same for all instruction sets.
//
// Errors are those of Solve; the error wraps ErrWide if rho < 1 does not hold. EncloseSet panics if
// shapes do not fit, or for a negative number of steps.
func EncloseSet(a, da, b, db, lower, upper *halfulp.Matrix, steps int, opt *halfulp.Options) (Stats, error) {
	return enclosed("EncloseSet", &intervalSystem{a.View(), da.View(), b.View(), db.View()}, lower.View(), upper.View(), steps, opt)
}

// enclosed encloses the solutions of a system.
func enclosed(name string, t *intervalSystem, lower, upper num.Mat, steps int, opt *halfulp.Options) (Stats, error) {
	like := func(m, n num.Mat) bool { return m.Arr == nil || m.Rows == n.Rows && m.Cols == n.Cols }
	if t.a.Rows != t.a.Cols || t.b.Rows != t.a.Rows || !like(lower, t.b) || !like(upper, t.b) || !like(t.da, t.a) || !like(t.db, t.b) {
		panic(errShape)
	}
	if steps < 0 {
		panic("linsolve: negative number of steps")
	}
	operands := []num.Mat{t.a, t.b, lower, upper}
	for _, m := range []num.Mat{t.da, t.db} {
		if m.Arr != nil {
			operands = append(operands, m)
		}
	}
	s, err := start(name, opt, operands...)
	if err != nil {
		return Stats{}, err
	}
	return ended(s, name, encloseTo(s, t, lower, upper, steps))
}

// encloseTo stores bounds of the solutions, wherever they live.
func encloseTo(s *call.Run, t *intervalSystem, lower, upper num.Mat, steps int) error {
	here := &intervalSystem{}
	for _, m := range []struct{ to, of *num.Mat }{{&here.a, &t.a}, {&here.da, &t.da}, {&here.b, &t.b}, {&here.db, &t.db}} {
		if m.of.Arr == nil {
			continue
		}
		on, err := onHost(*m.of)
		if err != nil {
			return err
		}
		*m.to = on[0]
	}
	l, u := num.NewMat(lower.Format(), t.b.Rows, t.b.Cols), num.NewMat(upper.Format(), t.b.Rows, t.b.Cols)
	if err := encloseSet(s, here, l, u, steps); err != nil {
		return err
	}
	if err := finish(s, l, lower); err != nil {
		return err
	}
	return finish(s, u, upper)
}

// intervalSystem is an interval system: da and db are radii, nil for zeros.
type intervalSystem struct{ a, da, b, db num.Mat }

// encloseSet stores bounds of the solutions.
func encloseSet(s *call.Run, t *intervalSystem, low, high num.Mat, steps int) error {
	n, k := t.b.Rows, t.b.Cols
	if n == 0 || k == 0 {
		return s.Ctx.Err()
	}
	for _, m := range []struct {
		name string
		m    num.Mat
	}{{"A", t.a}, {"B", t.b}, {"DA", t.da}, {"DB", t.db}} {
		if m.m.Arr != nil {
			if err := call.Finite(m.name, m.m); err != nil {
				return err
			}
		}
	}
	p, err := approximateInverse(s, t.a)
	if err != nil {
		return err
	}
	cond := condition(s, t.a, p)
	rho := p.Rho
	var da bound.Bounds
	if t.da.Arr != nil {
		da = bound.BoundsOf(t.da, bound.Negated(p.Scale), bound.Negated(p.Weights))
		rho = bound.Upper().Add(rho, p.Abs.Times(da.Sums()))
		if rho.Cmp(big.NewFloat(1)) >= 0 {
			return fmt.Errorf("‖I - R A‖ + ‖|R| DA‖ ≤ %.2g only: %w", rho, errWide)
		}
	}
	s.Stats.Rho = call.Measure(rho)
	defer s.Stage("refinement")

	// A rounding of x leaves a residual that |R| makes larger by up to 2^cond.
	target := max(low.Format().Bits(), high.Format().Bits()) + 64 + cond
	if err := call.Workable(target, t.b); err != nil {
		return err
	}
	x, err := refined(s, t.a, t.b, p, cond, steps, target)
	if err != nil {
		return err
	}
	r := num.NewMat(num.Precision(uint(64+cond)), n, k)
	if err := s.Gemm(-1, t.a, x, 1, t.b, r); err != nil {
		return err
	}
	more := bound.Upper().Quo(rho, new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), rho))
	for j := range k {
		residual := ziv.Magnitudes(r, j, p.Scale)
		if t.db.Arr != nil {
			for i, v := range ziv.Magnitudes(t.db, j, p.Scale) {
				residual[i] = bound.Upper().Add(residual[i], v)
			}
		}
		if t.da.Arr != nil {
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
			low.SetEntry(i, j, below(low.Format(), mid, v))
			u := below(high.Format(), mid.Neg(mid), v).Big()
			high.SetBig(i, j, u.Neg(u).Add(u, new(big.Float))) // no -0
		}
	}
	return nil
}

// refined returns a solution after steps of refinement, of at most target bits; nothing is known
// of its error.
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

// below returns a number of format f that is at most mid - radius, and less than about two ulps
// less.
func below(f num.Format, mid, radius *big.Float) num.Scalar {
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

package solve

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// invertBlocks returns an inverse by elimination, in fixed point or by blocks, with its rho and a
// bound of its norm. The inverse is nil if none is proved. f holds float64 factors of a; solutions
// will be requested to wanted bits.
//
// It also returns nil once the next attempt and the attempts before it would together cost more
// than other().
func invertBlocks(s *call.Run, a num.Mat, f *seed.Factors, wanted int, other func() float64) (r seed.Inverse, rho, norm float64, err error) {
	known := false // that a is regular
	all := 0.0     // the cost of the attempts; the first one is always made
	loop := ziv.Loop{What: "an elimination", First: f.ConditionBits(), Most: seed.MostBlockBits - blocks.Spare}
	err = ziv.Decide(s, loop, func(bits int) (more int, err error) {
		f.Condition = bits
		d, fixed := digits.CountFor(s, f.N, bits+digits.Spare, digits.MostDigits)
		before := all
		if fixed {
			all += digits.Cost(f.N, d)
		} else {
			all += blocks.EliminationCost(f.N, bits+blocks.Spare, max(f.N/4, 32))
		}
		if before > 0 && all > other() {
			return ziv.Done, nil
		}
		if fixed {
			var t *digits.Elimination
			s.Plan(digits.Cost(f.N, d))
			if t, more, err = digits.Eliminate(s, a, f, d, wanted); err == nil {
				if _, again := digits.CountFor(s, f.N, t.Top+digits.Spare, digits.MostDigits); t.Rho > blocks.SlowRho && t.Top > bits && again {
					return t.Top - bits, nil
				}
				r, rho, norm = t, t.Rho, call.LargestOf(t.H)
				return ziv.Done, nil
			}
		}
		if !fixed || errors.Is(err, call.ErrRange) { // blocks are scaled anew
			var b *blocks.Elimination
			blocks.PlanBlocks(s, f.N, bits+blocks.Spare)
			if b, more, err = blocks.Eliminate(s, a, f, bits+blocks.Spare, max(f.N/4, 32)); err == nil {
				r, rho, norm = b, b.Rho, call.LargestOf(b.H)
				return ziv.Done, nil
			}
		}
		if errors.Is(err, call.ErrRange) {
			return ziv.Done, nil
		}
		return max(more, (bits+blocks.Spare)/4), seed.AskForMore(s, err, a, &known)
	})
	return r, rho, norm, err
}

// InvertByBlocks returns an approximate inverse of A by block elimination, in as few bits as
// suffice, with float64 factors f of A. It returns nil if no elimination succeeds. The error of the
// elimination is not bounded; I - R A shows it.
func InvertByBlocks(s *call.Run, a num.Mat, f *seed.Factors) (p *seed.Approximate, err error) {
	known := false // that a is regular
	step := 0      // the bits that were last added because the proof failed
	loop := ziv.Loop{What: "an elimination", First: blocks.Spare + f.ConditionBits(), Most: seed.MostBlockBits}
	err = ziv.Decide(s, loop, func(bits int) (more int, err error) {
		blocks.PlanBlocks(s, f.N, bits)
		made, more, err := blocks.ApproximateInverse(s, a, f, bits)
		switch {
		case err == nil:
			p = made
			return ziv.Done, nil
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		case errors.Is(err, seed.ErrProof):
			// If R is not even near the inverse, I - R A does not show how many bits are missing.
			step = max(more, 2*step)
			more = step
		default:
			more = max(more, bits/4)
		}
		return more, seed.AskForMore(s, err, a, &known)
	})
	return p, err
}

// An inverse is the problem of computing an approximate inverse of A.
type inverse struct {
	s  *call.Run
	a  num.Mat
	lu *seed.Factors
	// near is nil at first. If its Rho is nil, it is a seed about which nothing is proved.
	near *seed.Approximate
}

// Open reports whether no inverse is proved yet.
func (p *inverse) Open() bool { return p.near == nil || p.near.Rho == nil }

// inverseWays are the methods for approximate inverses, faster ones first. The last one proves an
// inverse, or that A is singular.
var inverseWays = []call.Way[*inverse]{
	{Name: call.ByFloat64, Run: (*inverse).byFloat64},
	{Name: call.ByBlocks, Faster: func(p *inverse) bool { return p.lu.N >= seed.Fewest }, Run: (*inverse).byBlocks},
	{Name: call.BySeeds, Run: (*inverse).bySeeds},
}

// byFloat64 computes an inverse from float64 factors.
func (p *inverse) byFloat64() (err error) {
	if p.near == nil {
		p.near, err = seed.FirstInverse(p.s, p.a, p.lu)
	}
	return err
}

// byBlocks computes an inverse by block elimination.
func (p *inverse) byBlocks() error {
	defer p.guessing()()
	near, err := InvertByBlocks(p.s, p.a, p.lu)
	if near != nil {
		p.near = near
	}
	return err
}

// bySeeds computes an inverse by Rump's multiplicative preconditioning (Inversion of extremely
// ill-conditioned matrices in floating-point, 2009): while R A is far from I, R is replaced by the
// product of a seed of R A and R.
func (p *inverse) bySeeds() error {
	if err := p.byFloat64(); err != nil {
		return err
	}
	known := !p.s.Work.Guessed
	defer p.guessing()()
	near, err := seed.MultiplySeeds(p.s, p.near, p.a, known)
	p.near = near
	return err
}

// guessing declares the remaining work unknown until the returned function is called.
func (p *inverse) guessing() (end func()) {
	w := &p.s.Work
	before := w.Guessed
	w.Guessed = true
	return func() { w.Guessed = before }
}

// invert returns an approximate inverse of the square matrix a. The error wraps ErrSingular if a is
// proved to be singular.
func invert(s *call.Run, a num.Mat) (*seed.Approximate, error) {
	if err := call.Workable(0, a); err != nil {
		return nil, err
	}
	f, err := seed.NewFactors(s, a, scale.Of(a))
	if err != nil {
		return nil, err
	}
	return InvertBy(s, a, f)
}

// InvertBy is invert with known float64 factors of a.
func InvertBy(s *call.Run, a num.Mat, f *seed.Factors) (*seed.Approximate, error) {
	return invertBy(s, a, f, nil)
}

// invertBy is InvertBy with a known float64 inverse near, which is nil if none has been computed
// yet.
func invertBy(s *call.Run, a num.Mat, f *seed.Factors, near *seed.Approximate) (*seed.Approximate, error) {
	p := &inverse{s: s, a: a, lu: f, near: near}
	err := call.Try(s.Ctx, inverseWays, p)
	return p.near, err
}

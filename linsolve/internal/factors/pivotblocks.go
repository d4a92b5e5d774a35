package factors

import (
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// newEliminated is NewPivoted for matrices too ill-conditioned for float64, with a seed from an
// elimination in some bits. It is nil if a pivot vanishes, or if numbers have more than most bits.
func newEliminated(s *call.Run, a num.Mat, most, bits int) (*Pivoted, error) {
	m, n := a.Dims()
	k := min(m, n)
	near, _ := seed.Narrow(a.Slice(0, m, 0, k), uint(bits))
	g, err := seed.Eliminate(s, near, k, bits, true)
	if err != nil || g.Zero >= 0 {
		return nil, err
	}
	li, ui, err := seed.TriangleInverses(s, g.LU, k)
	if err != nil {
		return nil, err
	}
	p := &Pivoted{Order: g.Order, C: modular.Chosen(a, g.Order, call.All(n))}
	if p.LUNewton, err = newLUNewton(s, p.C, ziv.Ones(k), li, ui, most); err != nil || p.LUNewton == nil {
		return nil, err
	}
	return p, nil
}

// newLUNewton returns an LUNewton of C from approximate inverses li and ui of its factors with
// these blocks. Their errors are not bounded; E shows them. It is nil if numbers have more than
// most bits.
func newLUNewton(s *call.Run, c num.Mat, blocks []int, li, ui num.Mat, most int) (*LUNewton, error) {
	m, n := c.Dims()
	k := min(m, n)
	d := &LUNewton{S: s, K: k, Blocks: blocks, By: scale.Equilibrate(c, scale.Unscaled(m, n))}
	top := d.By.Rows[:k]
	d.F = call.Scaled(c, d.By, most)
	d.x = call.Scaled(li, scale.Scaling{Rows: top, Cols: bound.Negated(top)}, bound.MaxBits)
	d.y = call.Scaled(ui, scale.Scaling{Rows: bound.Negated(d.By.Cols[:k]), Cols: bound.Negated(top)}, bound.MaxBits)
	if d.F.Arr == nil || d.x.Arr == nil || d.y.Arr == nil {
		return nil, nil
	}
	rows, err := s.RowSums(d.x)
	if err != nil {
		return nil, err
	}
	d.Amp = max(int(slices.Max(rows)), 0) + 8
	return d, nil
}

// LUByElimination returns a seed by newEliminated in as few bits as suffice, and its enclosure in
// bits; see byElimination.
func LUByElimination(s *call.Run, a num.Mat, most, bits int, regular func() error) (p *Pivoted, e *ziv.Enclosure, err error) {
	least, err := eliminationBits(s, a)
	if err != nil {
		return nil, nil, err
	}
	const ties = 32 // further bits, so that equal pivots are accepted as equal
	e, err = byElimination(s, a, least+ties, bits, regular, func(some int) (*LUNewton, error) {
		if p, err = newEliminated(s, a, most, some); p == nil || err != nil {
			return nil, err
		}
		return p.LUNewton, nil
	})
	return p, e, err
}

// eliminationBits returns the bits of the first elimination of a matrix, from an estimate of the
// condition number by float64 pivots of its leading square part.
func eliminationBits(s *call.Run, a num.Mat) (int, error) {
	k := min(a.Rows, a.Cols)
	m := a.Slice(0, k, 0, k)
	f, err := seed.NewFactors(s, m, scale.Of(m))
	if err != nil {
		return 0, err
	}
	return max(leastRootBits, f.ConditionBits()+scale.SeedBits), nil
}

// byElimination returns the enclosure in bits by a seed from an elimination in as few bits as
// suffice, at least least; nil if no seed is good enough. After the first failure it calls regular
// to check whether the matrix can have factors at all, and returns the error of regular.
func byElimination(s *call.Run, a num.Mat, least, bits int, regular func() error, origin func(some int) (*LUNewton, error)) (e *ziv.Enclosure, err error) {
	m, n := a.Dims()
	err = ziv.Decide(s, ziv.Loop{What: "an elimination", First: least, Most: mostRootBits}, func(some int) (more int, err error) {
		s.Work.Guessed = true // whether these bits suffice
		planEliminated(s, m, n, some, bits)
		t, err := origin(some)
		if err == nil && t != nil {
			if e, err = t.Enclosure(bits + smallest(t.y)); err == nil && (e != nil || t.Gain >= LeastGain) {
				return ziv.Done, nil
			}
		}
		s.Work.Guessed = false
		switch {
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		case err != nil:
			return 0, err
		case some == least:
			if err := regular(); err != nil {
				return 0, err
			}
			cond, err := solve.MeasuredCondition(s, a, call.InvertInCost(min(m, n), some))
			if err != nil {
				return 0, err
			}
			if next := min(max(some+some/2, cond+scale.SeedBits+64), mostRootBits); next > some {
				return next - some, nil
			}
		}
		return some / 2, nil
	})
	return e, err
}

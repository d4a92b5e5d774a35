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

// newEliminated is NewPivoted for matrices too ill-conditioned for float64, from an elimination in
// some bits; nil if a pivot vanishes, or if numbers have more than most bits.
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

// newLUNewton returns one of C by inverses of its factors with these blocks, of which nothing is
// known: E tells. It is nil if numbers have more than most bits.
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

// LUByElimination returns a seed by newEliminated in as few bits as do, and what it encloses in so
// many bits; see byElimination.
func LUByElimination(s *call.Run, a num.Mat, most, bits int, regular func() error) (p *Pivoted, e *ziv.Enclosure, err error) {
	least, err := eliminationBits(s, a)
	if err != nil {
		return nil, nil, err
	}
	const ties = 32 // bits more, with which pivots that are equal pass for it
	e, err = byElimination(s, a, least+ties, bits, regular, func(some int) (*LUNewton, error) {
		if p, err = newEliminated(s, a, most, some); p == nil || err != nil {
			return nil, err
		}
		return p.LUNewton, nil
	})
	return p, e, err
}

// eliminationBits returns in how many bits an elimination of a matrix is tried first, by what
// float64 pivots of its leading square part tell of the condition number.
func eliminationBits(s *call.Run, a num.Mat) (int, error) {
	k := min(a.Rows, a.Cols)
	m := a.Slice(0, k, 0, k)
	f, err := seed.NewFactors(s, m, scale.Of(m))
	if err != nil {
		return 0, err
	}
	return max(leastRootBits, f.ConditionBits()+scale.SeedBits), nil
}

// byElimination returns what a seed for a matrix from an elimination in as few bits as do,
// least or more, encloses in so many bits; nil if none is good enough. After the first that is not,
// regular tells whether the matrix may have any; its error is returned.
func byElimination(s *call.Run, a num.Mat, least, bits int, regular func() error, origin func(some int) (*LUNewton, error)) (e *ziv.Enclosure, err error) {
	m, n := a.Dims()
	err = ziv.Decide(s, ziv.Loop{What: "an elimination", First: least, Most: mostRootBits}, func(some int) (more int, err error) {
		s.Work.Guessed = true // whether these bits do
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

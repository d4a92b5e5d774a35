package linsolve

import (
	"errors"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/raw"
)

// newEliminated is newPivoted for matrices too ill-conditioned for float64, from an elimination in
// some bits; nil if a pivot vanishes, or if numbers have more than most bits. Nothing is known of
// its error: E tells.
func (s *solver) newEliminated(a *halfulp.Matrix, most, bits int) (*pivoted, error) {
	m, n := a.Dims()
	k := min(m, n)
	near, _ := narrow(a.Slice(0, m, 0, k), uint(bits))
	g, err := s.eliminate(near, k, bits, true)
	if err != nil || g.zero >= 0 {
		return nil, err
	}
	li, ui, err := s.inverses(g.lu, k)
	if err != nil {
		return nil, err
	}
	p := &pivoted{order: g.order, c: chosen(a, g.order, all(n))}
	d := &splitting{s: s, k: k, blocks: ones(k), by: equilibrate(raw.Matrix(p.c), unscaled(m, n))}
	top := d.by.rows[:k]
	d.f = scaled(p.c, d.by, most)
	d.x = scaled(li, scaling{top, negated(top)}, maxBits)
	d.y = scaled(ui, scaling{negated(d.by.cols[:k]), negated(top)}, maxBits)
	if d.f == nil || d.x == nil || d.y == nil {
		return nil, nil
	}
	rows, err := s.rowTops(d.x)
	if err != nil {
		return nil, err
	}
	d.amp = max(int(slices.Max(rows)), 0) + 8
	p.splitting = d
	return p, nil
}

// byElimination returns a seed by newEliminated in as few bits as do, and what it encloses in so
// many bits; nil if none is good enough. After the first that is not, regular tells whether the
// matrix may have any; its error is returned.
func (s *solver) byElimination(a *halfulp.Matrix, most, bits int, regular func() error) (*pivoted, *enclosure, error) {
	m, n := a.Dims()
	if min(m, n) < fewest {
		return nil, nil, nil
	}
	for some := leastRootBits; some <= mostRootBits; some *= 2 {
		s.work.guessed = true // whether these bits do
		s.planEliminated(m, n, some, bits)
		p, err := s.newEliminated(a, most, some)
		s.work.guessed = false
		if err == nil && p != nil {
			var e *enclosure
			if e, err = p.enclosure(bits); err == nil && (e != nil || p.gain >= leastGain) {
				return p, e, nil
			}
		}
		switch {
		case errors.Is(err, ErrRange):
			return nil, nil, nil
		case err != nil:
			return nil, nil, err
		case some == leastRootBits:
			if err := regular(); err != nil {
				return nil, nil, err
			}
		}
	}
	return nil, nil, nil
}

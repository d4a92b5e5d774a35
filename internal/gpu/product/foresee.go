package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// A shape is what a plan depends on besides the numbers of the factors.
type shape struct {
	m, n, k int
	a, b, c num.Format
	checked bool
}

// A forecast is the plan of the last product of a shape.
type forecast struct {
	moduli, widthL, widthR int
	steady                 bool    // the product before had the same plan
	cost                   float64 // ns
}

// mostForeseen is the largest cost of a foreseen product in ns. A right forecast saves the time from
// the end of the scan to the first launch after the plan, 10 µs on an H200; a wrong one costs the
// residues and the products. mostShapes bounds the forecasts that are kept.
const (
	mostForeseen = 150e3
	mostShapes   = 256
)

func (m *multiplication) shape() shape {
	return shape{m.a.Rows, m.b.Rows, m.a.Cols, m.a.Arr.Format, m.b.Arr.Format, m.format, m.cfg.Check}
}

// usual reports whether nothing but the shape and the numbers of the factors decides the plan, and
// finish rounds the results.
func (m *multiplication) usual() bool {
	c := &m.cfg
	apart := c.Panels != nil || c.Elsewhere != nil || c.Bound != nil || c.Limit > 0 || c.coming != nil || c.spoil != nil
	return !apart && m.left.kept == nil && m.right.kept == nil && !m.expr.adds() && m.format.Terms() <= 1 && abi.CoefficientOf(m.expr.alpha).Plain
}

// foresee computes the residues of a product by the last plan of its shape, while the scan is in
// progress. Nothing is rounded before the plan is known to suffice: see resume.
func (m *multiplication) foresee() error {
	f := m.e.forecasts[m.shape()]
	if !f.steady || f.cost > mostForeseen || !m.usual() {
		return nil
	}
	m.plan = plan.Plan{Moduli: f.moduli, WidthL: f.widthL, WidthR: f.widthR}
	m.base = m.e.base(baseKey{f.moduli, m.cfg.Check})
	w, err := m.arrange()
	if err != nil || len(w.blocks) > 1 || len(w.chunks) > 1 {
		return err
	}
	b := w.blocks[0]
	if err := m.multiply(b, m.left.sub(b.i0, b.i1), m.right.sub(b.j0, b.j1), w.chunks[0], w.room); err != nil {
		return err
	}
	m.foreseen = w
	return nil
}

// resume adopts the plan of the foreseen residues if it suffices for the numbers that the scan has
// found, and is not more expensive.
func (m *multiplication) resume() {
	if !m.usual() {
		return
	}
	key := m.shape()
	last := m.e.forecasts[key]
	if m.foreseen != nil {
		zero := math.IsInf(min(m.problem.Left.Norm, m.problem.Right.Norm), -1)
		q, ok := plan.Plan{}, false
		if !zero {
			q, ok = machine(m.cfg.Check).With(&m.problem, last.moduli, last.widthL, last.widthR)
		}
		if ok && q.Cost <= keptBonus*m.plan.Cost {
			m.plan = q
		} else {
			m.foreseen.room.free()
			m.foreseen = nil
			m.stats.Products = 0
		}
	}
	if len(m.e.forecasts) >= mostShapes {
		clear(m.e.forecasts)
	}
	q := &m.plan
	same := last.moduli == q.Moduli && last.widthL == q.WidthL && last.widthR == q.WidthR
	m.e.forecasts[key] = forecast{q.Moduli, q.WidthL, q.WidthR, same, q.Cost}
}

// free frees the memory of a room that no product uses.
func (r *room) free() {
	for _, p := range []*cuda.Memory{r.left, r.right, r.y, r.wide, r.raw} {
		p.Free()
	}
}

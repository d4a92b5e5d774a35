package product

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/residue"
)

// known uses the caller's bounds of both factors instead of a scan, plans with them, and reports
// whether that applies. It applies to results whose tolerated error is so large that no rounding is
// tested. Entries that cannot be stored are then counted in the tally, and the host does not wait.
// It does not apply to a checked product, whose outcome the host needs.
func (m *multiplication) known() (bool, error) {
	b := m.cfg.Bound
	if m.cfg.Check || b == nil || b.Within == 0 || b.A == nil || b.B == nil || m.cfg.Tally == nil || m.a.Arr.Terms() > 1 || m.b.Arr.Terms() > 1 {
		return false, nil
	}
	if !abi.CoefficientOf(m.expr.alpha).Plain {
		return false, nil
	}
	m.left, m.right = operandOf(m.a, leftSide, b.A), operandOf(m.b, rightSide, b.B)
	m.silent = true
	err := m.choose(nil)
	if err == nil {
		err = m.expression()
	}
	switch {
	case errors.Is(err, errRange):
		m.silent = false
	case err != nil:
		return false, err
	default:
		_, _, all := m.errors()
		m.silent = all < 0 && !m.settles
	}
	if !m.silent {
		m.left, m.right, m.within = nil, nil, false
		return false, nil
	}
	if err := m.state(b.A.Top, b.B.Top); err != nil {
		return false, err
	}
	return true, m.mark("plan")
}

// operandOf returns a factor with the totals of its known bounds.
func operandOf(a mem.Matrix, side int, v *residue.Vectors) *operand {
	o := &operand{vectors: abi.RowsOf(a), n: a.Rows, k: a.Cols, side: side, tops: v.Top}
	o.totals = abi.Totals{Norm: v.Norm, Width: v.Width}
	if v.Width == 0 {
		o.totals.Width = math.MaxInt32
	}
	return o
}

// state stores the known exponents of the vectors of both factors where a scan would store its
// results, in one copy. The other results are zero: no error depends on norms, and zeros have no
// sign.
func (m *multiplication) state(left, right []int64) error {
	both, err := m.alloc(8 * int64(len(left)+len(right)))
	if err != nil {
		return err
	}
	for i, o := range []*operand{m.left, m.right} {
		zeros, err := m.e.zeros(m.s, o.n)
		if err != nil {
			return err
		}
		o.scanned = abi.Scanned{Exp: both.At(8 * int64(i*len(left))), Low: zeros, Norm: zeros, Flags: zeros}
	}
	return cuda.Upload(m.s, both.Pointer(), append(slices.Clip(left), right...))
}

// zeros returns the address of n zero numbers of 64 bits.
func (e *engine) zeros(s *cuda.Stream, n int) (cuda.Pointer, error) {
	m, err := e.constant(s, constantsKey{kind: "zeros", steps: 1 << bits.Len(uint(n))}, func() []uint32 { return make([]uint32, 2<<bits.Len(uint(n))) })
	if err != nil {
		return 0, err
	}
	return m.Pointer(), nil
}

// A shape is what a plan depends on besides the numbers of the factors.
type shape struct {
	m, n, k int
	a, b, c num.Format
	checked bool
}

// A forecast is the plan of the last product of a shape.
type forecast struct {
	moduli, widthL, widthR int
	cost                   float64 // ns
	same                   int     // products in turn that took this plan
	needed                 int     // such products before the plan is trusted
}

// A right forecast saves the time from the end of the scan to the first launch after the plan; a
// wrong one costs the residues and the products. mostForeseen is the largest
// cost of a foreseen product in ns. A plan is trusted after firstNeeded products, and after
// distrust times as many once it was wrong. mostShapes bounds the forecasts that are kept.
const (
	mostForeseen = 700e3
	firstNeeded  = 2
	distrust     = 4
	mostNeeded   = 1 << 10
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

// foresees reports whether the residues of the product are computed by the last plan of its shape,
// while the host waits for the scan and plans. Nothing is rounded before the plan is known to
// suffice: see resume.
func (m *multiplication) foresees() bool {
	f, ok := m.e.forecasts[m.shape()]
	return ok && f.same >= f.needed && f.cost <= mostForeseen && m.usual()
}

// foresee computes the residues, and reports whether it did: it does not if the product takes
// several blocks, or if there is no room, since the plan to come may need less. The conversion of
// the factors then reports the scan to the host.
func (m *multiplication) foresee(report abi.Telling) (bool, error) {
	f := m.e.forecasts[m.shape()]
	m.plan = plan.Plan{Moduli: f.moduli, WidthL: f.widthL, WidthR: f.widthR}
	m.base = m.e.base(baseKey{f.moduli, m.cfg.Check})
	w, err := m.arrange()
	if errors.Is(err, cuda.ErrMemory) {
		w.room.free()
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(w.blocks) > 1 || len(w.chunks) > 1 {
		w.room.free()
		return false, nil
	}
	m.report, m.foreseen = report, w
	b := w.blocks[0]
	return true, m.multiply(b, m.left.sub(b.i0, b.i1), m.right.sub(b.j0, b.j1), w.chunks[0], w.room)
}

// resume adopts the plan of the foreseen residues if it suffices for the numbers that the scan has
// found, and is not more expensive.
func (m *multiplication) resume() {
	if !m.usual() {
		return
	}
	key := m.shape()
	f, ok := m.e.forecasts[key]
	if !ok {
		f.needed = firstNeeded
	}
	wrong := false
	if m.foreseen != nil {
		zero := math.IsInf(min(m.problem.Left.Norm, m.problem.Right.Norm), -1)
		q, ok := plan.Plan{}, false
		if !zero {
			q, ok = machine(m.cfg.Check).With(&m.problem, f.moduli, f.widthL, f.widthR)
		}
		if wrong = !ok || q.Cost > keptBonus*m.plan.Cost; wrong {
			m.abandon()
		} else {
			m.plan = q
		}
	}
	q := &m.plan
	switch {
	case wrong:
		f.same, f.needed = 0, min(distrust*f.needed, mostNeeded)
	case f.moduli == q.Moduli && f.widthL == q.WidthL && f.widthR == q.WidthR:
		f.same++
	default:
		f.same = 0
	}
	f.moduli, f.widthL, f.widthR, f.cost = q.Moduli, q.WidthL, q.WidthR, q.Cost
	if len(m.e.forecasts) >= mostShapes {
		clear(m.e.forecasts)
	}
	m.e.forecasts[key] = f
}

// abandon drops the foreseen residues.
func (m *multiplication) abandon() {
	m.foreseen.room.free()
	m.foreseen = nil
	m.stats.Products = 0
}

// free frees the memory of a room that no product uses.
func (r *room) free() {
	for _, p := range []*cuda.Memory{r.left, r.right, r.y, r.wide, r.raw} {
		p.Free()
	}
}

package product

import (
	"errors"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/plan"
)

// A prepared is the data that products keep of a matrix in device memory: of its rows, and of its
// columns. It must be used on the device's thread, except for Drop.
type prepared [2]keptVectors

// keptVectors is the data kept of vectors: their scan, and their residues as left factors and as
// right factors.
type keptVectors struct {
	scan     *cuda.Memory // laid out as operand.exp
	totals   abi.Totals
	residues [2]*keptResidues
}

// keptResidues are the residues of vectors, in all planes.
type keptResidues struct {
	memory  *cuda.Memory
	base    baseKey
	width   int
	vectors int // number of vectors with padding
	missed  int // consecutive products for which the base was too large
	total   *atomic.Int64
}

func (r *keptResidues) free() {
	if r != nil {
		r.total.Add(-r.memory.Size())
		r.memory.Free()
	}
}

// Drop frees the data.
func (p *prepared) Drop() {
	for i := range p {
		v := &p[i]
		v.scan.Free()
		for _, r := range v.residues {
			r.free()
		}
		*v = keptVectors{}
	}
}

// Prepare makes products keep the scan and the residues of m until m changes or its array is freed.
func Prepare(m mem.Matrix) { m.Keep(new(prepared)) }

// Residues, and copies of host matrices, are kept in at most 1/maxPrepared of a device's memory.
// Residues whose base is too large for maxMissed consecutive products are replaced.
const (
	maxPrepared = 4
	maxMissed   = 3
)

// keptBonus is the ratio of costs up to which a plan that uses kept residues is preferred:
// estimates vary by as much between matrices of similar numbers.
const keptBonus = 1.03

// known takes the scan from the data kept of the vectors, if there is one.
func (o *operand) known(a mem.Matrix) (known bool) {
	a.Kept(func(k mem.Kept, transposed bool) {
		o.kept = &k.(*prepared)[abi.Flag(transposed)]
		if known = o.kept.scan != nil; known {
			o.exp, o.totals = o.kept.scan, o.kept.totals
		}
	})
	return known
}

// reuse changes the plan if kept residues, of one factor or of both, make one that is not more
// expensive.
func (m *multiplication) reuse() {
	l, r := m.left.keptResidues(m.cfg.Check), m.right.keptResidues(m.cfg.Check)
	if l == nil && r == nil {
		return
	}
	p := &m.problem
	best := keptBonus * m.plan.Cost
	for _, try := range [][2]*keptResidues{{l, r}, {l, nil}, {nil, r}} {
		q, ok := planWith(p, try[leftSide], try[rightSide])
		if !ok {
			continue
		}
		planes := float64(baseKey{q.Moduli, m.cfg.Check}.products())
		for i, k := range try {
			if k != nil {
				// may fuse: an estimate
				q.Cost -= planes * float64([]int{p.M, p.N}[i]) * float64(p.K) * residueCost
			}
		}
		if q.Cost <= best {
			best = q.Cost
			m.plan, m.left.residues, m.right.residues = q, try[leftSide], try[rightSide]
		}
	}
	for _, o := range []*operand{m.left, m.right} {
		if o.residues != nil {
			o.residues.missed = 0
		}
	}
}

// keptResidues returns the kept residues for products that are checked, or not checked; nil if
// there are none.
func (o *operand) keptResidues(checked bool) *keptResidues {
	if o.kept == nil {
		return nil
	}
	if r := o.kept.residues[o.side]; r != nil && r.base.checked == checked {
		return r
	}
	return nil
}

// planWith returns the plan for the base and the widths of the kept residues of one factor or of
// both, or false if there is none.
func planWith(p *plan.Problem, left, right *keptResidues) (q plan.Plan, ok bool) {
	var base baseKey
	var widths [2]int
	for i, k := range []*keptResidues{left, right} {
		if k == nil {
			continue
		}
		if base.moduli != 0 && base != k.base {
			return q, false
		}
		base, widths[i] = k.base, k.width
	}
	if base.moduli == 0 {
		return q, false
	}
	return machine(base.checked).With(p, base.moduli, widths[0], widths[1])
}

// mayKeep returns the most bytes that may be kept.
func (e *engine) mayKeep() int64 { return int64(e.dev.Info().Memory) / maxPrepared }

// keep computes and keeps the residues of a prepared factor, if there is room for them.
func (m *multiplication) keep(o *operand) error {
	if o.kept == nil || o.residues != nil {
		return nil
	}
	vectors, width := roundUp(o.n, m.rowTile()), m.plan.WidthL
	if o.side == rightSide {
		vectors, width = roundUp(o.n, abi.Tile), m.plan.WidthR
	}
	if vectors > maxVectors {
		return nil
	}
	kept := &o.kept.residues[o.side]
	if old := *kept; old != nil && old.base.checked == m.cfg.Check && old.base.moduli > m.plan.Moduli {
		if old.missed++; old.missed < maxMissed {
			return nil
		}
	}
	(*kept).free()
	*kept = nil
	size := int64(m.base.key.products()) * residueBytes(vectors, o.k)
	if m.e.kept.Load()+size > m.e.mayKeep() || m.cfg.Limit > 0 && size > m.cfg.Limit/maxPrepared {
		return nil
	}
	memory, err := m.s.Alloc(size)
	if errors.Is(err, cuda.ErrMemory) {
		return nil
	}
	if err != nil {
		return err
	}
	c := chunk{plain1: m.base.plain, kar1: m.base.karatsuba()}
	if err := m.convert(c, m.digitSteps(width, o), 0, o.k, converted{o: o, width: width, to: memory.Pointer(), vectors: vectors}); err != nil {
		memory.Free()
		return err
	}
	m.e.kept.Add(size)
	o.residues = &keptResidues{memory: memory, base: m.base.key, width: width, vectors: vectors, total: &m.e.kept}
	*kept = o.residues
	return m.mark("residues")
}

// keptBytes returns the size of the kept residues.
func (o *operand) keptBytes() int64 {
	if o.residues == nil {
		return 0
	}
	return o.residues.memory.Size()
}

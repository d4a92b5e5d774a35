package product

import (
	"errors"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/plan"
)

// A prepared is what products keep of a matrix in the memory of its device: of its rows, and
// of its columns. It is used on the device's thread, but for Drop.
type prepared [2]keptVectors

// keptVectors is what is kept of vectors: their scan, and their residues as left factors and
// as right ones.
type keptVectors struct {
	scan     *cuda.Memory // as operand.exp
	totals   abi.Totals
	residues [2]*keptResidues
}

// keptResidues are all planes of residues of vectors.
type keptResidues struct {
	memory  *cuda.Memory
	base    baseKey
	width   int
	vectors int // with padding
	missed  int // products in a row for which the base was too large
	total   *atomic.Int64
}

func (r *keptResidues) free() {
	if r != nil {
		r.total.Add(-r.memory.Size())
		r.memory.Free()
	}
}

// Drop frees what is kept.
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

// Prepare lets products keep the scan and the residues of m, until it changes or its array is
// freed.
func Prepare(m mem.Matrix) { m.Keep(new(prepared)) }

// Residues, and copies of matrices of the host, are kept in 1/maxPrepared of a device's memory.
// Residues of a base that is too large for maxMissed products in a row give way to others.
const (
	maxPrepared = 4
	maxMissed   = 3
)

// keptBonus is by how much a plan may be dearer for the sake of what is kept: estimates vary as
// much between matrices of like numbers.
const keptBonus = 1.03

// known takes the scan from what is kept of the vectors, if it is there.
func (o *operand) known(a mem.Matrix) (known bool) {
	a.Kept(func(k mem.Kept, transposed bool) {
		o.kept = &k.(*prepared)[abi.Flag(transposed)]
		if known = o.kept.scan != nil; known {
			o.exp, o.totals = o.kept.scan, o.kept.totals
		}
	})
	return known
}

// reuse changes the plan if the residues that are kept of one factor or of both make a cheaper one.
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

// keptResidues returns what is kept for products that are checked, or not.
func (o *operand) keptResidues(checked bool) *keptResidues {
	if o.kept == nil {
		return nil
	}
	if r := o.kept.residues[o.side]; r != nil && r.base.checked == checked {
		return r
	}
	return nil
}

// planWith returns the plan for the base and the widths of residues that are kept of one factor or
// of both, or false if there is none.
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

// mayKeep is how many bytes may be kept.
func (e *engine) mayKeep() int64 { return int64(e.dev.Info().Memory) / maxPrepared }

// keep computes and keeps the residues of a factor that is prepared, if there is room for them.
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

// keptBytes is the size of the residues that are kept.
func (o *operand) keptBytes() int64 {
	if o.residues == nil {
		return 0
	}
	return o.residues.memory.Size()
}

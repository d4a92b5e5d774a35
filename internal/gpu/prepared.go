package gpu

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/halfulp/halfulp/cuda"
)

// A prepared is what products keep of a matrix in the memory of its device: of its rows, and
// of its columns. It is used on the device's thread, but for drop.
type prepared struct {
	view    Matrix
	vectors [2]keptVectors
}

// keptVectors is what is kept of vectors: their scan, and their residues as left factors and
// as right ones.
type keptVectors struct {
	scan     *cuda.Memory // as operand.exp
	totals   totals
	residues [2]*keptResidues
}

// The sides of a product.
const (
	leftSide = iota
	rightSide
)

// keptResidues are all planes of residues of vectors.
type keptResidues struct {
	memory        *cuda.Memory
	moduli, width int
	vectors       int // with padding
	missed        int // products in a row for which the base was too large
	total         *atomic.Int64
}

func (r *keptResidues) free() {
	if r != nil {
		r.total.Add(-r.memory.Size())
		r.memory.Free()
	}
}

// drop frees what is kept.
func (p *prepared) drop() {
	for i := range p.vectors {
		v := &p.vectors[i]
		v.scan.Free()
		for _, r := range v.residues {
			r.free()
		}
		*v = keptVectors{}
	}
}

// Prepare lets products keep the scan and the residues of m, until it changes or its array is
// freed.
func (m Matrix) Prepare() {
	a := m.Arr
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.kept() == nil {
		a.prepared = append(a.prepared, &prepared{view: m})
	}
}

// kept returns what is kept of the rows of m, nil if m is not prepared. The caller holds the
// array's lock.
func (m Matrix) kept() *keptVectors {
	for _, p := range m.Arr.prepared {
		switch m {
		case p.view:
			return &p.vectors[0]
		case p.view.T():
			return &p.vectors[1]
		}
	}
	return nil
}

// changed drops what is kept of matrices that overlap m.
func (m Matrix) changed() {
	m.Arr.mu.Lock()
	defer m.Arr.mu.Unlock()
	for _, p := range m.Arr.prepared {
		if p.view.Overlaps(m) {
			p.drop()
		}
	}
}

// Residues, and copies of matrices of the host, are kept in 1/maxPrepared of a device's memory. Residues of a base that is too large for
// maxMissed products in a row give way to others.
const (
	maxPrepared = 4
	maxMissed   = 3
)

// keptBonus is by how much a plan may be dearer for the sake of what is kept: estimates vary as much
// between matrices of like numbers.
const keptBonus = 1.03

// known takes the scan from what is kept of the vectors, if it is there.
func (o *operand) known(a Matrix) bool {
	a.Arr.mu.Lock()
	defer a.Arr.mu.Unlock()
	o.kept = a.kept()
	if o.kept == nil || o.kept.scan == nil {
		return false
	}
	o.exp, o.totals = o.kept.scan, o.kept.totals
	return true
}

// scannedBy notes the scan's totals and keeps the scan of a prepared matrix.
func (m *multiplication) scannedBy(o *operand, t totals) {
	if o.scanned.total == 0 {
		return
	}
	o.totals = t
	if o.kept != nil && o.kept.scan == nil {
		o.kept.scan, o.kept.totals = o.exp, t
		m.disown(o.exp)
	}
}

// reuse changes the plan if the residues that are kept of one factor or of both make a cheaper one.
func (m *multiplication) reuse(s shape, samples []sample) {
	l, r := m.left.keptResidues(), m.right.keptResidues()
	if l == nil && r == nil {
		return
	}
	odds := s.odds(samples)
	best := keptBonus * m.plan.cost
	for _, try := range [][2]*keptResidues{{l, r}, {l, nil}, {nil, r}} {
		q, ok := planWith(s, try[leftSide], try[rightSide], m.left.totals, m.right.totals)
		if !ok {
			continue
		}
		q.cost = s.work(&q) + s.exactCost(odds.failure(&q))
		planes := float64(pool().products(q.moduli))
		for i, k := range try {
			if k != nil {
				q.cost -= planes * float64([]int{s.m, s.n}[i]) * float64(s.k) * residueCost
			}
		}
		if q.cost <= best {
			best = q.cost
			m.plan, m.left.residues, m.right.residues = q, try[leftSide], try[rightSide]
		}
	}
	for _, o := range []*operand{m.left, m.right} {
		if o.residues != nil {
			o.residues.missed = 0
		}
	}
	m.plan.cutWords = m.plan.cut(s, m.left.totals, m.right.totals, samples)
}

func (o *operand) keptResidues() *keptResidues {
	if o.kept == nil {
		return nil
	}
	return o.kept.residues[o.side]
}

// planWith returns the plan for the base and the widths of residues that are kept of one factor or
// of both, or false if there is none.
func planWith(s shape, left, right *keptResidues, l, r totals) (q plan, ok bool) {
	for _, k := range []*keptResidues{left, right} {
		if k == nil {
			continue
		}
		if q.moduli != 0 && q.moduli != k.moduli {
			return q, false
		}
		q.moduli = k.moduli
	}
	if q.moduli == 0 {
		return q, false
	}
	room := pool().bits[q.moduli] - baseMargin
	total := int(math.Floor(room - math.Log2(min(l.norm, r.norm)+1e-300)))
	// A factor without residues gets the widest integers for which there is room.
	for ; total > 0; total-- {
		switch {
		case right == nil:
			q.widthL, q.widthR = left.width, int(min(int64(total-left.width), r.width))
		case left == nil:
			q.widthL, q.widthR = int(min(int64(total-right.width), l.width)), right.width
		default:
			q.widthL, q.widthR = left.width, right.width
		}
		q.exactL, q.exactR = int64(q.widthL) >= l.width, int64(q.widthR) >= r.width
		if q.bits(&s, l, r) <= room {
			least := int64(min(q.widthL, q.widthR))
			return q, (least >= 2 || q.exactL && q.exactR) && q.digitsFit(&s)
		}
		if left != nil && right != nil {
			break
		}
	}
	return q, false
}

// mayKeep is how many bytes may be kept.
func (e *engine) mayKeep() int64 { return int64(e.dev.Info().Memory) / maxPrepared }

// keep computes and keeps the residues of a factor that is prepared, if there is room for them.
func (m *multiplication) keep(o *operand) error {
	if o.kept == nil || o.residues != nil {
		return nil
	}
	vectors, width := roundUp(o.n, m.rowTile()), m.plan.widthL
	if o.side == rightSide {
		vectors, width = roundUp(o.n, tile), m.plan.widthR
	}
	if vectors > maxVectors {
		return nil
	}
	kept := &o.kept.residues[o.side]
	if old := *kept; old != nil && old.moduli > m.plan.moduli {
		if old.missed++; old.missed < maxMissed {
			return nil
		}
	}
	(*kept).free()
	*kept = nil
	size := int64(pool().products(m.plan.moduli)) * residueBytes(vectors, o.k)
	if m.e.kept.Load()+size > m.e.mayKeep() || m.cfg.Memory > 0 && size > m.cfg.Memory/maxPrepared {
		return nil
	}
	memory, err := m.s.Alloc(size)
	if errors.Is(err, cuda.ErrMemory) {
		return nil
	}
	if err != nil {
		return err
	}
	c := chunk{plain1: m.base.plain, kar1: len(m.base.moduli) - m.base.plain}
	if err := m.convert(c, m.digitSteps(width, o), converted{o, width, memory.Pointer(), vectors}); err != nil {
		memory.Free()
		return err
	}
	m.e.kept.Add(size)
	o.residues = &keptResidues{memory: memory, moduli: m.plan.moduli, width: width, vectors: vectors, total: &m.e.kept}
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

// planes are the residues of vectors modulo the moduli of a chunk.
type planes struct {
	at     cuda.Pointer
	stride int64
}

// planes returns where the residues of the vectors of o are: in what is kept, or in a room for so
// many vectors.
func (o *operand) planes(b *base, c chunk, room *cuda.Memory, vectors int) planes {
	if o.residues == nil {
		return planes{room.Pointer(), residueBytes(vectors, o.k)}
	}
	stride := residueBytes(o.residues.vectors, o.k)
	first := int64(c.plain0)
	if c.plain0 == c.plain1 {
		first = int64(b.plain + 3*c.kar0)
	}
	return planes{o.residues.memory.At(first*stride + residueBytes(o.first, o.k)), stride}
}

// disown leaves memory to another owner.
func (m *multiplication) disown(p *cuda.Memory) {
	for i, q := range m.owned {
		if p == q {
			m.owned = append(m.owned[:i], m.owned[i+1:]...)
			return
		}
	}
}

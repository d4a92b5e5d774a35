package residue

import (
	"sync"

	"github.com/halfulp/halfulp/internal/num"
)

// Prepared keeps the data that products compute of one operand: its scan, and its residues on each
// side, with the width and base last requested. The zero Prepared is empty; a nil one keeps
// nothing.
type Prepared struct {
	mu      sync.Mutex
	mat     num.Mat // the operand as rows
	scanned [2]*operand
	kept    [2][2]*residues // by orientation, and by side of the product
	count   int             // number of times that residues were computed
}

// NewPrepared returns an empty store for the matrix a.
func NewPrepared(a num.Mat) *Prepared { return &Prepared{mat: a} }

// index distinguishes the orientations of the matrix: 0 for mat, 1 for its transpose.
func (p *Prepared) index(m num.Mat) int {
	if m == p.mat {
		return 0
	}
	return 1
}

// scan returns the scan of the rows of m, which is the prepared matrix or its transpose.
func (p *Prepared) scan(cfg Config, m num.Mat) (*operand, error) {
	if p == nil {
		return scan(cfg.Ctx, cfg.Threads, m)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.index(m)
	if p.scanned[i] == nil {
		o, err := scan(cfg.Ctx, cfg.Threads, m)
		if err != nil {
			return nil, err
		}
		p.scanned[i] = o
	}
	return p.scanned[i], nil
}

// residues returns the residues of o on side s, kept if p is not nil.
func (p *Prepared) residues(prod *product, o *operand, s side, width int, share float64) (*residues, error) {
	done := func(d float64) { prod.progress(d * share) }
	fresh := newResidues(prod.plan.kernels, prod.plan.base, s, o.n, o.k, width)
	if p == nil {
		return fresh, fresh.compute(prod.cfg.Ctx, prod.cfg.Threads, o, done)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := &p.kept[p.index(o.mat)][s.index()]
	if k := *kept; k != nil && k.width == width && k.base.pool == fresh.base.pool && len(k.base.moduli) == len(fresh.base.moduli) && k.kernels == fresh.kernels {
		done(1)
		return k, nil
	}
	if err := fresh.compute(prod.cfg.Ctx, prod.cfg.Threads, o, done); err != nil {
		return nil, err
	}
	*kept = fresh
	p.count++
	return fresh, nil
}

// keeps reports whether residues are kept.
func (p *Prepared) keeps() bool { return p != nil }

// Computed returns how often residues of the operand were computed.
func (p *Prepared) Computed() int { return p.count }

package exact

import (
	"sync"

	"github.com/halfulp/halfulp/internal/num"
)

// Prepared keeps what products compute of one operand: its scan, and its
// residues for each side, width and base asked for last. The zero Prepared is
// empty; a nil one keeps nothing.
type Prepared struct {
	mu      sync.Mutex
	mat     num.Mat // the operand as rows
	scanned [2]*operand
	kept    [2]*residues
}

// NewPrepared returns an empty store for the matrix a.
func NewPrepared(a num.Mat) *Prepared { return &Prepared{mat: a} }

// index tells the orientations of the matrix apart.
func (p *Prepared) index(m num.Mat) int {
	if m == p.mat {
		return 0
	}
	return 1
}

// scan returns the scan of the rows of m, which is the prepared matrix or its
// transpose.
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
	fresh := newResidues(prod.plan.kernel, prod.plan.base, s, o.n, o.k, width)
	if p == nil {
		return fresh, fresh.compute(prod.cfg.Ctx, prod.cfg.Threads, o, done)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.index(o.mat)
	if k := p.kept[i]; k != nil && k.side == s && k.width == width && k.base == fresh.base && k.kernel == fresh.kernel {
		done(1)
		return k, nil
	}
	if err := fresh.compute(prod.cfg.Ctx, prod.cfg.Threads, o, done); err != nil {
		return nil, err
	}
	p.kept[i] = fresh
	return fresh, nil
}

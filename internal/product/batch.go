package product

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// A Batch computes small products one after the other on one thread. It plans once for products of
// the same shapes and formats and keeps its memory. Several goroutines need one each.
type Batch struct {
	cfg   Config
	work  direct.Work
	key   batchKey
	small direct.Small
	ok    bool // small computes products of key
	room  *direct.SmallRoom
	stats residue.Stats
	count func(num.Flags)
	// stopped reports whether the context is cancelled.
	stopped func() bool
}

// batchKey is what the plan of a product depends on.
type batchKey struct {
	a, b, c     num.Format
	m, n, k     int
	rs, cs      bool
	alpha, beta num.Class
	valid       bool
}

// NewBatch returns a Batch with these options, of which it uses one thread and no device.
func NewBatch(cfg Config) *Batch {
	cfg.Threads, cfg.Device, cfg.Asked, cfg.Progress = 1, nil, false, nil
	b := &Batch{cfg: cfg, work: direct.Work{Run: cfg.Run}, room: direct.NewSmallRoom()}
	b.stopped = func() bool { return cfg.Ctx.Err() != nil }
	b.count = func(f num.Flags) {
		if f&num.Overflow != 0 {
			b.stats.Overflow++
		}
		if f&num.Underflow != 0 {
			b.stats.Underflow++
		}
	}
	return b
}

// Run computes a product, or leaves it to Run of this package and returns false.
func (b *Batch) Run(p *Problem) (done bool) {
	key := batchKey{
		p.A.Arr.Format, p.B.Arr.Format, p.C.Arr.Format, p.C.Rows, p.C.Cols, p.A.Cols,
		p.A.RS == 1, p.A.CS == 1, p.Alpha.Class, p.Beta.Class, true,
	}
	if key != b.key {
		b.key = key
		b.plan(p)
	}
	if !b.ok || p.C.Arr.Overlaps(p.A.Arr) || p.C.Arr.Overlaps(p.B.Arr) || p.Old != p.C && p.C.Arr.Overlaps(p.Old.Arr) {
		return false
	}
	b.stats.Exact += b.small.Run(b.room, b.stopped, &direct.Product{Alpha: p.Alpha, A: p.A, B: p.B, Beta: p.Beta, Old: p.Old, C: p.C}, b.count)
	b.stats.Blocks++
	return true
}

// plan decides how products like p are computed.
func (b *Batch) plan(p *Problem) {
	r := &request{Config: b.cfg, Problem: *p, force: forced.Load().(string)}
	b.ok = false
	if r.Check || r.trivial() || r.choose() != nil || r.rivals[0].name != "columns" {
		return
	}
	b.small, b.ok = b.work.Small(&direct.Product{Alpha: p.Alpha, A: p.A, B: p.B, Beta: p.Beta, Old: p.Old, C: p.C})
}

// Stats returns the statistics of the products that Run has computed.
func (b *Batch) Stats() residue.Stats {
	if b.stats.Blocks > 0 {
		b.stats.Device, b.stats.Method = "cpu", Direct
	}
	return b.stats
}

package product

import (
	"errors"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// An outcome receives the results of parts, or of blocks of parts: add receives the statistics of
// parts that the device has computed, leave receives the parts left to the host.
type outcome struct {
	add   func(residue.Stats)
	leave func(part)
}

// gemm computes a part that fits in the device's memory.
func gemm(dev *cuda.Device, cfg Config, alpha, beta num.Real, q part, told outcome) error {
	if shared, list := q.panels(cfg.Copies); len(list) > 1 {
		f := flow{dev: dev, cfg: cfg, alpha: alpha, beta: beta, shared: shared, list: list, outcome: told}
		return f.run(q)
	}
	p := carried{part: q, cfg: cfg, alpha: alpha, beta: beta}
	return p.run(dev, told)
}

// run computes the part without splitting it into panels.
func (p *carried) run(dev *cuda.Device, told outcome) error {
	err := dev.Do(p.cfg.Ctx, func(s *cuda.Stream) error {
		defer p.free()
		if err := p.up(s); err != nil {
			return err
		}
		if err := p.compute(s); err != nil {
			return err
		}
		return p.down(s)
	})
	if errors.Is(err, errRange) {
		told.leave(p.part)
		return nil
	}
	if err != nil {
		return residue.Shifted(err, p.i0, p.j0)
	}
	told.add(p.stats)
	if p.cfg.Progress != nil {
		p.cfg.Progress(1)
	}
	return nil
}

// carried is a part of a product of host matrices, with its data on the device.
type carried struct {
	part
	cfg         Config
	alpha, beta num.Real

	factors [2]*mem.Matrix // copies of A and of B
	z       mem.Matrix     // the results
	before  *mem.Matrix    // copy of Old
	owned   []func()

	stats residue.Stats
	rest  []uint64 // entries left to the host
}

// free frees the part's data on the device, once nothing uses it any more.
func (p *carried) free() {
	for _, f := range p.owned {
		f()
	}
	p.owned = nil
}

// up copies to the device the factors that are not there yet and the old entries, and allocates the
// results.
func (p *carried) up(s *cuda.Stream) error {
	for i, m := range []num.Mat{p.a, p.b} {
		if p.factors[i] != nil {
			continue
		}
		z, free, err := p.cfg.Copies[i].get(s, m)
		if err != nil {
			return err
		}
		p.owned = append(p.owned, free)
		p.factors[i] = &z
	}
	if p.beta.Class != num.Zero {
		z, err := mem.UploadView(s, p.old)
		if err != nil {
			return err
		}
		p.owned = append(p.owned, z.Arr.Free)
		p.before = &z
	}
	// If the formats agree, results overwrite the copy of the old entries. Entries left to the host
	// still have their old values then, in case Old and C are the same.
	if p.before != nil && p.before.Arr.Format == p.c.Arr.Format {
		p.z = *p.before
		return nil
	}
	z, err := mem.NewArray(s, p.c.Arr.Format, p.c.Rows*p.c.Cols)
	if err != nil {
		return err
	}
	p.owned = append(p.owned, z.Free)
	p.z = mem.Matrix{Arr: z, RS: 1, CS: p.c.Rows, Rows: p.c.Rows, Cols: p.c.Cols}
	if p.c.CS == 1 && p.c.RS == p.c.Cols {
		p.z.RS, p.z.CS = p.c.Cols, 1
	}
	return nil
}

// compute computes the results on the device.
func (p *carried) compute(s *cuda.Stream) (err error) {
	c := call{cfg: p.cfg, s: s, expr: expression{alpha: p.alpha, beta: p.beta, old: p.before}, a: *p.factors[leftSide], b: p.factors[rightSide].T(), c: &p.z}
	p.rest, err = c.run()
	p.stats = c.stats
	return err
}

// down copies the results to the host, which then computes the entries left to it.
func (p *carried) down(s *cuda.Stream) error {
	if err := mem.DownloadView(s, p.c, p.z, p.cfg.Triangle); err != nil {
		return err
	}
	return finishRest(p.cfg, p.rest, &p.stats, func() (*residue.Finisher, error) {
		return residue.NewFinisher(p.cfg.finish(), p.alpha, p.a, p.b, p.beta, p.old, p.c), nil
	})
}

// A call is a product of matrices in device memory.
type call struct {
	cfg   Config
	s     *cuda.Stream
	expr  expression
	a, b  mem.Matrix // b is transposed
	c     *mem.Matrix
	stats residue.Stats
}

// run computes C and returns the entries left to the host.
func (p *call) run() (rest []uint64, err error) {
	e := engineOf(p.s)
	e.trim()
	m := &multiplication{cfg: p.cfg, e: e, s: p.s, a: p.a, b: p.b, c: p.c, expr: p.expr, format: p.c.Arr.Format}
	defer func() { p.stats = m.stats }()
	defer m.free()
	if err := m.prepare(); err != nil {
		return nil, err
	}
	if err := m.run(); err != nil || m.silent {
		return nil, err
	}
	if rest, err = m.exactPass(); err != nil {
		return nil, err
	}
	return rest, m.times()
}

// finishRest computes, on the host, the entries left to it.
func finishRest(cfg Config, rest []uint64, stats *residue.Stats, finisher func() (*residue.Finisher, error)) error {
	if len(rest) == 0 {
		return nil
	}
	f, err := finisher()
	if err != nil {
		return err
	}
	for _, e := range rest {
		f.Fail(int(uint32(e)), int(e>>32))
	}
	return f.Exact(stats)
}

package product

import (
	"errors"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// gemm is Gemm for matrices that fit the device's memory.
func gemm(dev *cuda.Device, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error) {
	var stats exact.Stats
	err := dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		x, free, err := cfg.Copies[leftSide].get(s, a)
		if err != nil {
			return err
		}
		defer free()
		y, free, err := cfg.Copies[rightSide].get(s, b)
		if err != nil {
			return err
		}
		defer free()
		p := call{cfg: cfg, s: s, expr: expression{alpha: alpha, beta: beta}, a: x, b: y.T(),
			hostA: func() (num.Mat, error) { return a, nil }, hostB: func() (num.Mat, error) { return b, nil },
			hostOld: func() (num.Mat, error) { return old, nil }, hostC: func() (num.Mat, error) { return c, nil },
			put: func() error { return nil }}
		if p.expr.adds() {
			o := old
			if o.RS != 1 || o.CS != o.Rows {
				o = num.Mat{Arr: mem.Pack(o), RS: 1, CS: o.Rows, Rows: o.Rows, Cols: o.Cols}
			}
			z, err := mem.UploadView(s, o)
			if err != nil {
				return err
			}
			defer z.Arr.Free()
			p.expr.old = &z
		}
		// Where formats agree results take the place of old entries. What is left to the host is
		// still there then, should Old and C be the same.
		if p.c = p.expr.old; p.c == nil || p.c.Arr.Format != c.Arr.Format {
			z, err := mem.NewArray(s, c.Arr.Format, c.Rows*c.Cols)
			if err != nil {
				return err
			}
			defer z.Free()
			p.c = &mem.Matrix{Arr: z, RS: 1, CS: c.Rows, Rows: c.Rows, Cols: c.Cols}
		}
		p.get = func() error { return mem.DownloadView(s, c, *p.c, cfg.Triangle) }
		stats, err = p.run()
		return err
	})
	if errors.Is(err, errRange) {
		return hostGemm(cfg, alpha, a, b, beta, old, c)
	}
	return stats, err
}

// A call is a product with what connects it to its operands' and results' places.
type call struct {
	cfg  Config
	s    *cuda.Stream
	expr expression
	a, b mem.Matrix
	c    *mem.Matrix
	// The host's copies, for what the device leaves to the host.
	hostA, hostB, hostOld, hostC func() (num.Mat, error)
	// copies c to the host's copy, where that is the result
	get func() error
	// copies the host's copy to the device, where that is the result
	put func() error
}

func (p *call) run() (exact.Stats, error) {
	e := engineOf(p.s)
	e.trim()
	m := &multiplication{cfg: p.cfg, e: e, s: p.s, a: p.a, b: p.b, c: p.c, expr: p.expr, format: p.c.Arr.Format}
	defer m.free()
	if err := m.prepare(); err != nil {
		return m.stats, err
	}
	if err := m.run(); err != nil {
		return m.stats, err
	}
	if m.silent {
		return m.stats, p.get()
	}
	rest, err := m.exactPass()
	if err != nil {
		return m.stats, err
	}
	if err := m.times(); err != nil {
		return m.stats, err
	}
	if err := p.get(); err != nil || len(rest) == 0 {
		return m.stats, err
	}
	f, err := p.finisher()
	if err != nil {
		return m.stats, err
	}
	for _, e := range rest {
		f.Fail(int(uint32(e)), int(e>>32))
	}
	if err := f.Exact(&m.stats); err != nil {
		return m.stats, err
	}
	return m.stats, p.put()
}

func (p *call) finisher() (*exact.Finisher, error) {
	var v [4]num.Mat
	for i, get := range []func() (num.Mat, error){p.hostA, p.hostB, p.hostOld, p.hostC} {
		if i == 2 && !p.expr.adds() {
			continue
		}
		var err error
		if v[i], err = get(); err != nil {
			return nil, err
		}
	}
	return exact.NewFinisher(p.cfg.finish(), p.expr.alpha, v[0], v[1], p.expr.beta, v[2], v[3]), nil
}

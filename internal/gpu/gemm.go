package gpu

import (
	"context"
	"errors"
	"math"
	"runtime"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Gemm sets C to alpha A B + beta Old, rounded once, for matrices of the host, A m x k, B
// k x n, Old and C m x n views; C shares no storage with A and B, and with Old only if it
// is the same view. alpha and beta zero leave A and B, or Old, unread. cfg.More shares the work
// with dev.
func Gemm(dev *cuda.Device, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error) {
	cfg = cfg.defaults()
	if !cfg.applies(alpha, beta, min(c.Rows, 1), min(c.Cols, 1), a.Cols) {
		return exact.Gemm(cfg.host(), alpha, a, b, beta, old, c, nil, nil)
	}
	devs := append([]*cuda.Device{dev}, cfg.More...)
	limit := int64(math.MaxInt64)
	for _, d := range devs {
		memory := d.Info().Memory
		limit = min(limit, int64(memory/2), max(0, int64(float64(memory)*0.85)-d.Counters().InUse)/2)
	}
	p := parts{devs: devs, cfg: cfg, limit: limit, least: leastPart, alpha: alpha, beta: beta}
	return p.run(a, b, old, c)
}

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
				o = num.Mat{Arr: pack(o), RS: 1, CS: o.Rows, Rows: o.Rows, Cols: o.Cols}
			}
			z, err := uploadView(s, o)
			if err != nil {
				return err
			}
			defer z.Arr.Free()
			p.expr.old = &z
		}
		// Where formats agree results take the place of old entries. What is left to the host is
		// still there then, should Old and C be the same.
		if p.c = p.expr.old; p.c == nil || p.c.Arr.Format != c.Arr.Format {
			z, err := NewArray(s, c.Arr.Format, c.Rows*c.Cols)
			if err != nil {
				return err
			}
			defer z.Free()
			p.c = &Matrix{Arr: z, RS: 1, CS: c.Rows, Rows: c.Rows, Cols: c.Cols}
		}
		p.get = func() error { return downloadView(s, c, *p.c, cfg.Triangle) }
		stats, err = p.run()
		return err
	})
	if errors.Is(err, errRange) {
		return exact.Gemm(cfg.host(), alpha, a, b, beta, old, c, nil, nil)
	}
	return stats, err
}

// GemmResident is Gemm for matrices in the memory of the device of s.
func GemmResident(s *cuda.Stream, cfg Config, alpha num.Real, a, b Matrix, beta num.Real, old, c Matrix) (exact.Stats, error) {
	cfg = cfg.defaults()
	c.changed()
	done := newMeter(cfg.Progress)
	cfg.Progress = done.share(1)
	stats, err := gemmResident(s, cfg, alpha, a, b, beta, old, c)
	if err == nil {
		done.finish()
	}
	return stats, err
}

func gemmResident(s *cuda.Stream, cfg Config, alpha num.Real, a, b Matrix, beta num.Real, old, c Matrix) (exact.Stats, error) {
	host := residentHost(s, a, b, old, c)
	if !cfg.applies(alpha, beta, c.Rows, c.Cols, a.Cols) {
		return host.gemm(cfg, alpha, beta)
	}
	p := call{cfg: cfg, s: s, expr: expression{alpha, beta, &old}, a: a, b: b.T(), c: &c,
		hostA: host.a, hostB: host.b, hostOld: host.old, hostC: host.c, put: host.put,
		get: func() error { return nil }}
	stats, err := p.run()
	if errors.Is(err, errRange) {
		return host.gemm(cfg, alpha, beta)
	}
	return stats, err
}

func (cfg Config) defaults() Config {
	if cfg.Ctx == nil {
		cfg.Ctx = context.Background()
	}
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if cfg.Method == "" {
		cfg.Method = exact.Auto
	}
	return cfg
}

// host is the configuration of the host's engine.
func (cfg Config) host() exact.Config {
	return exact.Config{Ctx: cfg.Ctx, Threads: cfg.Threads, Method: cfg.Method, Memory: 4 << 30, Progress: cfg.Progress, Triangle: cfg.Triangle}
}

// applies reports whether the product has a part for the device.
func (cfg Config) applies(alpha, beta num.Real, m, n, k int) bool {
	return alpha.Class == num.Finite && (beta.Class == num.Finite || beta.Class == num.Zero) &&
		m > 0 && n > 0 && k > 0 && k <= maxInner && counted(m, n)
}

// counted reports whether kernels can count m x n results, in 32 bits.
func counted(m, n int) bool {
	return max(m, n) <= math.MaxInt32 && int64(m)*int64(n) <= math.MaxUint32
}

// uploadView returns a packed copy of a view on the device.
func uploadView(s *cuda.Stream, m num.Mat) (Matrix, error) {
	view := Matrix{Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
	h := m.Arr
	if n := m.Rows * m.Cols; n != h.Len() {
		if lo, hi := view.span(); hi-lo == n { // all numbers from lo on
			h = h.Slice(lo, hi)
			view.Off -= lo
		} else {
			h = pack(m)
			view.Off, view.RS, view.CS = 0, 1, m.Rows
		}
	}
	var err error
	view.Arr, err = Upload(s, h)
	return view, err
}

// pack returns the numbers of a view column by column.
func pack(m num.Mat) *num.Array {
	h := num.New(m.Arr.Format, m.Rows*m.Cols)
	eachColumn(m.Cols, func(j int) {
		for i := range m.Rows {
			h.CopyFrom(j*m.Rows+i, m.Arr, m.At(i, j))
		}
	})
	return h
}

// eachColumn calls f for n columns that are copied, on several goroutines.
func eachColumn(n int, f func(j int)) {
	_ = par.For(context.Background(), runtime.GOMAXPROCS(0), n, func(_, j int) { f(j) }) // never cancelled
}

// downloadView copies a packed matrix of the device to a view of the host, or one triangle.
func downloadView(s *cuda.Stream, to num.Mat, from Matrix, triangle byte) error {
	if triangle == 0 && to.RS == 1 && to.CS == to.Rows {
		return from.Arr.Get(s, to.Arr.Slice(to.Off, to.Off+from.Arr.Len()))
	}
	h, err := from.Arr.host(s)
	if err != nil {
		return err
	}
	eachColumn(to.Cols, func(j int) {
		for i := range to.Rows {
			if triangle == 'U' && i > j || triangle == 'L' && i < j {
				continue
			}
			to.Arr.CopyFrom(to.At(i, j), h, from.Off+i*from.RS+j*from.CS)
		}
	})
	return nil
}

// A call is a product with what connects it to its operands' and results' places.
type call struct {
	cfg  Config
	s    *cuda.Stream
	expr expression
	a, b Matrix
	c    *Matrix
	// The host's copies, for what the device leaves to the host.
	hostA, hostB, hostOld, hostC func() (num.Mat, error)
	get                          func() error // copies c to the host's copy, where that is the result
	put                          func() error // copies the host's copy to the device, where that is the result
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
	return exact.NewFinisher(p.cfg.host(), p.expr.alpha, v[0], v[1], p.expr.beta, v[2], v[3]), nil
}

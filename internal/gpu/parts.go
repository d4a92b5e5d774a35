package gpu

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

// parts is a product of matrices of the host in parts whose operands and results fit limit
// bytes of the device's memory.
type parts struct {
	dev         *cuda.Device
	cfg         Config
	limit       int64
	alpha, beta num.Real
	stats       exact.Stats
}

// matBytes returns the bytes of the entries of a view.
func matBytes(m num.Mat) int64 { return int64(m.Rows) * int64(m.Cols) * num.SizeOf(m.Arr.Format) }

// block returns rows i0 <= i < i1 and columns j0 <= j < j1 of m.
func block(m num.Mat, i0, i1, j0, j1 int) num.Mat {
	if m.Arr != nil {
		m.Off = m.At(i0, j0)
	}
	m.Rows, m.Cols = i1-i0, j1-j0
	return m
}

// run computes C, or a triangle of it.
func (p *parts) run(a, b, old, c num.Mat, triangle byte) error {
	m, n, k := c.Rows, c.Cols, a.Cols
	if matBytes(a)+matBytes(b)+matBytes(c) <= p.limit || m == 1 && n == 1 {
		cfg := p.cfg
		cfg.Triangle = triangle
		stats, err := gemm(p.dev, cfg, p.alpha, a, b, p.beta, old, c)
		p.add(stats)
		return err
	}
	sub := func(i0, i1, j0, j1 int, triangle byte) error {
		return p.run(block(a, i0, i1, 0, k), block(b, 0, k, j0, j1), block(old, i0, i1, j0, j1), block(c, i0, i1, j0, j1), triangle)
	}
	if triangle != 0 { // of a square: two triangles and the square between them
		h := n / 2
		if err := sub(0, h, 0, h, triangle); err != nil {
			return err
		}
		if err := sub(h, n, h, n, triangle); err != nil {
			return err
		}
		if triangle == 'U' {
			return sub(0, h, h, n, 0)
		}
		return sub(h, n, 0, h, 0)
	}
	if m > 1 && matBytes(a) >= matBytes(b) || n == 1 {
		if err := sub(0, m/2, 0, n, 0); err != nil {
			return err
		}
		return sub(m/2, m, 0, n, 0)
	}
	if err := sub(0, m, 0, n/2, 0); err != nil {
		return err
	}
	return sub(0, m, n/2, n, 0)
}

// add adds the statistics of a part.
func (p *parts) add(s exact.Stats) {
	if p.stats.Method == "" {
		p.stats = s
		return
	}
	t := &p.stats
	t.Moduli, t.WidthL, t.WidthR = max(t.Moduli, s.Moduli), max(t.WidthL, s.WidthL), max(t.WidthR, s.WidthR)
	t.Products += s.Products
	t.Blocks += s.Blocks
	t.Exact += s.Exact
	t.Overflow += s.Overflow
	t.Underflow += s.Underflow
	for _, x := range s.Stages {
		found := false
		for i := range t.Stages {
			if t.Stages[i].Name == x.Name {
				t.Stages[i].Time += x.Time
				found = true
			}
		}
		if !found {
			t.Stages = append(t.Stages, x)
		}
	}
}

// Package product runs the exact engine's matrix products on NVIDIA GPUs.
//
// The mathematics is that of package exact; the moduli fit the 8-bit integer tensor cores.
// Since every result is correctly rounded, its bits are those of package exact.
//
// Gemm and GemmOnDevice (gemm.go) cut what does not fit a device, or is for several, into parts
// (parts.go), and large ones of these into panels, which go up and come down while others are
// computed (flow.go). Each is a call (call.go), which connects a multiplication (multiplication.go)
// to its operands and finishes single entries on the host. Blocks to which residues do not apply
// are declined: the caller computes them. Of the left factor there may be panels that are still on
// their way from other devices (panels.go), and parts of factors and of the result may be in the
// memory of these (elsewhere.go). A multiplication goes through these stages, a kernel and a file
// each: scan (exponents and norms of rows and columns, sizes of some entries), plan (without a
// kernel), and for every block of the result (layout.go) residues, products, finish
// (reconstruction, Ziv's test, rounding) and settle (the rounding where alpha, beta or the format
// ask for more); then exactpass (what the test left undecided).
package product

import (
	"errors"
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// Gemm sets C to alpha A B + beta Old, rounded once, for matrices of the host, A m x k, B
// k x n, Old and C m x n views; C shares no storage with A and B, and with Old only if it
// is the same view. alpha and beta zero leave A and B, or Old, unread. cfg.More shares the work
// with dev. The error is a place.Declined for what is left to the host.
func Gemm(dev *cuda.Device, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
	cfg = cfg.defaults()
	if !cfg.applies(alpha, beta, min(c.Rows, 1), min(c.Cols, 1), a.Cols) {
		return residue.Stats{}, place.DeclineAll(c.Rows, c.Cols, cfg.Triangle)
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

// GemmOnDevice is Gemm for matrices in the memory of the device of s.
func GemmOnDevice(s *cuda.Stream, cfg Config, alpha num.Real, a, b mem.Matrix, beta num.Real, old, c mem.Matrix) (residue.Stats, error) {
	cfg = cfg.defaults()
	c.Changed()
	cfg.Elsewhere.changed()
	done := newMeter(cfg.Progress)
	cfg.Progress = done.share(1)
	stats, err := gemmOnDevice(s, cfg, alpha, a, b, beta, old, c)
	if err == nil {
		done.finish()
	}
	return stats, err
}

func gemmOnDevice(s *cuda.Stream, cfg Config, alpha num.Real, a, b mem.Matrix, beta num.Real, old, c mem.Matrix) (residue.Stats, error) {
	declined := func() (residue.Stats, error) {
		if cfg.Elsewhere != nil {
			return residue.Stats{}, place.ErrApart
		}
		return residue.Stats{}, place.DeclineAll(c.Rows, c.Cols, cfg.Triangle)
	}
	if !cfg.applies(alpha, beta, c.Rows, c.Cols, a.Cols) {
		return declined()
	}
	p := call{cfg: cfg, s: s, expr: expression{alpha, beta, &old}, a: a, b: b.T(), c: &c}
	rest, err := p.run()
	if errors.Is(err, errRange) {
		return declined()
	}
	if err != nil || len(rest) == 0 {
		return p.stats, err
	}
	host := newDeviceOperands(s, a, b, old, c)
	if err := finishRest(cfg, rest, &p.stats, func() (*residue.Finisher, error) { return host.finisher(cfg, alpha, beta) }); err != nil {
		return p.stats, err
	}
	return p.stats, host.put()
}

// Package product runs the exact engine's matrix products on NVIDIA GPUs.
//
// The mathematics is the same as in package residue; the moduli fit the 8-bit integer tensor cores.
// Since every result is correctly rounded, its bits are the same as the bits of package residue.
//
// Gemm and GemmOnDevice (gemm.go) split products that do not fit on a device, or that several
// devices share, into parts (parts.go). Large parts are split into panels, which are copied to and
// from the device while others are computed (flow.go). Each is a call (call.go), which connects a
// multiplication (multiplication.go) to its operands and finishes single entries on the host.
// Blocks to which residues do not apply are declined: the caller computes them. Panels of the left
// factor may still be arriving from other devices (panels.go), and parts of the factors and of the
// result may be in the memory of other devices (elsewhere.go).
//
// A multiplication consists of these stages, each with a kernel and a file: scan (exponents and
// norms of rows and columns, sizes of some entries); plan (without a kernel); for every block of
// the result (layout.go) residues, products, finish (reconstruction, Ziv's test, rounding) and
// settle (rounding where alpha, beta or the format require more); and exactpass (entries that the
// test left undecided). While the host waits for the scan and plans, the device computes
// residues by the last plan of the shape, if that plan held for several products (known.go).
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

// Gemm computes C = alpha A B + beta Old, rounded once, for host matrices. A is m x k, B is k x n,
// Old and C are m x n views. C must not share storage with A and B, and with Old only if it is the
// same view. If alpha is zero, A and B are not read; if beta is zero, Old is not read. cfg.More
// shares the work with dev. The error is a *place.Declined for the parts left to the host.
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

package several

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// hostGemm computes a product of host matrices. The bus limits such products, so every number
// crosses it once: each GPU gets a part of one factor from the host and the other parts from the
// other GPUs. It computes some columns or rows of C, for which it gets the corresponding part of
// the other factor. Where that does not apply, or memory is short, GPUs compute products of their
// own.
func (p *Place) hostGemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (residue.Stats, error) {
	if p.byParts(c, alpha, a, b, beta, old, z) {
		h := hostProduct{p: p, alpha: alpha, beta: beta, a: a, b: b, old: old, z: z}
		err := h.run(c)
		if !errors.Is(err, place.ErrMemory) || h.begun && beta.Class != num.Zero {
			return h.end(err)
		}
	}
	return p.host.Gemm(c, alpha, a, b, beta, old, z)
}

// byParts reports whether hostProduct can compute a product of host matrices: it must be large
// enough, fit in the GPUs' memory, and keep nothing of its factors.
func (p *Place) byParts(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) bool {
	if c.Triangle != 0 || c.Limit > 0 || c.Prepared != [2]place.Prepared{} || alpha.Class != num.Finite ||
		min(z.Rows, z.Cols, a.Cols) < leastBalanced {
		return false
	}
	bytes := size(a) + size(b) + size(z) // a GPU gets all of one factor, in addition to its part
	if beta.Class != num.Zero && old.Arr.Format != z.Arr.Format {
		bytes += size(old)
	}
	return bytes <= p.link.Memory()/2
}

// size returns the bytes of the entries of a matrix.
func size(m num.Mat) int64 { return int64(m.Rows) * int64(m.Cols) * num.SizeOf(m.Arr.Format) }

// A hostProduct is C = alpha A B + beta Old for host matrices.
type hostProduct struct {
	p            *Place
	alpha, beta  num.Real
	a, b, old, z num.Mat
	begun        bool // C may have changed
	did
}

func (h *hostProduct) run(c place.Config) (err error) {
	p := h.p
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	began := time.Now()
	// C is cut like the factor whose parts are contiguous: like B by columns, or like A by rows.
	side, cols := 0, !byRows(h.b)
	if cols == byRows(h.a) { // both, or neither
		cols = !byRows(h.z)
	}
	factor, length := h.a, h.z.Cols
	if !cols {
		side, factor, length = 1, h.b, h.z.Rows
	}
	parts, err := p.upload(c, factor)
	if err != nil {
		return err
	}
	defer parts.Arr.Away.Free()
	f := p.fetching(c)
	defer func() { f.free(err) }()
	whole := make([]num.Mat, len(p.parts))
	for d := range whole {
		if whole[d], err = f.get(d, parts); err != nil {
			return err
		}
	}
	if err = f.run(); err != nil {
		return err
	}
	uploaded := time.Now()
	h.begun = true
	c.Prepared[side] = p.link.Lent(factor, whole)
	list := p.chunks(p.even(length, 1), func(from, to int) piece {
		if cols {
			return piece{i1: h.z.Rows, j0: from, j1: to}
		}
		return piece{i0: from, i1: to, j1: h.z.Cols}
	})
	err = p.share(c, on(list), func(c place.Config, d int) error {
		for _, q := range list {
			if q.d != d {
				continue
			}
			a, b := block(h.a, q.i0, q.i1, 0, h.a.Cols), block(h.b, 0, h.b.Rows, q.j0, q.j1)
			old := h.old
			if h.beta.Class != num.Zero {
				old = q.of(old)
			}
			st, err := p.parts[d].Gemm(c, h.alpha, a, b, h.beta, old, q.of(h.z))
			if err := h.add(st, err, q.i0, q.j0); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && c.Progress != nil && len(h.left) == 0 {
		c.Progress(1)
	}
	h.stats.Stages = []residue.Stage{{Name: "upload", Time: uploaded.Sub(began)}, {Name: "product", Time: time.Since(uploaded)}}
	return err
}

// upload returns a copy of a host matrix. Every GPU has some of its columns, or rows if these are
// contiguous.
func (p *Place) upload(c place.Config, m num.Mat) (num.Mat, error) {
	if byRows(m) {
		z, err := p.upload(c, m.T())
		return z.T(), err
	}
	a, err := p.Room(c, m.Arr.Format, m.Rows, m.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	z := num.Mat{Arr: a, RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	if err := p.Set(c.Ctx, z, m); err != nil {
		a.Away.Free()
		return num.Mat{}, err
	}
	return z, nil
}

package several

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// hostGemm computes a product of matrices of the host. The bus is what such products wait for, so
// that every number takes it once: GPUs get their parts of the factors, those of others from these,
// and return their part of the result. Where that does not apply GPUs compute products of their own
// of some rows or columns, as they do where memory is short.
func (p *Place) hostGemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (exact.Stats, error) {
	if p.byParts(c, alpha, a, b, beta, old, z) {
		st, err := p.partsGemm(c, alpha, a, b, beta, old, z)
		if !errors.Is(err, place.ErrMemory) {
			return st, err
		}
	}
	return p.host.Gemm(c, alpha, a, b, beta, old, z)
}

// byParts reports whether a product of matrices of the host is for partsGemm: one of some size that
// fits the GPUs, with nothing that would be kept of its factors.
func (p *Place) byParts(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) bool {
	if c.Triangle != 0 || c.Memory > 0 || c.Prepared != [2]place.Prepared{} || alpha.Class != num.Finite ||
		min(z.Rows, z.Cols, a.Cols) < leastBalanced {
		return false
	}
	bytes := size(a) + size(b) + size(z) // a GPU may get all of one factor, beside its part
	if beta.Class != num.Zero && old.Arr.Format != z.Arr.Format {
		bytes += size(old)
	}
	return bytes <= p.link.Memory()/2
}

// size returns the bytes of the entries of a matrix.
func size(m num.Mat) int64 { return int64(m.Rows) * int64(m.Cols) * num.SizeOf(m.Arr.Format) }

func (p *Place) partsGemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (st exact.Stats, err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	began := time.Now()
	var stages []exact.Stage
	var taken []*num.Array
	defer func() { freeAll(taken) }()
	room := func(f num.Format, rows, cols int) (num.Mat, error) {
		x, err := p.Room(c, f, rows, cols)
		if err == nil {
			taken = append(taken, x)
		}
		return num.Mat{Arr: x, RS: 1, CS: rows, Rows: rows, Cols: cols}, err
	}
	upload := func(m num.Mat) (num.Mat, error) {
		from := m
		if byRows(m) {
			from = m.T()
		}
		to, err := room(m.Arr.Format, from.Rows, from.Cols)
		if err == nil {
			err = p.Set(c.Ctx, to, from)
		}
		if byRows(m) {
			to = to.T()
		}
		return to, err
	}
	to, err := room(z.Arr.Format, z.Rows, z.Cols)
	if err != nil {
		return st, err
	}
	left, err := upload(a)
	if err != nil {
		return st, err
	}
	right, err := upload(b)
	if err != nil {
		return st, err
	}
	before := to
	switch {
	case beta.Class == num.Zero:
	case old.Arr.Format == z.Arr.Format:
		err = p.Set(c.Ctx, to, old)
	default:
		before, err = upload(old)
	}
	if err != nil {
		return st, err
	}
	stage := func(name string) {
		now := time.Now()
		stages = append(stages, exact.Stage{Name: name, Time: now.Sub(began)})
		began = now
	}
	stage("upload")
	if st, err = p.Gemm(c, alpha, left, right, beta, before, to); err != nil {
		return st, err
	}
	stage("product")
	list, _ := p.pieces(to)
	err = p.together(func(d int) error {
		for _, q := range list {
			if q.d == d {
				return p.link.Download(c.Ctx, d, q.m.Arr, q.of(z))
			}
		}
		return nil
	})
	stage("download")
	st.Stages = stages
	return st, err
}

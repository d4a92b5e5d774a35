package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) Fetch(c place.Config, to, from num.Mat) error {
	if _, ok := from.Arr.Away.(*storage); !ok || to.RS != 1 || to.CS != to.Rows {
		return place.ErrUnsupported
	}
	return p.do(c.Ctx, func(s *cuda.Stream) error {
		ok, err := Matrix(from).Fetch(s, to)
		if err == nil && !ok {
			err = place.ErrUnsupported
		}
		return err
	})
}

func (p *gpus) Tridiagonal(c place.Config, a []float64, n int) (r place.Reduction, d, e []float64, err error) {
	z := &reduction{at: p}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		z.Reduction, d, e, err = seed.Tridiagonal(c.Ctx, s, a, n)
		return err
	})
	return z, d, e, err
}

// reduction is a matrix of reflectors on a GPU.
type reduction struct {
	*seed.Reduction
	at *gpus
}

func (z *reduction) Load(c place.Config, q []float64) error {
	return z.at.do(c.Ctx, func(s *cuda.Stream) error { return z.Reduction.Load(s, q) })
}

func (z *reduction) Ends(c place.Config, p place.Piece) (row []float64, err error) {
	err = z.at.do(c.Ctx, func(s *cuda.Stream) error {
		row, err = z.Reduction.Ends(s, p)
		return err
	})
	return row, err
}

func (z *reduction) Merge(c place.Config, m place.Merge) (roots []float64, ok bool, err error) {
	err = z.at.do(c.Ctx, func(s *cuda.Stream) error {
		roots, ok, err = z.Reduction.Merge(s, m)
		return err
	})
	return roots, ok, err
}

func (z *reduction) Apply(c place.Config, to []float64) error {
	return z.at.do(c.Ctx, func(s *cuda.Stream) error { return z.Reduction.Apply(c.Ctx, s, to) })
}

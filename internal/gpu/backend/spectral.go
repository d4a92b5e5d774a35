package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/place"
)

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

func (z *reduction) Apply(c place.Config, to []float64) error {
	return z.at.do(c.Ctx, func(s *cuda.Stream) error { return z.Reduction.Apply(c.Ctx, s, to) })
}

package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) Triangles(c place.Config, a, z, u num.Mat) (rows, cols []int64, order []int32, ok bool, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		rows, cols, order, ok, err = seed.Triangles(s, Matrix(a), Matrix(z), Matrix(u))
		return err
	})
	return rows, cols, order, ok, err
}

func (p *gpus) Gather(c place.Config, x num.Mat, order []int32, z num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return newton.Gather(s, Matrix(x), order, Matrix(z)) })
}

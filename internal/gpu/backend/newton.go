package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) Copy(c place.Config, to, from num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return Matrix(to).Copy(s, Matrix(from)) })
}

func (p *gpus) Extents(c place.Config, m num.Mat) (x place.Extents, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		x, err = product.Extents(s, Matrix(m))
		return err
	})
	return x, err
}

func (p *gpus) Inverse(c place.Config, a, x num.Mat) (rows, cols []int64, ok bool, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		rows, cols, ok, err = seed.Inverse(s, Matrix(a), Matrix(x))
		return err
	})
	return rows, cols, ok, err
}

func (p *gpus) Shift(c place.Config, x num.Mat, rows, cols []int64, z num.Mat) (odd int, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		odd, err = newton.Shift(s, Matrix(x), rows, cols, Matrix(z))
		return err
	})
	return odd, err
}

func (p *gpus) Sum(c place.Config, t place.Sum, z num.Mat) (left int, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		left, err = newton.Sum(s, t, Matrix(t.X), Matrix(t.D), Matrix(z))
		return err
	})
	return left, err
}

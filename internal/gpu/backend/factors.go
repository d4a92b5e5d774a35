package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) InverseRoot(c place.Config, a, x num.Mat) (exps []int64, z place.Seed, err error) {
	var begun *seed.Seed
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		exps, begun, err = seed.InverseRoot(s, Matrix(a), Matrix(x))
		return err
	})
	return exps, p.begun(begun), err
}

func (p *gpus) Triangle(c place.Config, op place.TriangleOperation, a num.Mat, tally *num.Array) (count int, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		count, err = newton.Triangle(s, op, Matrix(a), arrayOf(tally))
		return err
	})
	return count, err
}

func (p *gpus) Spread(c place.Config, a, b num.Mat, columns bool) (rows, cols float64, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		rows, cols, err = newton.Spread(s, Matrix(a), Matrix(b), columns)
		return err
	})
	return rows, cols, err
}

func (p *gpus) HalfLessSquares(c place.Config, d, z num.Mat, tally *num.Array) (done bool, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		done, err = newton.HalfLessSquares(s, Matrix(d), Matrix(z), arrayOf(tally))
		return err
	})
	return done, err
}

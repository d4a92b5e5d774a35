package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) PivotedTriangles(c place.Config, a, z, u num.Mat) (rows, cols []int64, begun place.Triangular, err error) {
	var f *seed.Factors
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		rows, cols, f, err = seed.PivotedTriangles(s, Matrix(a), Matrix(z), Matrix(u))
		return err
	})
	return rows, cols, p.factors(f), err
}

func (p *gpus) Part(c place.Config, a, lower, upper num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return newton.Part(s, Matrix(a), Matrix(lower), Matrix(upper)) })
}

func (p *gpus) NotSmall(c place.Config, a num.Mat, bound float64, tally *num.Array) (count int, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		count, err = newton.NotSmall(s, Matrix(a), bound, arrayOf(tally))
		return err
	})
	return count, err
}

func (p *gpus) Square(c place.Config, e, z num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return seed.Square(s, Matrix(e), Matrix(z)) })
}

func (p *gpus) SquareOrder(n int) int { return seed.SquareOrder(n) }

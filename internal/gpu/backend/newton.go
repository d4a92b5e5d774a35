package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) Oblique() bool { return true }

func (p *gpus) Extents(c place.Config, tally *num.Array, list ...num.Mat) (x []place.Extents, left int, err error) {
	var of []mem.Matrix
	for _, m := range list {
		of = append(of, Matrix(m))
	}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		x, left, err = product.Extents(s, arrayOf(tally), of...)
		return err
	})
	return x, left, err
}

// arrayOf returns the GPU array behind a, nil for nil.
func arrayOf(a *num.Array) *mem.Array {
	if a == nil {
		return nil
	}
	return a.Away.(*storage).Array
}

func (p *gpus) Inverse(c place.Config, a, x num.Mat, attempt int) (rows, cols []int64, z place.Seed, err error) {
	var begun *seed.Seed
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		rows, cols, begun, err = seed.Inverse(s, Matrix(a), Matrix(x), attempt)
		return err
	})
	return rows, cols, p.begun(begun), err
}

// begun returns z as a seed of the place, nil for nil.
func (p *gpus) begun(z *seed.Seed) place.Seed {
	if z == nil {
		return nil
	}
	return begun{z, p}
}

// begun is a seed that is being computed on a GPU.
type begun struct {
	*seed.Seed
	at *gpus
}

func (z begun) Settle(c place.Config) (ok bool, err error) {
	err = z.at.do(c.Ctx, func(*cuda.Stream) (err error) {
		ok, err = z.Seed.Settle()
		return err
	})
	return ok, err
}

func (p *gpus) Shift(c place.Config, x num.Mat, rows, cols []int64, z num.Mat, tally *num.Array) (odd int, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		odd, err = newton.Shift(s, Matrix(x), rows, cols, Matrix(z), arrayOf(tally))
		return err
	})
	return odd, err
}

func (p *gpus) Sum(c place.Config, t place.Sum, z num.Mat) (left int, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		left, err = newton.Sum(s, t, Matrix(t.X), Matrix(t.D), Matrix(z), arrayOf(t.Tally))
		return err
	})
	return left, err
}

func (p *gpus) Refine(c place.Config, r place.Refinement, z num.Mat) (lengths [][]int, ok bool, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		lengths, ok, err = newton.Refine(s, r, Matrix(r.F), Matrix(r.X), Matrix(r.G), Matrix(z))
		return err
	})
	return lengths, ok, err
}

package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) Triangles(c place.Config, a, z, u num.Mat, attempt int) (rows, cols []int64, begun place.Triangular, err error) {
	var f *seed.Factors
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		rows, cols, f, err = seed.Triangles(s, Matrix(a), Matrix(z), Matrix(u), attempt)
		return err
	})
	return rows, cols, p.factors(f), err
}

// factors returns z as factors of the place, nil for nil.
func (p *gpus) factors(z *seed.Factors) place.Triangular {
	if z == nil {
		return nil
	}
	return factors{z, p}
}

// factors are factors that are being computed on a GPU.
type factors struct {
	*seed.Factors
	at *gpus
}

func (z factors) Settle(c place.Config) (order []int32, ok bool, err error) {
	err = z.at.do(c.Ctx, func(*cuda.Stream) (err error) {
		order, ok, err = z.Factors.Settle()
		return err
	})
	return order, ok, err
}

func (p *gpus) Gather(c place.Config, x num.Mat, order []int32, z num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return newton.Gather(s, Matrix(x), order, Matrix(z)) })
}

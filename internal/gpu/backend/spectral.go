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

func (p *gpus) Tridiagonal(c place.Config, a num.Mat) (r place.Reduction, d, e []float64, err error) {
	z := &reduction{at: p}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		z.Reduction, d, e, err = seed.Tridiagonal(c.Ctx, s, Matrix(a))
		return err
	})
	return z, d, e, err
}

// reduction is a matrix of reflectors on a GPU.
type reduction struct {
	*seed.Reduction
	at *gpus
}

func (z *reduction) Load(c place.Config, q []float64, rows int, base []int32) error {
	return z.at.do(c.Ctx, func(s *cuda.Stream) error { return z.Reduction.Load(s, q, rows, base) })
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

func (z *reduction) Apply(c place.Config, order []int32, x num.Mat) (ok bool, err error) {
	err = z.at.do(c.Ctx, func(s *cuda.Stream) error {
		ok, err = z.Reduction.Apply(c.Ctx, s, order, Matrix(x))
		return err
	})
	return ok, err
}

func (p *gpus) Residuals(c place.Config, sm, r num.Mat, longS, lostS []float64) (z place.Residuals, squares []float64, ok bool, err error) {
	found := &residuals{at: p}
	err = p.do(c.Ctx, func(s *cuda.Stream) error {
		found.Residuals, squares, ok, err = seed.NewResiduals(s, Matrix(sm), Matrix(r), longS, lostS)
		return err
	})
	return found, squares, ok, err
}

// residuals are bounds on a GPU.
type residuals struct {
	*seed.Residuals
	at *gpus
}

func (z *residuals) Couplings(c place.Config, q place.Quotients) (list [6][]float64, ok bool, err error) {
	err = z.at.do(c.Ctx, func(s *cuda.Stream) error {
		list, ok, err = z.Residuals.Couplings(s, q)
		return err
	})
	return list, ok, err
}

func (z *residuals) Correction(c place.Config, e num.Mat) (ok bool, err error) {
	err = z.at.do(c.Ctx, func(s *cuda.Stream) error {
		ok, err = z.Residuals.Correction(s, Matrix(e))
		return err
	})
	return ok, err
}

func (z *residuals) Distances(c place.Config, radius, tilt, image []float64, cut float64) (list [3][]float64, ok bool, err error) {
	err = z.at.do(c.Ctx, func(s *cuda.Stream) error {
		list, ok, err = z.Residuals.Distances(s, radius, tilt, image, cut)
		return err
	})
	return list, ok, err
}

func (p *gpus) Signs(c place.Config, x, d num.Mat, errors []int64) (signs []int32, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) error {
		signs, err = seed.Signs(s, Matrix(x), Matrix(d), errors)
		return err
	})
	return signs, err
}

func (p *gpus) Columns(c place.Config, x num.Mat, order, signs []int32, z num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return seed.Columns(s, Matrix(x), order, signs, Matrix(z)) })
}

package call

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Offers reports whether the run's place implements the part T. The host implements none.
func Offers[T any](s *Run) bool {
	_, ok := place.Part[T](s.At.place())
	return ok
}

// part returns a part of the run's place. The error wraps place.ErrUnsupported if the place does
// not implement it: then the host computes (see Resignable).
func part[T any](s *Run) (T, error) {
	z, ok := place.Part[T](s.At.place())
	if !ok {
		return z, fmt.Errorf("%s: %w", s.At, place.ErrUnsupported)
	}
	return z, nil
}

// HalfLessSquaresThere is place.Squares.HalfLessSquares at the run's place, with the run's tally.
// It returns false where the place or the run has no such part.
func (s *Run) HalfLessSquaresThere(d, z num.Mat) (bool, error) {
	squares, ok := place.Part[place.Squares](s.At.place())
	if !ok || s.Tally == nil {
		return false, nil
	}
	return squares.HalfLessSquares(s.Config(), d, z, s.Tally)
}

// SumThere is place.Newton.Sum at the run's place.
func (s *Run) SumThere(sum place.Sum, z num.Mat) (left int, err error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return 0, err
	}
	return newton.Sum(s.Config(), sum, z)
}

// Tallied returns the count in the tally. It waits for all earlier operations at the run's place.
func (s *Run) Tallied() (left int, err error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return 0, err
	}
	_, left, err = newton.Extents(s.Config(), s.Tally)
	return left, err
}

// Shift is place.Newton.Shift at the run's place.
func (s *Run) Shift(x num.Mat, rows, cols []int64, z num.Mat, tally *num.Array) (odd int, err error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return 0, err
	}
	return newton.Shift(s.Config(), x, rows, cols, z, tally)
}

// InverseThere is place.Newton.Inverse at the run's place.
func (s *Run) InverseThere(a, x num.Mat, attempt int) (rows, cols []int64, begun place.Seed, err error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return nil, nil, nil, err
	}
	return newton.Inverse(s.Config(), a, x, attempt)
}

// Refine is place.Refiner.Refine at the run's place.
func (s *Run) Refine(r place.Refinement, z num.Mat) (lengths [][]int, ok bool, err error) {
	refiner, err := part[place.Refiner](s)
	if err != nil {
		return nil, false, err
	}
	return refiner.Refine(s.Config(), r, z)
}

// InverseRoot is place.Factors.InverseRoot at the run's place.
func (s *Run) InverseRoot(a, x num.Mat) (exps []int64, begun place.Seed, err error) {
	factors, err := part[place.Factors](s)
	if err != nil {
		return nil, nil, err
	}
	return factors.InverseRoot(s.Config(), a, x)
}

// Triangles is place.Determinant.Triangles at the run's place.
func (s *Run) Triangles(a, z, u num.Mat, attempt int) (rows, cols []int64, begun place.Triangular, err error) {
	determinant, err := part[place.Determinant](s)
	if err != nil {
		return nil, nil, nil, err
	}
	return determinant.Triangles(s.Config(), a, z, u, attempt)
}

// Gather is place.Determinant.Gather at the run's place.
func (s *Run) Gather(x num.Mat, order []int32, z num.Mat) error {
	determinant, err := part[place.Determinant](s)
	if err != nil {
		return err
	}
	return determinant.Gather(s.Config(), x, order, z)
}

// PivotedTriangles is place.Splitting.PivotedTriangles at the run's place.
func (s *Run) PivotedTriangles(a, z, u num.Mat) (rows, cols []int64, begun place.Triangular, err error) {
	splitting, err := part[place.Splitting](s)
	if err != nil {
		return nil, nil, nil, err
	}
	return splitting.PivotedTriangles(s.Config(), a, z, u)
}

// NotSmall is place.Splitting.NotSmall at the run's place.
func (s *Run) NotSmall(a num.Mat, bound float64, tally *num.Array) (count int, err error) {
	splitting, err := part[place.Splitting](s)
	if err != nil {
		return 0, err
	}
	return splitting.NotSmall(s.Config(), a, bound, tally)
}

// SquareThere is place.Squaring.Square at the run's place for an n x n matrix. It returns a matrix
// without an array if the place has no such part.
func (s *Run) SquareThere(e num.Mat) (num.Mat, error) {
	squaring, ok := place.Part[place.Squaring](s.At.place())
	if !ok || squaring.SquareOrder(e.Rows) == 0 {
		return num.Mat{}, nil
	}
	n := squaring.SquareOrder(e.Rows)
	z, err := s.Room(num.Float64, n, n)
	if err != nil {
		return num.Mat{}, err
	}
	return z.Slice(0, e.Rows, 0, e.Rows), squaring.Square(s.Config(), e, z)
}

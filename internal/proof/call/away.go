package call

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// away is the home at a place, which uses the parts that the place implements.
type away struct{ at place.Place }

func (p away) String() string     { return p.at.String() }
func (away) AtHand() bool         { return false }
func (away) UsesBounds() bool     { return true }
func (away) Decides() bool        { return false }
func (p away) place() place.Place { return p.at }

func (away) matrix(s *Run, f num.Format, rows, cols int) (num.Mat, error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return num.Mat{}, err
	}
	a, err := newton.Zeros(s.Config(), num.NewMat(f, 0, 0).Arr.Format, rows, cols)
	return s.kept(a, rows, cols, err)
}

func (away) room(s *Run, f num.Format, rows, cols int) (num.Mat, error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return num.Mat{}, err
	}
	a, err := newton.Room(s.Config(), num.NewMat(f, 0, 0).Arr.Format, rows, cols)
	return s.kept(a, rows, cols, err)
}

// kept returns a matrix of an array, stored by columns, that Release frees.
func (s *Run) kept(a *num.Array, rows, cols int, err error) (num.Mat, error) {
	if err != nil {
		return num.Mat{}, err
	}
	m := num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
	s.Away = append(s.Away, m)
	return m, nil
}

// Keep exempts a matrix from Release.
func (s *Run) Keep(m num.Mat) {
	s.Away = slices.DeleteFunc(s.Away, func(x num.Mat) bool { return x.Arr == m.Arr })
}

func (p away) identity(s *Run, n int) (num.Mat, error) {
	if !place.Oblique(p.at) {
		return s.Upload(num.Identity(num.Float64, n))
	}
	x := make([]float64, 2*n-1)
	x[n-1] = 1
	z, err := s.Upload(num.Float64s(len(x), 1, x))
	if err != nil {
		return num.Mat{}, err
	}
	return num.Mat{Arr: z.Arr, Off: n - 1, RS: 1, CS: -1, Rows: n, Cols: n}, nil
}

func (away) drop(_ *Run, m num.Mat) { m.Free() }

func (away) scaled(s *Run, a num.Mat, by scale.Scaling, most int) (num.Mat, error) {
	if a.Arr.Terms() > 1 { // their bits may exceed the bits of the format
		h, err := place.On(nil, a)
		if err != nil {
			return num.Mat{}, err
		}
		if errors.Is(Finite("", h), ErrNotFinite) { // Scaled would turn them into zeros
			return num.Mat{}, nil
		}
		if h = Scaled(h, by, most); h.Arr == nil {
			return num.Mat{}, nil
		}
		return s.Upload(h)
	}
	bits := a.Format().Bits()
	if bits > most {
		return num.Mat{}, nil
	}
	z, err := s.Room(num.Precision(uint(max(bits, num.MinPrec))), a.Rows, a.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	odd, err := s.Shift(a, by.Rows, by.Cols, z, s.Tally)
	if err != nil || odd > 0 {
		return num.Mat{}, err
	}
	return z, nil
}

func (away) sum(s *Run, x, y, z num.Mat, unit *int64, triangle byte) error {
	left, err := s.SumThere(place.Sum{X: x, D: y, Bits: z.Format().Bits(), Triangle: triangle, Tally: s.Tally, Unit: unit}, z)
	if err == nil && left > 0 {
		err = fmt.Errorf("sums beyond the exponents of formats: %w", ErrRange)
	}
	return err
}

func (away) copyNumbers(s *Run, to, from num.Mat) error {
	odd, err := s.Shift(from, nil, nil, to, s.Tally)
	if err == nil && odd > 0 {
		err = fmt.Errorf("numbers with exponents beyond 2^29: %w", ErrRange)
	}
	return err
}

func (away) triangle(s *Run, op place.TriangleOperation, a num.Mat, tally *num.Array) (count int, err error) {
	factors, err := part[place.Factors](s)
	if err != nil {
		return 0, err
	}
	return factors.Triangle(s.Config(), op, a, tally)
}

func (away) partTriangles(s *Run, a, lower, upper num.Mat) error {
	splitting, err := part[place.Splitting](s)
	if err != nil {
		return err
	}
	return splitting.Part(s.Config(), a, lower, upper)
}

func (away) measure(s *Run, list []num.Mat) (x []Extent, err error) {
	found, err := s.Extents(list...)
	for _, y := range found {
		x = append(x, extentThere{y})
	}
	return x, err
}

func (away) rowSums(s *Run, m num.Mat) ([]int64, error) {
	x, err := s.Measure(m)
	if err != nil {
		return nil, err
	}
	return x[0].Sums(), nil
}

func (away) spread(s *Run, a, b num.Mat, columns bool) (byRows, byColumns float64, err error) {
	factors, err := part[place.Factors](s)
	if err != nil {
		return 0, 0, err
	}
	return factors.Spread(s.Config(), a, b, columns)
}

func (away) symmetricNorm(s *Run, m num.Mat) (*big.Float, error) {
	// The sum of row norm and column norm of the triangle counts the diagonal twice.
	x, err := s.Measure(m, m.T())
	if err != nil {
		return nil, err
	}
	return bound.Upper().Add(x[0].Norm(), x[1].Norm()), nil
}

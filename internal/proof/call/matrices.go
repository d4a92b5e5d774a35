package call

import (
	"fmt"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// cutBelow clears the lowest bits of x, whose last word is not 0, and returns it, nil if it is 0.
func cutBelow(x []uint64, low int64) []uint64 {
	if low <= 0 {
		return x
	}
	k := low >> 6
	if k >= int64(len(x)) {
		return nil
	}
	clear(x[:k])
	if x[k] &^= 1<<uint(low&63) - 1; x[k] == 0 && k == int64(len(x)-1) {
		return nil
	}
	return x
}

// WordsFor returns how many words hold bits bits below the first one, 32 of them to spare.
func WordsFor(bits int) int { return (bits + 32 + 63) / 64 }

// SumHere is SumTo on the host, for a z of zeros.
func (s *Run) SumHere(x, y, z num.Mat, unit *int64) error {
	mx, my, mz := x, y, z
	count := WordsFor(z.Format().Bits())
	adders := make([]*bound.Adder, s.Threads)
	return par.For(s.Ctx, s.Threads, mz.Cols, func(w, j int) {
		if adders[w] == nil {
			adders[w] = bound.NewAdder(count)
		}
		for i := range mz.Rows {
			neg, mag, exp := adders[w].Add(&mx, &my, i, j)
			if unit != nil {
				mag = cutBelow(mag, *unit-exp)
			}
			switch {
			case len(mag) == 0:
			case max(exp, -exp) < math.MaxInt32/2: // half of the time
				bound.StoreLeading(mz.Arr, mz.At(i, j), neg, mag, exp)
			default:
				mz.Arr.Set(mz.At(i, j), num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: exp})
			}
		}
	})
}

// Matrix returns a rows x cols matrix of zeros.
func (s *Run) Matrix(f num.Format, rows, cols int) (num.Mat, error) {
	return s.matrixOf(f, rows, cols, func(f num.Format, rows, cols int) (*num.Array, error) {
		return s.At.New(s.Ctx, f, rows, cols)
	})
}

// Room returns a rows x cols matrix for numbers that are all stored before they are read: of zeros
// on the host, of anything elsewhere.
func (s *Run) Room(f num.Format, rows, cols int) (num.Mat, error) {
	return s.matrixOf(f, rows, cols, func(f num.Format, rows, cols int) (*num.Array, error) {
		newton, err := part[place.Newton](s)
		if err != nil {
			return nil, err
		}
		return newton.Room(s.Config(), f, rows, cols)
	})
}

// matrixOf returns a rows x cols matrix of zeros on the host, or of numbers that there returns
// elsewhere.
func (s *Run) matrixOf(f num.Format, rows, cols int, there func(f num.Format, rows, cols int) (*num.Array, error)) (num.Mat, error) {
	if s.At == nil {
		return s.MatrixHere(f, rows, cols), nil
	}
	a, err := there(num.NewMat(f, 0, 0).Arr.Format, rows, cols)
	if err != nil {
		return num.Mat{}, err
	}
	m := num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
	s.Away = append(s.Away, m)
	return m, nil
}

// Upload returns a copy, at the run's place, of a matrix of the host.
func (s *Run) Upload(m num.Mat) (num.Mat, error) {
	z, err := s.Room(m.Format(), m.Rows, m.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return z, place.Copy(z, m)
}

// Config is how the place computes.
func (s *Run) Config() place.Config {
	return place.Config{Run: s.Call.Reporting(nil)}
}

// Identity returns the n x n unit matrix. Elsewhere its entries share storage: entry (i, j) is
// number n - 1 + i - j of 2 n - 1 numbers, all but one of them zeros.
func (s *Run) Identity(n int) (num.Mat, error) {
	if s.At == nil {
		return s.IdentityHere(n), nil
	}
	if !place.Oblique(s.At) {
		return s.Upload(num.Identity(num.Float64, n))
	}
	x := make([]float64, 2*n-1)
	x[n-1] = 1
	z, err := s.Upload(num.Float64s(len(x), 1, x))
	if err != nil {
		return num.Mat{}, err
	}
	m := num.Mat{Arr: z.Arr, Off: n - 1, RS: 1, CS: -1, Rows: n, Cols: n}
	return m, nil
}

// IdentityHere is identity on the host.
func (s *Run) IdentityHere(n int) num.Mat {
	if s.one.Arr == nil || s.one.Rows != n {
		x := s.Floats(n * n)
		clear(x)
		for i := range n {
			x[i+i*n] = 1
		}
		s.one = num.Float64s(n, n, x)
	}
	return s.one
}

// Temporary returns a function that gives back what Floats and Words have taken since, and forgets
// what the run has kept in that memory: the unit matrix and Lifting.
func (s *Run) Temporary() (end func()) {
	one, lifting, give := s.one, s.Lifting, s.Call.Temporary()
	return func() {
		if s.one != one {
			s.one = num.Mat{}
		}
		if s.Lifting != lifting {
			s.Lifting = nil
		}
		give()
	}
}

// Sum stores X + Y, of one shape, rounded in Z; all are in MP and share nothing. What is cut off
// first is below 2^-(prec+30) (|x| + |y|).
func (s *Run) Sum(x, y, z num.Mat) error { return s.SumTo(x, y, z, nil, 0) }

// SumOfTriangles is sum for lower triangles above zeros.
func (s *Run) SumOfTriangles(x, y, z num.Mat) error { return s.SumTo(x, y, z, nil, 'L') }

// SumTo is sum, but that sums are cut off to multiples of 2^unit before they are rounded, if there
// is a unit. Beyond a triangle, if there is one, both are zeros, and so is Z already.
func (s *Run) SumTo(x, y, z num.Mat, unit *int64, triangle byte) error {
	defer s.Did(float64(z.Rows) * float64(z.Cols) * SumCost)
	if s.At == nil {
		return s.SumHere(x, y, z, unit)
	}
	left, err := s.SumThere(place.Sum{X: x, D: y, Bits: z.Format().Bits(), Triangle: triangle, Tally: s.Tally, Unit: unit}, z)
	if err == nil && left > 0 {
		err = fmt.Errorf("sums beyond the exponents of formats: %w", ErrRange)
	}
	return err
}

// Drop gives back matrices that are no longer needed.
func (s *Run) Drop(list ...num.Mat) {
	for _, m := range list {
		if m.Arr == nil {
			continue
		}
		if s.At != nil {
			m.Free()
		} else if i := slices.Index(s.here, m); i >= 0 {
			s.here = slices.Delete(s.here, i, i+1)
			s.putHere(m)
		}
	}
}

// arrayRoom are arrays of MP that are kept in the same way, by their words.
var arrayRoom bufpool.Shelf[*num.Array]

// MatrixHere returns a rows x cols matrix of zeros on the host, which is given back by Drop or
// Release where those that the run makes do not outlive it.
func (s *Run) MatrixHere(f num.Format, rows, cols int) num.Mat {
	s.Budget.Reclaim(MatrixBytes(f, rows, cols))
	if !s.Reuse {
		return num.NewMat(f, rows, cols)
	}
	m := TakeMatrix(f, rows, cols)
	s.Budget.Take(MatrixBytes(f, rows, cols))
	s.here = append(s.here, m)
	return m
}

// putHere gives a matrix of MatrixHere back.
func (s *Run) putHere(m num.Mat) {
	s.Budget.Take(-MatrixBytes(m.Format(), m.Rows, m.Cols))
	PutMatrix(m)
}

// MatrixBytes returns the bytes of a rows x cols matrix.
func MatrixBytes(f num.Format, rows, cols int) int64 {
	return num.SizeOf(num.NewMat(f, 0, 0).Arr.Format) * int64(rows) * int64(cols)
}

// TakeMatrix returns a rows x cols matrix of zeros on the host, which PutMatrix may give back.
func TakeMatrix(f num.Format, rows, cols int) num.Mat {
	if !f.IsMP() || rows == 0 || cols > math.MaxInt>>32/rows {
		return num.NewMat(f, rows, cols)
	}
	n := rows * cols
	of := num.NewMat(f, 0, 0).Arr.Format
	words := n * of.Limbs()
	a, ok := arrayRoom.Take(words, bufpool.Most(words))
	if ok && cap(a.Exp) >= n {
		a.Format, a.Sig, a.Exp, a.Cls = of, a.Sig[:words], a.Exp[:n], a.Cls[:n]
		clear(a.Sig)
		clear(a.Exp)
		clear(a.Cls)
	} else {
		a = num.New(of, n)
	}
	return num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
}

// PutMatrix puts back what a matrix of TakeMatrix is made of.
func PutMatrix(m num.Mat) {
	a := m.Arr
	if a.Kind != num.MP {
		return
	}
	kept := *a // a matrix that is given back has no numbers
	*a = num.Array{Format: a.Format}
	kept.Sig = kept.Sig[:cap(kept.Sig)]
	arrayRoom.Put(&kept, len(kept.Sig), bufpool.Bytes(kept.Sig)+bufpool.Bytes(kept.Exp)+bufpool.Bytes(kept.Cls))
}

// Release gives back what was taken.
func (s *Run) Release() {
	s.Call.Release()
	for _, m := range s.Away {
		m.Free()
	}
	for _, m := range s.here {
		s.putHere(m)
	}
	s.Reuse = false
	s.Away, s.here, s.Tally, s.Lifting, s.one = nil, nil, nil, nil, num.Mat{}
}

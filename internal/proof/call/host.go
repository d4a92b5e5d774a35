package call

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// Host is the home on the host.
var Host Home = host{}

type host struct{}

func (host) String() string     { return place.Host }
func (host) AtHand() bool       { return true }
func (host) UsesBounds() bool   { return false }
func (host) Decides() bool      { return true }
func (host) place() place.Place { return nil }

func (host) matrix(s *Run, f num.Format, rows, cols int) (num.Mat, error) {
	return s.MatrixHere(f, rows, cols), nil
}

func (host) room(s *Run, f num.Format, rows, cols int) (num.Mat, error) {
	return s.MatrixHere(f, rows, cols), nil
}

// identity takes entry (i, j) from number n - 1 + i - j of 2 n - 1 numbers.
func (host) identity(_ *Run, n int) (num.Mat, error) {
	x := make([]float64, max(2*n-1, 0))
	if n > 0 {
		x[n-1] = 1
	}
	return num.Mat{Arr: num.Float64s(len(x), 1, x).Arr, Off: n - 1, RS: 1, CS: -1, Rows: n, Cols: n}, nil
}

func (host) drop(s *Run, m num.Mat) {
	if i := slices.Index(s.here, m); i >= 0 {
		s.here = slices.Delete(s.here, i, i+1)
		s.putHere(m)
	}
}

func (host) scaled(_ *Run, a num.Mat, by scale.Scaling, most int) (num.Mat, error) {
	return Scaled(a, by, most), nil
}

func (host) sum(s *Run, x, y, z num.Mat, unit *int64, _ byte) error {
	return s.SumHere(x, y, z, unit)
}

func (host) copyNumbers(_ *Run, to, from num.Mat) error {
	for j := range from.Cols {
		for i := range from.Rows {
			to.Arr.CopyFrom(to.At(i, j), from.Arr, from.At(i, j))
		}
	}
	return nil
}

func (host) triangle(s *Run, op place.TriangleOperation, m num.Mat, _ *num.Array) (count int, err error) {
	switch op {
	case place.HalveDiagonal:
		for i := range m.Rows {
			if at := m.At(i, i); m.Arr.Class(at) == num.Finite {
				m.Arr.Exp[at]--
			}
		}
	case place.MirrorLower:
		return 0, par.Each(s.Ctx, s.Threads, m.Cols, func(j int) {
			for i := j + 1; i < m.Rows; i++ {
				m.Arr.CopyFrom(m.At(j, i), m.Arr, m.At(i, j))
			}
		})
	case place.CountNotPositive:
		for i := range m.Rows {
			if c := m.Arr.Cls[m.At(i, i)]; c.Class() != num.Finite || c.Neg() {
				count++
			}
		}
	default:
		return 0, fmt.Errorf("operation %d with a triangle on %s: %w", op, place.Host, place.ErrUnsupported)
	}
	return count, nil
}

func (host) partTriangles(_ *Run, a, lower, upper num.Mat) error {
	for j := range a.Cols {
		for i := range min(j+1, a.Rows) {
			upper.Arr.CopyFrom(upper.At(i, j), a.Arr, a.At(i, j))
		}
		for i := j + 1; i < a.Rows; i++ {
			lower.Arr.CopyFrom(lower.At(i, j), a.Arr, a.At(i, j))
		}
	}
	return nil
}

func (host) measure(_ *Run, list []num.Mat) (x []Extent, err error) {
	for _, m := range list {
		x = append(x, extentHere{m})
	}
	return x, nil
}

func (host) rowSums(s *Run, m num.Mat) (tops []int64, err error) {
	x, err := MagnitudesOf(&s.Call, m)
	if err != nil {
		return nil, err
	}
	for _, sum := range x.Rows() {
		tops = append(tops, int64(SizeOf(sum)))
	}
	return tops, nil
}

func (host) spread(s *Run, a, b num.Mat, columns bool) (byRows, byColumns float64, err error) {
	x, err := MagnitudesOf(&s.Call, a)
	if err != nil {
		return 0, 0, err
	}
	y, err := MagnitudesOf(&s.Call, b)
	if err != nil {
		return 0, 0, err
	}
	if columns {
		byColumns = LargestOf(x.columns(y))
	}
	return LargestOf(x.times(y.Rows())), byColumns, nil
}

func (host) symmetricNorm(_ *Run, m num.Mat) (*big.Float, error) { return symmetricNorm64(m), nil }

// extentHere is the extent of a matrix on the host.
type extentHere struct{ m num.Mat }

func (x extentHere) Norm() *big.Float { return RowNorm64(x.m) }

func (x extentHere) Size() (norm, top int) {
	const low = -bound.MaxBits
	return x.Norm().MantExp(nil), int(slices.Max(ColumnTops(x.m, low)))
}

func (x extentHere) Tops(low int64) []int64 { return ColumnTops(x.m.T(), low) }

func (extentHere) Sums() []int64 { return nil }

func (extentHere) Vectors() *residue.Vectors { return nil }

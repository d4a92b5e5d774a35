package call

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// ColumnTops returns exponents of the largest entries of the columns of a matrix in MP, low for
// zeros.
func ColumnTops(m num.Mat, low int64) []int64 {
	z := make([]int64, m.Cols)
	for j := range z {
		z[j] = low
		for i := range m.Rows {
			if at := m.At(i, j); m.Arr.Class(at) == num.Finite {
				z[j] = max(z[j], int64(m.Arr.Exp[at]))
			}
		}
	}
	return z
}

// RowNorm64 returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func RowNorm64(m num.Mat) *big.Float {
	most := int64(math.MinInt32)
	for _, e := range ColumnTops(m, most) {
		most = max(most, e)
	}
	sums := make([]float64, m.Rows)
	l := m.Arr.Limbs()
	for j := range m.Cols {
		for i := range m.Rows {
			at := m.At(i, j)
			if m.Arr.Class(at) == num.Finite {
				sums[i] += scale.Ldexp(float64(m.Arr.Sig[at*l+l-1]>>12+1), int64(m.Arr.Exp[at])-most-52) + 0x1p-1000
			}
		}
	}
	// Each addition errs by 2^-53 relatively, and the sums of two likewise.
	norm := bound.Upper().SetFloat64(slices.Max(sums) * (1 + float64(float64(2*m.Cols+2)*0x1p-53)))
	return norm.SetMantExp(norm, int(most))
}

// Extents returns what bounds the rows of matrices in MP at the run's place, when all that was
// to be done there is done.
func (s *Run) Extents(list ...num.Mat) ([]place.Extents, error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return nil, err
	}
	x, left, err := newton.Extents(s.Config(), s.Tally, list...)
	if err != nil {
		return nil, err
	}
	for _, y := range x {
		if y.Special || left > 0 {
			return nil, fmt.Errorf("results that are no numbers, or beyond the exponents of formats: %w", ErrRange)
		}
	}
	return x, nil
}

// RowSums returns exponents of bounds of the sums of magnitudes of the rows of a matrix in MP, at
// the run's place, and a bound of the largest.
func (s *Run) RowSums(m num.Mat) (exps []int64, most *big.Float, err error) {
	list, err := s.Extents(m)
	if err != nil {
		return nil, nil, err
	}
	exps, most = Sums(list[0])
	return exps, most, nil
}

// RowNorm returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func (s *Run) RowNorm(m num.Mat) (*big.Float, error) {
	if s.At == nil {
		return RowNorm64(m), nil
	}
	_, most, err := s.RowSums(m)
	return most, err
}

// ColumnTops is the function of that name for a matrix wherever it lives.
func (s *Run) ColumnTops(m num.Mat, low int64) ([]int64, error) {
	if s.At == nil {
		return ColumnTops(m, low), nil
	}
	list, err := s.Extents(m.T())
	if err != nil {
		return nil, err
	}
	return ExtentTops(list[0], low), nil
}

// ExtentTops returns exponents of the largest numbers of rows, low for zeros.
func ExtentTops(x place.Extents, low int64) []int64 {
	z := slices.Clone(x.Top)
	for i, top := range z {
		if top <= NoNumber {
			z[i] = low
		}
	}
	return z
}

// Sums returns exponents of bounds of the sums of magnitudes of rows, and a bound of the largest.
func Sums(x place.Extents) (exps []int64, most *big.Float) {
	exps = make([]int64, len(x.Top))
	top, largest := int64(NoNumber), 0.0
	for i, t := range x.Top {
		if exps[i] = t; t <= NoNumber {
			continue
		}
		frac, e := math.Frexp(x.Norm[i])
		exps[i] += int64(e)
		if exps[i] > top || exps[i] == top && frac > largest {
			top, largest = exps[i], frac
		}
	}
	return exps, bound.ScaledUp(bound.Upper().SetFloat64(largest), max(top, math.MinInt32))
}

// NoNumber is above the exponents of rows of zeros.
const NoNumber = -1 << 60

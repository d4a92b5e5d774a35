package call

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// SizeOf returns an e with |x| ≤ 2^e; math.MaxInt32 if x is infinite or NaN.
func SizeOf(x float64) int {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return math.MaxInt32
	}
	_, e := math.Frexp(x)
	return e
}

// Magnitudes are upper bounds of the magnitudes of the entries of a matrix, by columns.
type Magnitudes struct {
	m, n int
	x    []float64
}

// MagnitudesOf returns bounds of the magnitudes of the entries of a matrix in MP, or infinities for
// numbers beyond 2^1000.
func MagnitudesOf(c *Call, a num.Mat) (Magnitudes, error) {
	m := a
	z := Magnitudes{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols)}
	l := m.Arr.Limbs()
	return z, par.For(c.Ctx, c.Threads, m.Cols, func(_, j int) {
		column := z.x[j*m.Rows : (j+1)*m.Rows]
		for i := range column {
			at := m.At(i, j)
			if m.Arr.Class(at) == num.Finite {
				column[i] = scale.Ldexp(float64(m.Arr.Sig[at*l+l-1]>>12+1)*0x1p-52, int64(m.Arr.Exp[at])) + 0x1p-1000
			}
		}
	})
}

// Rows returns bounds of the row sums.
func (a Magnitudes) Rows() []float64 {
	ones := make([]float64, a.n)
	for i := range ones {
		ones[i] = 1
	}
	return a.times(ones)
}

// times returns bounds of the product with a vector x ≥ 0. Each of n products and sums has a
// relative error of at most 2^-53, which slack covers.
func (a Magnitudes) times(x []float64) []float64 {
	z := make([]float64, a.m)
	for j, f := range x {
		dgemm.AxpyAbs(f, a.x[j*a.m:(j+1)*a.m], z)
	}
	slack := 1 + float64(float64(a.n+4)*0x1p-52)
	for i, v := range z {
		z[i] = float64(v*slack) + 0x1p-900
	}
	return z
}

// transposed returns bounds of the product of the transpose with a vector x ≥ 0.
func (a Magnitudes) transposed(x []float64) []float64 {
	z := make([]float64, a.n)
	slack := 1 + float64(float64(a.m+4)*0x1p-52)
	for j := range z {
		sum := 0.0
		for i, v := range a.x[j*a.m : (j+1)*a.m] {
			sum += float64(v * x[i])
		}
		z[j] = float64(sum*slack) + 0x1p-900
	}
	return z
}

// columns returns bounds of the column sums of A B.
func (a Magnitudes) columns(b Magnitudes) []float64 {
	ones := make([]float64, a.m)
	for i := range ones {
		ones[i] = 1
	}
	return b.transposed(a.transposed(ones))
}

// ColumnTops returns the exponent of the largest entry of each column of a matrix in MP, or low for
// a column of zeros.
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
	// Each addition has a relative error of at most 2^-53, and so has each addition of 2^-1000.
	norm := bound.Upper().SetFloat64(slices.Max(sums) * (1 + float64(float64(2*m.Cols+2)*0x1p-53)))
	return norm.SetMantExp(norm, int(most))
}

// symmetricNorm64 returns an upper bound of the largest sum of magnitudes of a row of a symmetric
// matrix in MP, of which m holds the lower triangle.
func symmetricNorm64(m num.Mat) *big.Float {
	high := int64(math.MinInt32)
	for _, e := range ColumnTops(m, high) {
		high = max(high, e)
	}
	sums := make([]float64, m.Rows)
	l := m.Arr.Limbs()
	for j := range m.Cols {
		for i := j; i < m.Rows; i++ {
			at := m.At(i, j)
			if m.Arr.Class(at) != num.Finite {
				continue
			}
			x := scale.Ldexp(float64(m.Arr.Sig[at*l+l-1]>>12+1), int64(m.Arr.Exp[at])-high-52) + 0x1p-1000
			if sums[i] += x; i != j {
				sums[j] += x
			}
		}
	}
	norm := bound.Upper().SetFloat64(LargestOf(sums) * (1 + float64(float64(2*m.Cols+2)*0x1p-53)))
	norm.SetMantExp(norm, int(high))
	return norm
}

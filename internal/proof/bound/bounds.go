package bound

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Upper returns a 0 of 64 bits for upper bounds: operations that store in it round up.
func Upper() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf) }

// UpperOf returns an upper bound of |x|. Upper().Abs(x) is not used because it would round a
// negative x itself up, towards 0.
func UpperOf(x *big.Float) *big.Float { return Upper().Set(new(big.Float).Abs(x)) }

// ScaledUp returns an upper bound of x 2^e for x ≥ 0. It is not 0 for x > 0, even if x 2^e is below
// all numbers of math/big.
func ScaledUp(x *big.Float, e int64) *big.Float {
	z := Upper().SetMantExp(x, int(max(math.MinInt32, min(e, math.MaxInt32))))
	if z.Sign() == 0 && x.Sign() > 0 {
		z.SetMantExp(big.NewFloat(0.5), big.MinExp)
	}
	return z
}

// Exp2 returns 2^e.
func Exp2(e int) *big.Float { return Upper().SetMantExp(big.NewFloat(1), e) }

// Bounds are upper bounds of the magnitudes of a matrix: X[i + j Rows] 2^Exp[i] bounds entry (i,
// j).
type Bounds struct {
	Rows, Cols int
	X          []float64
	Exp        []int64
}

// zeros is the exponent of a row of zeros.
const zeros = math.MinInt64

// BoundsOf returns bounds of diag(2^-left[i]) M diag(2^-right[j]).
func BoundsOf(m num.Mat, left, right []int64) Bounds {
	b := Bounds{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols), make([]int64, m.Rows)}
	most := b.Exp
	for i := range most {
		most[i] = zeros
	}
	for j := range m.Cols {
		for i, e := range most {
			if c, top, _ := m.Arr.Span(m.At(i, j)); c == num.Finite {
				most[i] = max(e, top-right[j])
			}
		}
	}
	for j := range m.Cols {
		for i := range m.Rows {
			// Leading has a relative error of 2^-48, and Ldexp drops numbers below 2^-1000.
			if x, e := m.Arr.Leading(m.At(i, j)); x != 0 {
				b.X[i+j*m.Rows] = float64(scale.Ldexp(math.Abs(x), e-right[j]-most[i])*(1+0x1p-46)) + 0x1p-1000
			}
		}
	}
	for i, e := range most {
		if e != zeros {
			b.Exp[i] = e - left[i]
		}
	}
	return b
}

// RawBounds returns bounds of a matrix in MP.
func RawBounds(m num.Mat) Bounds {
	return BoundsOf(m, make([]int64, m.Rows), make([]int64, m.Cols))
}

// Sums returns bounds of the row sums.
func (b Bounds) Sums() []*big.Float {
	ones := make([]*big.Float, b.Cols)
	for j := range ones {
		ones[j] = Upper().SetInt64(1)
	}
	return b.Apply(ones)
}

// Norm returns a bound of the largest row sum.
func (b Bounds) Norm() *big.Float { return Largest(b.Sums()) }

// Times returns a bound of the largest entry of the product with a vector y >= 0.
func (b Bounds) Times(y []*big.Float) *big.Float { return Largest(b.Apply(y)) }

// Apply returns bounds of the product with a vector y >= 0.
func (b Bounds) Apply(y []*big.Float) []*big.Float {
	most := Largest(y)
	e := most.MantExp(nil)
	z := make([]*big.Float, b.Rows)
	sums := make([]float64, b.Rows)
	if most.Sign() == 0 {
		for i := range z {
			z[i] = Upper()
		}
		return z
	}
	if most.IsInf() {
		for i, e := range b.Exp {
			if z[i] = Upper(); e != zeros {
				z[i].SetInf(false)
			}
		}
		return z
	}
	for j, v := range y {
		if v.Sign() == 0 {
			continue
		}
		m := new(big.Float)
		k := v.MantExp(m)
		f, _ := m.Float64() // to nearest
		f = scale.Ldexp(f*(1+0x1p-50), int64(k-e)) + 0x1p-1000
		for i, x := range b.X[j*b.Rows : (j+1)*b.Rows] {
			sums[i] += float64(x * f)
		}
	}
	// Each sum of n products has a relative error below (n + 1) 2^-53, and each product loses less
	// than 2^-1074 by underflow.
	slack := 1 + float64(float64(b.Cols+2)*0x1p-52)
	for i, s := range sums {
		if b.Exp[i] == zeros {
			z[i] = Upper()
			continue
		}
		z[i] = Upper().SetFloat64(float64(s*slack) + float64(float64(b.Cols)*0x1p-1000))
		z[i] = ScaledUp(z[i], b.Exp[i]+int64(e))
	}
	return z
}

// Columns returns exponents of bounds of the columns: entries of column j are at most 2^exponent.
func (b Bounds) Columns() []int64 {
	z := make([]int64, b.Cols)
	for j := range z {
		z[j] = math.MinInt32
		for i, x := range b.X[j*b.Rows : (j+1)*b.Rows] {
			if x > 0 && b.Exp[i] != zeros {
				_, e := math.Frexp(x)
				z[j] = max(z[j], int64(e)+b.Exp[i])
			}
		}
	}
	return z
}

// Largest returns the largest number in x, or 0 if x is empty.
func Largest(x []*big.Float) *big.Float {
	z := Upper()
	for _, v := range x {
		if v.Cmp(z) > 0 {
			z = v
		}
	}
	return z
}

// Slight bounds the exponents of errors, in units, to which the 4 units for cutting off add
// noticeably.
const Slight = 8

// MaxBits is the number of bits of the widest format.
const MaxBits = 1 << 20

// Negated returns -x.
func Negated(x []int64) []int64 {
	y := make([]int64, len(x))
	for i := range x {
		y[i] = -x[i]
	}
	return y
}

// Far reports whether a finite matrix has exponents beyond most.
func Far(m num.Mat, most int64) bool {
	v := m
	if v.Arr.Kind != num.MP && most >= 1<<12 {
		return false // their exponents have 11 bits
	}
	bits := int64(v.Arr.Bits())
	for j := range v.Cols {
		for i := range v.Rows {
			if at := v.At(i, j); v.Arr.Kind == num.MP {
				if e := int64(v.Arr.Exp[at]); max(e, bits-e) <= most {
					continue // the usual case
				}
			}
			if _, top, low := v.Arr.Span(v.At(i, j)); max(top, -low) > most {
				return true
			}
		}
	}
	return false
}

// Longest returns the bits of the longest number of a matrix.
func Longest(m num.Mat) int64 {
	most := int64(0)
	v := m
	for j := range v.Cols {
		for i := range v.Rows {
			_, top, low := v.Arr.Span(v.At(i, j))
			most = max(most, top-low)
		}
	}
	return most
}

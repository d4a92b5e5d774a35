// Package gallery has test matrices, each entry rounded once to the format asked for.
//
//	h := gallery.Hilbert(halfulp.MP(200), 12)
//	x, y := gallery.Wampler(halfulp.Float64, 1)
package gallery

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
)

// Hilbert returns the n x n Hilbert matrix, h_ij = RN(1/(i + j + 1)) with i and j counted from 0.
func Hilbert(f halfulp.Format, n int) *halfulp.Matrix {
	m := halfulp.NewMatrix(f, n, n)
	for d := 1; d < 2*n; d++ { // i + j + 1 = d
		i := max(0, d-n)
		setQuotient(m.View().Arr, m.View().At(i, d-1-i), 1, uint64(d))
		s := m.At(i, d-1-i)
		for i++; i < n && i < d; i++ {
			m.Set(i, d-1-i, s)
		}
	}
	return m
}

// setQuotient sets number i of a to x/y, rounded.
func setQuotient(a *num.Array, i int, x, y uint64) {
	// All bits that a rounding reads; Sticky says whether nonzero bits follow.
	shift := uint(max(1300, a.Bits()+128))
	q, r := new(big.Int).SetUint64(x), new(big.Int)
	q.Lsh(q, shift)
	q.QuoRem(q, new(big.Int).SetUint64(y), r)
	v := num.Real{Class: num.Finite, Sticky: r.Sign() != 0, Exp: -int64(shift), Mag: num.FromInt(nil, q)}
	if x == 0 {
		v = num.Real{}
	}
	a.Set(i, v)
}

// Random returns a matrix of independent random numbers 2^u x. x is uniform in (-1, 1) and has
// f.Bits() random significant bits, the first one set, however small it is. u is an integer uniform
// in [-spread, spread], 0 for spread = 0. Numbers outside the range of f become infinite, subnormal
// or zero. It panics if spread is negative. The matrix depends on the arguments alone: its entries
// come column by column from the generator PCG of math/rand/v2.
func Random(f halfulp.Format, rows, cols, spread int, seed uint64) *halfulp.Matrix {
	if spread < 0 {
		panic("gallery: negative spread")
	}
	m := halfulp.NewMatrix(f, rows, cols)
	num.FillRandom(m.View(), spread, seed)
	return m
}

// Vandermonde returns the matrix with one row per node x_i and cols columns, v_ij = RN(x_i^j) with
// j counted from 0.
func Vandermonde(f halfulp.Format, nodes *halfulp.Vector, cols int) *halfulp.Matrix {
	m := halfulp.NewMatrix(f, nodes.Len(), cols)
	for i := range nodes.Len() {
		x := nodes.At(i)
		if x.IsNaN() || x.IsInf(0) {
			setSpecialPowers(m, i, x)
			continue
		}
		v := x.View()
		odd, power, shift := new(big.Int), big.NewInt(1), int64(0) // |x| = odd 2^(v.Exp + shift)
		if v.Class == num.Finite {
			odd.Set(num.ToInt(v.Mag))
			shift = int64(odd.TrailingZeroBits())
			odd.Rsh(odd, uint(shift))
		}
		for j := range cols {
			// x^j, exactly: the odd integer power, of any length, times a power of two whose
			// exponent fits an int64 for every j.
			m.View().Arr.Set(m.View().At(i, j), num.Real{
				Class: num.Finite, Neg: v.Neg && j%2 != 0, Exp: int64(j) * (v.Exp + shift), Mag: num.FromInt(nil, power),
			})
			power.Mul(power, odd)
		}
	}
	return m
}

// setSpecialPowers fills row i with the powers of NaN or an infinity.
func setSpecialPowers(m *halfulp.Matrix, i int, x halfulp.Scalar) {
	for j := range m.Cols() {
		switch {
		case j == 0:
			m.SetFloat64(i, j, 1)
		case x.IsInf(-1) && j%2 == 0:
			m.SetBig(i, j, new(big.Float).SetInf(false))
		default:
			m.Set(i, j, x)
		}
	}
}

// Wampler returns the design matrix X (21 x 6, x_ij = i^j) and the observations y of the
// least-squares problem Wamplerk of the NIST Statistical Reference Datasets, 1 <= k <= 5:
//
//	Wampler1  y = 1 + x + x² + x³ + x⁴ + x⁵
//	Wampler2  y = 1 + x/10 + x²/100 + x³/1000 + x⁴/10000 + x⁵/100000
//	Wampler3  y of Wampler1 + δ
//	Wampler4  y of Wampler1 + 100 δ
//	Wampler5  y of Wampler1 + 10000 δ
//
// for x = 0, 1, ..., 20, with δ orthogonal to the columns of X. So the solution of Wampler2 is 1,
// 1/10, ..., 1/100000, and the others have the solution 1, 1, 1, 1, 1, 1. It panics for other k.
func Wampler(f halfulp.Format, k int) (x *halfulp.Matrix, y *halfulp.Vector) {
	if k < 1 || k > 5 {
		panic("gallery: Wampler problems are numbered 1 to 5")
	}
	const points, degree = 21, 5
	delta := [...]int64{
		759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048,
		-2048, 1838, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 759,
	}
	scale := [...]int64{0, 0, 1, 100, 10000}[k-1]
	x, y = halfulp.NewMatrix(f, points, degree+1), halfulp.NewVector(f, points)
	for i := range int64(points) {
		var sum, tenths, power int64 = 0, 0, 1
		for j := range degree + 1 {
			x.SetFloat64(int(i), j, float64(power))
			sum += power
			tenths = tenths*10 + power // 10^j times the sum in 1/10
			power *= i
		}
		if k == 2 {
			setQuotient(y.View().Arr, int(i), uint64(tenths), 100000)
		} else {
			y.SetFloat64(int(i), float64(sum+scale*delta[i]))
		}
	}
	return x, y
}

package halfulp

import (
	"math/big"
	"math/bits"
	"math/rand/v2"

	"github.com/halfulp/halfulp/internal/num"
)

// Identity returns the n x n identity matrix.
func Identity(f Format, n int) *Matrix {
	m := NewMatrix(f, n, n)
	for i := range n {
		m.SetFloat64(i, i, 1)
	}
	return m
}

// Random returns a matrix of independent random numbers 2^u x. x is uniform in (-1, 1) and has
// f.Bits() random significant bits, the first one set, however small it is. u is an integer uniform
// in [-spread, spread], 0 for spread = 0. Numbers outside the range of f become infinite, subnormal
// or zero. It panics if spread is negative. The matrix depends on the arguments alone: its entries
// come column by column from the generator PCG of math/rand/v2.
func Random(f Format, rows, cols, spread int, seed uint64) *Matrix {
	if spread < 0 {
		panic("halfulp: negative spread")
	}
	const stream = 0x68616c66756c70 // any constant; another one makes other matrices
	r := rand.New(rand.NewPCG(seed, stream))
	m := NewMatrix(f, rows, cols)
	prec := f.Bits()
	words := (prec + 63) / 64
	mag := make([]uint64, words)
	for j := range cols {
		for i := range rows {
			for k := range mag {
				mag[k] = r.Uint64()
			}
			mag[0] &^= 1<<uint(64*words-prec) - 1
			mag[words-1] |= 1 << 63
			// |x| lies in [2^(-g-1), 2^-g) with probability 2^(-g-1).
			w := r.Uint64()
			g := int64(bits.TrailingZeros64(w>>1 | 1<<63))
			x := num.Real{Class: num.Finite, Neg: w&1 != 0, Exp: -g - int64(64*words), Mag: mag}
			if spread > 0 {
				x.Exp += int64(r.Uint64N(2*uint64(spread)+1)) - int64(spread)
			}
			m.mat().Arr.Set(m.mat().At(i, j), x)
		}
	}
	return m
}

// Hilbert returns the n x n Hilbert matrix, h_ij = RN(1/(i + j + 1)) with i and j counted from 0.
func Hilbert(f Format, n int) *Matrix {
	m := NewMatrix(f, n, n)
	for d := 1; d < 2*n; d++ { // i + j + 1 = d
		i := max(0, d-n)
		setQuotient(m.mat().Arr, m.mat().At(i, d-1-i), 1, uint64(d))
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

// Vandermonde returns the matrix with one row per node x_i and cols columns, v_ij = RN(x_i^j) with
// j counted from 0.
func Vandermonde(f Format, nodes *Vector, cols int) *Matrix {
	m := NewMatrix(f, nodes.Len(), cols)
	for i := range nodes.Len() {
		x := nodes.At(i)
		if x.IsNaN() || x.IsInf(0) {
			setSpecialPowers(m, i, x)
			continue
		}
		v := x.value()
		odd, power, shift := new(big.Int), big.NewInt(1), int64(0) // |x| = odd 2^(v.Exp + shift)
		if v.Class == num.Finite {
			odd.Set(num.ToInt(v.Mag))
			shift = int64(odd.TrailingZeroBits())
			odd.Rsh(odd, uint(shift))
		}
		for j := range cols {
			// x^j, exactly: the odd integer power, of any length, times a power of two whose
			// exponent fits an int64 for every j.
			m.mat().Arr.Set(m.mat().At(i, j), num.Real{
				Class: num.Finite, Neg: v.Neg && j%2 != 0, Exp: int64(j) * (v.Exp + shift), Mag: num.FromInt(nil, power),
			})
			power.Mul(power, odd)
		}
	}
	return m
}

// setSpecialPowers fills row i with the powers of NaN or an infinity.
func setSpecialPowers(m *Matrix, i int, x Scalar) {
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
func Wampler(f Format, k int) (x *Matrix, y *Vector) {
	if k < 1 || k > 5 {
		panic("halfulp: Wampler problems are numbered 1 to 5")
	}
	const points, degree = 21, 5
	delta := [...]int64{
		759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048,
		-2048, 1838, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 759,
	}
	scale := [...]int64{0, 0, 1, 100, 10000}[k-1]
	x, y = NewMatrix(f, points, degree+1), NewVector(f, points)
	for i := range int64(points) {
		var sum, tenths, power int64 = 0, 0, 1
		for j := range degree + 1 {
			x.SetFloat64(int(i), j, float64(power))
			sum += power
			tenths = tenths*10 + power // 10^j times the sum in 1/10
			power *= i
		}
		if k == 2 {
			setQuotient(y.vec().Arr, int(i), uint64(tenths), 100000)
		} else {
			y.SetFloat64(int(i), float64(sum+scale*delta[i]))
		}
	}
	return x, y
}

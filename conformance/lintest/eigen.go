package lintest

import (
	"math/big"

	"github.com/halfulp/halfulp"
)

// Inertia returns the numbers of negative and of zero eigenvalues of the symmetric matrix A - m I.
func (a Matrix) Inertia(m *big.Rat) (negative, zero int) { return a.inertia(Identity(len(a)), m) }

// inertia is Inertia for A - m B, by Lagrange's reduction of the quadratic form to a sum of
// squares.
func (a Matrix) inertia(of Matrix, m *big.Rat) (negative, zero int) {
	b := New(len(a), len(a))
	var left []int
	for i := range a {
		for j := range a {
			b[i][j].Sub(a[i][j], new(big.Rat).Mul(m, of[i][j]))
		}
		left = append(left, i)
	}
	for len(left) > 0 {
		at := -1
		for p, i := range left {
			if b[i][i].Sign() != 0 {
				at = p
				break
			}
		}
		if at < 0 {
			// x_i x_j = ((x_i + x_j)² - (x_i - x_j)²)/4: row and column j are added to row and
			// column i.
			i, j := b.coupled(left)
			if i < 0 {
				return negative, zero + len(left)
			}
			for _, k := range left {
				b[i][k].Add(b[i][k], b[j][k])
			}
			for _, k := range left {
				b[k][i].Add(b[k][i], b[k][j])
			}
			continue
		}
		i := left[at]
		left = append(left[:at:at], left[at+1:]...)
		if b[i][i].Sign() < 0 {
			negative++
		}
		for _, j := range left {
			f := new(big.Rat).Quo(b[j][i], b[i][i])
			for _, k := range left {
				b[j][k].Sub(b[j][k], new(big.Rat).Mul(f, b[i][k]))
			}
		}
	}
	return negative, zero
}

// coupled returns two of the given rows with an entry that is not 0, or -1.
func (a Matrix) coupled(rows []int) (i, j int) {
	for p, i := range rows {
		for _, j := range rows[p+1:] {
			if a[i][j].Sign() != 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

// Eigenvalue returns eigenvalue number p, in ascending order from 0, of a symmetric matrix, rounded
// to format f. It bisects an interval until both ends round to one number or the middle is the
// eigenvalue, by exact counts of the eigenvalues below. The interval begins around near, which
// saves time if near is the result or close to it, and else between two powers of two.
func (a Matrix) Eigenvalue(f halfulp.Format, p int, near halfulp.Scalar) halfulp.Scalar {
	x, _ := near.Big().Rat(nil)
	return a.eigenvalue(Identity(len(a)), p, x, f.Bits(), func(x *big.Rat) halfulp.Scalar { return Nearest(f, x) })
}

// Pencil is Eigenvalue for A x = λ B x, with a positive definite B.
func (a Matrix) Pencil(b Matrix, f halfulp.Format, p int, near halfulp.Scalar) halfulp.Scalar {
	x, _ := near.Big().Rat(nil)
	return a.eigenvalue(b, p, x, f.Bits(), func(x *big.Rat) halfulp.Scalar { return Nearest(f, x) })
}

// SingularValue returns the root of eigenvalue number p of A, which has no negative ones, rounded
// to format f.
func (a Matrix) SingularValue(f halfulp.Format, p int, near halfulp.Scalar) halfulp.Scalar {
	x, _ := near.Big().Rat(nil)
	if x != nil {
		x.Mul(x, x)
	}
	return a.eigenvalue(Identity(len(a)), p, x, f.Bits(), func(x *big.Rat) halfulp.Scalar { return NearestRoot(f, big.NewRat(1, 1), x) })
}

// eigenvalue returns eigenvalue number p of A x = λ B x, rounded by round to so many bits.
func (a Matrix) eigenvalue(b Matrix, p int, near *big.Rat, bits int, round func(x *big.Rat) halfulp.Scalar) halfulp.Scalar {
	// side returns 0 if the eigenvalue is x, 1 if it is larger and -1 if it is smaller.
	side := func(x *big.Rat) int {
		below, at := a.inertia(b, x)
		switch {
		case p < below:
			return -1
		case p < below+at:
			return 0
		}
		return 1
	}
	if near != nil && near.Sign() != 0 {
		d := new(big.Rat).Mul(near, power(1-bits))
		lo, hi := new(big.Rat).Sub(near, d), new(big.Rat).Add(near, d)
		if near.Sign() < 0 {
			lo, hi = hi, lo
		}
		if side(lo) > 0 && side(hi) < 0 {
			return bisected(lo, hi, side, round)
		}
	}
	negative, zero := a.inertia(b, new(big.Rat))
	if p >= negative && p < negative+zero {
		return round(new(big.Rat))
	}
	positive := p >= negative
	signed := func(e int) *big.Rat {
		x := power(e)
		if !positive {
			x.Neg(x)
		}
		return x
	}
	// |eigenvalue| lies between 2^low and 2^high.
	beyond := func(e int) bool { s := side(signed(e)); return positive && s > 0 || !positive && s < 0 }
	low, high, step := -1, 0, 1
	for beyond(high) {
		low, high, step = high, high+step, 2*step
	}
	for step = 1; !beyond(low); step *= 2 {
		low, high = low-step, low
	}
	for high-low > 1 {
		if mid := (low + high) / 2; beyond(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	lo, hi := signed(low), signed(high)
	if !positive {
		lo, hi = hi, lo
	}
	return bisected(lo, hi, side, round)
}

// bisected returns the rounded number between lo and hi that side finds.
func bisected(lo, hi *big.Rat, side func(x *big.Rat) int, round func(x *big.Rat) halfulp.Scalar) halfulp.Scalar {
	for {
		if z := round(lo); z.Same(round(hi)) {
			return z
		}
		mid := new(big.Rat).Add(lo, hi)
		mid.Quo(mid, big.NewRat(2, 1))
		switch side(mid) {
		case 0:
			return round(mid)
		case 1:
			lo = mid
		default:
			hi = mid
		}
	}
}

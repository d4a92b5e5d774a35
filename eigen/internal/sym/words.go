package sym

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// Integers and fractions of 64-bit words in two's complement, the least significant one first.

// negate sets z = -z.
func negate(z []uint64) {
	carry := uint64(1)
	for i, v := range z {
		z[i], carry = bits.Add64(^v, 0, carry)
	}
}

// addShifted adds x 2^shift to z, with the sign of x if signed is set. Words beyond the last of z
// are left out.
func addShifted(z, x []uint64, shift uint, signed bool) {
	i, by := int(shift/64), shift%64
	if i >= len(z) {
		return
	}
	extension := uint64(0)
	if signed {
		extension = uint64(int64(x[len(x)-1]) >> 63)
	}
	carry, below := uint64(0), uint64(0)
	z = z[i:]
	k := min(len(x), len(z))
	for i, v := range x[:k] {
		z[i], carry = bits.Add64(z[i], v<<by|below>>(64-by), carry)
		below = v
	}
	if k < len(z) {
		z[k], carry = bits.Add64(z[k], extension<<by|below>>(64-by), carry)
		k++
	}
	// An extension of -1 and a carry change nothing.
	for ; k < len(z) && extension+carry != 0; k++ {
		z[k], carry = bits.Add64(z[k], extension, carry)
	}
}

// addFloat adds v 2^scale to z, cut to its fraction of len(z) - 1 words.
func addFloat(z []uint64, v float64, scale int64) {
	m, e := math.Frexp(v)
	by := int64(e) + scale - 63 + 64*int64(len(z)-1)
	x := int64(m * 0x1p63)
	if by < 0 {
		x, by = x>>min(-by, 63), 0
	}
	addShifted(z, []uint64{uint64(x)}, uint(by), true)
}

// addReal adds x 2^exp, an integer, to z.
func addReal(z []uint64, x num.Real, exp int64) {
	at := x.Exp + exp // of the lowest bit, which may be 0
	i, by := int(at>>6), uint(at&63)
	below, carry := uint64(0), uint64(0)
	for k := range len(z) - min(i, len(z)) { // carries may reach the last word
		v := below >> (64 - by)
		if below = 0; k < len(x.Mag) {
			below = x.Mag[k]
			v |= below << by
		} else if k > len(x.Mag) && carry == 0 {
			return
		}
		switch {
		case i+k < 0: // 0
		case x.Neg:
			z[i+k], carry = bits.Sub64(z[i+k], v, carry)
		default:
			z[i+k], carry = bits.Add64(z[i+k], v, carry)
		}
	}
}

// subtract sets z -= x, for an x without a sign and no more words than z.
func subtract(z, x []uint64) {
	borrow := uint64(0)
	for i, v := range x {
		z[i], borrow = bits.Sub64(z[i], v, borrow)
	}
	for i := len(x); borrow != 0 && i < len(z); i++ {
		z[i], borrow = bits.Sub64(z[i], 0, borrow)
	}
}

// leadingOf returns m 2^e near a number z with a fraction of the given words, 1/2 ≤ |m| < 1 or 0:
// |z| - |m| 2^e is not negative, and at most 2^-52 |z| and a unit of the last place of z.
func leadingOf(z []uint64, fraction int) (m float64, e int64) {
	negative, sign := int64(z[len(z)-1]) < 0, uint64(0)
	if negative {
		sign = math.MaxUint64
	}
	k := len(z) - 1
	for k >= 0 && z[k] == sign {
		k--
	}
	if k < 0 {
		if negative { // the last bit is 1
			return -0.5, 1 - 64*int64(fraction)
		}
		return 0, 0
	}
	// ^z = -z - 1 for a negative z.
	x, below := z[k]^sign, uint64(0)
	if k > 0 {
		below = z[k-1] ^ sign
	}
	by := uint(bits.LeadingZeros64(x))
	x = x<<by | below>>(64-by)
	m, e = float64(x>>11)*0x1p-53, 64*int64(k+1-fraction)-int64(by)
	if negative {
		m = -m
	}
	return m, e
}

// invert sets z = -z - 1.
func invert(z []uint64) {
	for i, v := range z {
		z[i] = ^v
	}
}

// subtractProduct sets z -= x y for a signed x and a y without a sign, whose most significant word
// is the first. z has the words of both or more.
func subtractProduct(z, x, y []uint64) {
	last, low := len(x)-1, 0 // low words are 0
	for low < last && x[low] == 0 {
		low++
	}
	integer := int64(x[last])
	x, z = x[low:last], z[low:]
	if len(x) > 0 && len(y) > 0 {
		var s0, s1, s2, borrow uint64
		at := 0
		for ; at < len(x)+len(y)-1; at++ {
			first := at - (len(y) - 1) // the word of x beside y[0]
			v, u := x[max(0, first):min(at+1, len(x))], y[max(0, -first):]
			for i, u := range u[:len(v)] {
				var carry uint64
				h, l := bits.Mul64(v[i], u)
				s0, carry = bits.Add64(s0, l, 0)
				s1, carry = bits.Add64(s1, h, carry)
				s2, _ = bits.Add64(s2, 0, carry)
			}
			z[at], borrow = bits.Sub64(z[at], s0, borrow)
			s0, s1, s2 = s1, s2, 0
		}
		z[at], borrow = bits.Sub64(z[at], s0, borrow)
		for at++; borrow != 0 && at < len(z); at++ {
			z[at], borrow = bits.Sub64(z[at], 0, borrow)
		}
	}
	if integer == 0 {
		return
	}
	slices.Reverse(y)
	addTimes(z[len(x):], y, -integer)
	slices.Reverse(y)
}

// inner sets z to the sum of x_k y_k for signed numbers x_k of lx words and y_k of ly words, which
// are the same numbers if ly is 0. z has the words of both, which the sum must fit.
func inner(z, x []uint64, lx int, y []uint64, ly int) {
	clear(z)
	square := ly == 0
	if square {
		y, ly = x, lx
	}
	// The words of all fractions: the last word of a number is its integer part.
	for a := range lx - 1 {
		first, twice := 0, uint(0)
		if square {
			first, twice = a, 1
		}
		for b := first; b < ly-1; b++ {
			var s0, s1, s2, carry uint64
			for i, j := a, b; i < len(x) && j < len(y); i, j = i+lx, j+ly {
				high, low := bits.Mul64(x[i], y[j])
				s0, carry = bits.Add64(s0, low, 0)
				s1, carry = bits.Add64(s1, high, carry)
				s2, _ = bits.Add64(s2, 0, carry)
			}
			sum := [...]uint64{s0, s1, s2}
			if a == b {
				addShifted(z[a+b:], sum[:], 0, false)
			} else {
				addShifted(z[a+b:], sum[:], twice, false)
			}
		}
	}
	for i, j := 0, 0; i < len(x); i, j = i+lx, j+ly {
		f, g := int64(x[i+lx-1]), int64(y[j+ly-1])
		addTimes(z[lx-1:], y[j:j+ly-1], f)
		addTimes(z[ly-1:], x[i:i+lx-1], g)
		if v := f * g; v != 0 {
			addShifted(z[lx+ly-2:], []uint64{uint64(v)}, 0, true)
		}
	}
}

// addTimes adds k x to z, for an x without a sign and a small integer k.
func addTimes(z, x []uint64, k int64) {
	for ; k < 0; k++ {
		subtract(z, x)
	}
	for ; k > 0; k-- {
		addShifted(z, x, 0, false)
	}
}

// bigOf returns z, which has a fraction of the given words, exactly.
func bigOf(z []uint64, fraction int) *big.Float {
	z = slices.Clone(z)
	negative := int64(z[len(z)-1]) < 0
	if negative {
		negate(z)
	}
	x := new(big.Float).SetInt(num.ToInt(z))
	if negative {
		x.Neg(x)
	}
	return x.SetMantExp(x, -64*fraction)
}

package decimal

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// maxSchoolbook is the length in words up to which plain loops multiply and divide. Above it,
// math/big's faster algorithms are used (its own threshold for Karatsuba multiplication is 40
// words).
const maxSchoolbook = 64

// mul sets z, of len(x) + len(y) words, to x y.
func mul(z, x, y []uint64) {
	if len(x) > maxSchoolbook && len(y) > maxSchoolbook {
		p := new(big.Int).Mul(num.ToInt(x), num.ToInt(y))
		fromBig(z, p)
		return
	}
	clear(z[:len(x)])
	for j, w := range y {
		z[j+len(x)] = mulAdd(z[j:j+len(x)], x, w)
	}
}

// mulAdd adds x w to z, of the same length, and returns the carry.
func mulAdd(z, x []uint64, w uint64) uint64 {
	var c uint64
	z = z[:len(x)]
	for i, a := range x {
		hi, lo := bits.Mul64(a, w)
		var k uint64
		lo, k = bits.Add64(lo, c, 0)
		hi += k
		z[i], k = bits.Add64(z[i], lo, 0)
		c = hi + k
	}
	return c
}

// mulWord replaces x by x w + c and returns the carry.
func mulWord(x []uint64, w, c uint64) uint64 {
	for i, a := range x {
		hi, lo := bits.Mul64(a, w)
		var k uint64
		x[i], k = bits.Add64(lo, c, 0)
		c = hi + k
	}
	return c
}

// divWord replaces x by its quotient by w and returns the remainder.
func divWord(x []uint64, w uint64) (r uint64) {
	for i := len(x) - 1; i >= 0; i-- {
		x[i], r = bits.Div64(r, x[i], w)
	}
	return r
}

// trim removes leading zero words.
func trim(x []uint64) []uint64 {
	for len(x) > 0 && x[len(x)-1] == 0 {
		x = x[:len(x)-1]
	}
	return x
}

// shiftLeft returns x 2^s, appended to dst[:0].
func shiftLeft(dst, x []uint64, s uint) []uint64 {
	dst = dst[:0]
	for range s / 64 {
		dst = append(dst, 0)
	}
	s %= 64
	if s == 0 {
		return append(dst, x...)
	}
	var low uint64
	for _, w := range x {
		dst = append(dst, w<<s|low)
		low = w >> (64 - s)
	}
	return append(dst, low)
}

// fromBig sets z to x >= 0, which must fit.
func fromBig(z []uint64, x *big.Int) {
	words := num.FromInt(z[:0:len(z)], x)
	clear(z[len(words):])
}

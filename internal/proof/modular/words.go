package modular

import (
	"math/bits"
)

// Balanced returns the integer between -p/2 and p/2 that is v modulo p, v < p.
func (f *Field) Balanced(v uint64) int64 {
	if v > f.P/2 {
		return -int64(f.P - v)
	}
	return int64(v)
}

// Words returns an integer in two's complement modulo p.
func (f *Field) Words(x []uint64) (z uint64) {
	for k := len(x) - 1; k >= 0; k-- {
		z = f.Add(f.Mul(z, f.two64), f.word(x[k]))
		if k == len(x)-1 && int64(x[k]) < 0 {
			z = f.Sub(z, f.One) // 2^64
		}
	}
	return z
}

// Divide divides an integer x in two's complement by p, word by word from the lowest bits on. x has
// about one word more than the integer needs. Divide reports whether the last word of the quotient
// is only its sign, which holds if p divides x and the quotient is small enough. If p does not
// divide x, the computed quotient is not so small.
func (f *Field) Divide(x []uint64) bool {
	inverse, borrow := -f.inverse, uint64(0)
	for k, w := range x {
		w, less := bits.Sub64(w, borrow, 0)
		x[k] = w * inverse
		borrow, _ = bits.Mul64(x[k], f.P)
		borrow += less
	}
	// The last word has only the sign.
	return x[len(x)-1] == uint64(int64(x[len(x)-2])>>63)
}

// Package numtest has numbers and checks for tests of kernels.
package numtest

import (
	"math/big"
	"math/rand/v2"

	"github.com/halfulp/halfulp/internal/num"
)

// Integer returns the integer of these words, the lowest first.
func Integer(mag []uint64) *big.Int {
	z := new(big.Int)
	for k := len(mag) - 1; k >= 0; k-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(mag[k]))
	}
	return z
}

// Signed returns the integer that words in two's complement hold.
func Signed(x []uint64) *big.Int {
	z := Integer(x)
	if int64(x[len(x)-1]) < 0 {
		z.Sub(z, new(big.Int).Lsh(big.NewInt(1), uint(64*len(x))))
	}
	return z
}

// Scaled returns x 2^e.
func Scaled(x *big.Int, e int) *big.Rat {
	z := new(big.Rat).SetInt(x)
	two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e))))
	if e < 0 {
		return z.Quo(z, two)
	}
	return z.Mul(z, two)
}

// Exact returns a finite number.
func Exact(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// Numbers returns numbers of which some are zero, infinite, NaN, short or all ones.
func Numbers(r *rand.Rand, f num.Format, n, trial int) *num.Array {
	a := num.New(f, n)
	l := f.Limbs()
	for i := range n {
		c := num.Finite
		if trial%3 == 0 && r.IntN(8) == 0 {
			c = num.Class(r.IntN(4))
		}
		a.Cls[i] = num.MakeCls(r.IntN(2) == 0, c)
		if c != num.Finite {
			continue
		}
		a.Exp[i] = int32(-r.IntN(4))
		sig := a.Sig[i*l : (i+1)*l]
		for k := range sig {
			switch r.IntN(6) {
			case 0:
			case 1:
				sig[k] = 1<<64 - 1
			default:
				sig[k] = r.Uint64()
			}
		}
		sig[l-1] |= 1 << 63
	}
	return a
}

// Guarded returns n words between guard words, and a check of the guards.
func Guarded[T comparable](n int, guard T) ([]T, func() bool) {
	const room = 16
	s := make([]T, n+2*room)
	for i := range s {
		s[i] = guard
	}
	body := s[room : room+n : room+n]
	var zero T
	for i := range body {
		body[i] = zero
	}
	return body, func() bool {
		for i := range room {
			if s[i] != guard || s[len(s)-1-i] != guard {
				return false
			}
		}
		return true
	}
}

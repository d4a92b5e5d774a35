package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// A Coefficient is the number (-1)^Neg Words 2^Exp, with 32-bit words, least significant first. If
// Plain is set, Words is 1; else the top bit of the last word is set.
type Coefficient struct {
	Words []uint32
	Exp   int64
	Neg   bool
	Plain bool
}

// CoefficientOf returns r as a coefficient, or 0 if r is not finite.
func CoefficientOf(r num.Real) Coefficient {
	if r.Class != num.Finite {
		return Coefficient{Words: []uint32{0}, Plain: true}
	}
	n, tz := num.BitLen(r.Mag), num.TrailingZeros(r.Mag)
	c := Coefficient{Neg: r.Neg, Plain: n == tz+1}
	if c.Plain {
		c.Words, c.Exp = []uint32{1}, r.Exp+int64(tz)
		return c
	}
	count := (n - tz + 31) / 32
	for i := range count {
		c.Words = append(c.Words, uint32(num.WordAt(r.Mag, int64(n-32*(count-i)))))
	}
	c.Exp = r.Exp + int64(n-32*count)
	return c
}

// Leading returns x and e with x 2^e close to the coefficient: its sign and its most significant
// word.
func (c Coefficient) Leading() (x float64, e int64) {
	n := len(c.Words) - 1
	x, e = float64(c.Words[n]), c.Exp+int64(32*n)
	if c.Neg {
		x = -x
	}
	return x, e
}

// Native returns the coefficient for a kernel; at is the device address of its words.
func (c Coefficient) Native(at cuda.Pointer) Scaling {
	s := Scaling{Words: at, Exp: c.Exp, Count: int32(len(c.Words)), Length: int32(32 * len(c.Words)), Neg: Flag(c.Neg), Plain: Flag(c.Plain)}
	if c.Plain {
		s.Length = 1
	}
	return s
}

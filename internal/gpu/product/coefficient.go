package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// A coefficient is (-1)^neg words 2^exp, with 32-bit words. words is 1 if plain is set, else
// the top bit of the last word is set.
type coefficient struct {
	words []uint32
	exp   int64
	neg   bool
	plain bool
}

func coefficientOf(r num.Real) coefficient {
	if r.Class != num.Finite {
		return coefficient{words: []uint32{0}, plain: true}
	}
	n, tz := num.BitLen(r.Mag), num.TrailingZeros(r.Mag)
	c := coefficient{neg: r.Neg, plain: n == tz+1}
	if c.plain {
		c.words, c.exp = []uint32{1}, r.Exp+int64(tz)
		return c
	}
	count := (n - tz + 31) / 32
	for i := range count {
		c.words = append(c.words, uint32(num.WordAt(r.Mag, int64(n-32*(count-i)))))
	}
	c.exp = r.Exp + int64(n-32*count)
	return c
}

// leading returns x and e with x 2^e close to the coefficient.
func (c coefficient) leading() (x float64, e int64) {
	n := len(c.words) - 1
	x, e = float64(c.words[n]), c.exp+int64(32*n)
	if c.neg {
		x = -x
	}
	return x, e
}

// native returns the coefficient with its words at the given place of the device.
func (c coefficient) native(at cuda.Pointer) abi.Scaling {
	s := abi.Scaling{Words: at, Exp: c.exp, Count: int32(len(c.words)), Length: int32(32 * len(c.words)), Neg: abi.Flag(c.neg), Plain: abi.Flag(c.plain)}
	if c.plain {
		s.Length = 1
	}
	return s
}

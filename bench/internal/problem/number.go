package problem

import (
	"math/big"
	"math/bits"
)

// Number is the exact value (-1)^Negative · W · 2^Exponent, with W = Σ Words[i] 2^(64 i).
type Number struct {
	Negative bool
	Words    []uint64
	Exponent int
}

// Big returns the number as a big.Float of the given precision, which must hold it exactly to lose
// nothing.
func (x *Number) Big(precision uint) *big.Float {
	words := make([]big.Word, 0, len(x.Words)*64/bits.UintSize)
	for _, w := range x.Words {
		words = append(words, big.Word(w))
		if bits.UintSize == 32 {
			words = append(words, big.Word(w>>32))
		}
	}
	z := new(big.Float).SetPrec(precision).SetInt(new(big.Int).SetBits(words))
	z.SetMantExp(z, x.Exponent)
	if x.Negative {
		z.Neg(z)
	}
	return z
}

// Float64 returns the number rounded to the nearest double.
func (x *Number) Float64() float64 {
	f, _ := x.Big(uint(len(x.Words)) * 64).Float64()
	return f
}

package halfulp

import (
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

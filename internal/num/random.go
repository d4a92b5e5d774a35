package num

import (
	"math/bits"
	"math/rand/v2"
)

// FillRandom fills m with the numbers that gallery.Random describes. spread is not negative.
func FillRandom(m Mat, spread int, seed uint64) {
	const stream = 0x68616c66756c70 // any constant; another one makes other matrices
	r := rand.New(rand.NewPCG(seed, stream))
	prec := m.Arr.Bits()
	words := (prec + 63) / 64
	mag := make([]uint64, words)
	for j := range m.Cols {
		for i := range m.Rows {
			for k := range mag {
				mag[k] = r.Uint64()
			}
			mag[0] &^= 1<<uint(64*words-prec) - 1
			mag[words-1] |= 1 << 63
			// |x| lies in [2^(-g-1), 2^-g) with probability 2^(-g-1).
			w := r.Uint64()
			g := int64(bits.TrailingZeros64(w>>1 | 1<<63))
			x := Real{Class: Finite, Neg: w&1 != 0, Exp: -g - int64(64*words), Mag: mag}
			if spread > 0 {
				x.Exp += int64(r.Uint64N(2*uint64(spread)+1)) - int64(spread)
			}
			m.Arr.Set(m.At(i, j), x)
		}
	}
}

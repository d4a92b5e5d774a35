package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// weights are the constants that reconstruct a number from its residues y_t >= 0. With W_t =
// floor(M/m_t 2^-cut), and q the integer nearest to 2^-33 sum y_t F_t, the number is 2^cut (sum y_t
// W_t - q floor(M 2^-cut)), with an error of at most err 2^cut.
type weights struct {
	cut   int // a multiple of 32
	words int // of the result, in two's complement
	err   float64
	check *checkWeights // nil without a redundant modulus
}

// reconstruction returns the weights that drop the cutWords lowest words.
func (b *base) reconstruction(cutWords int) weights {
	bits := int(math.Ceil(b.log2M + 1e-6))
	w := weights{cut: 32 * cutWords, words: max(1, (bits+2+31)/32-cutWords)}
	if cutWords > 0 {
		w.err = b.dropped()
	}
	if b.key.checked {
		w.check = b.checkWeights(w)
	}
	return w
}

// dropped bounds the error of reconstruction in units of 2^cut: y_t times the truncation error of
// W_t, which is less than 1, and the same for q, which is the sum of the y_t/m_t.
func (b *base) dropped() float64 {
	e := 1.0
	for t := range b.moduli {
		if t < b.plain {
			e += 256 + 1
		} else {
			e += 1<<16 + 5
		}
	}
	return e
}

// finishStepsFor returns the number of steps of the kernel for n moduli.
func finishStepsFor(n int) int {
	plain := min(n, pool().Plain)
	a, b := abi.Groups(plain, n-plain)
	for _, k := range abi.FinishSteps {
		if 2*k >= a+b {
			return k
		}
	}
	return (a + b + 1) / 2
}

// column returns the position of the factors of a byte of residue t in fragments of mma.m16n8k32:
// the group of 16 factors, and the place in it. upper is 1 for the upper byte of a half word.
func (b *base) column(t, upper int) (group, place int) {
	if t < b.plain {
		return t / 16, t % 16
	}
	bytes, _ := abi.Groups(b.plain, 0)
	u := t - b.plain
	return bytes + u/8, 2*(u%8) + upper
}

// table returns the weights for kernels/exact/finish.cu: the digits in radix 2^8 of F_t and then of
// W_t, least significant first. The upper bytes of half words have the digits of 256 F_t and 256
// W_t. If products are checked, the digits of r_t follow.
func (b *base) table(w weights, steps int) []uint32 {
	words := w.words + 1
	if w.check != nil {
		words++
	}
	tiles := (4*words + abi.TileDigits - 1) / abi.TileDigits
	out := make([]byte, tiles*steps*512)
	for t, m := range b.moduli {
		stream := make([]uint32, words)
		stream[0] = uint32((int64(1)<<abi.QuotientBits + int64(m)/2) / int64(m))
		for i := range w.words {
			stream[i+1] = wordAt(b.words[t], w.cut/32+i)
		}
		if w.check != nil {
			stream[w.words+1] = w.check.rests[t]
		}
		for d := range 4 * len(stream) {
			digit := byte(stream[d/4] >> (d % 4 * 8))
			group, place := b.column(t, 0)
			out[abi.FragmentByte(d/abi.TileDigits, steps, d%abi.TileDigits, group, place)] = digit
			// The digit above, unless it belongs to another number.
			if up := d + 1; t >= b.plain && up != 4 && up != 4*(w.words+1) && up < 4*len(stream) {
				group, place := b.column(t, 1)
				out[abi.FragmentByte(up/abi.TileDigits, steps, up%abi.TileDigits, group, place)] = digit
			}
		}
	}
	return wordsOf(out)
}

// productWords returns the words of floor(M 2^-cut).
func (b *base) productWords(w weights) []uint32 {
	out := make([]uint32, w.words)
	for i := range out {
		out[i] = wordAt(b.words[len(b.moduli)], w.cut/32+i)
	}
	return out
}

func wordAt(x []uint32, i int) uint32 {
	if i >= len(x) {
		return 0
	}
	return x[i]
}

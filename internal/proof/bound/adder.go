package bound

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Adder adds numbers of matrices in MP, into words of its own.
type Adder struct {
	words int
	sum   []uint64
}

// NewAdder returns an adder for sums of the given number of words.
func NewAdder(words int) *Adder { return &Adder{words, make([]uint64, words+1)} }

// Add returns x_ij + y_ij as mag 2^exp, negative if neg. The error is below 2 units of mag, and a
// unit is at most 2^(-64 words) times the power of two above the larger of the two. If both numbers
// are 0 it returns no mag and the exponent 0. mag is valid until the next call.
func (a *Adder) Add(x, y *num.Mat, i, j int) (neg bool, mag []uint64, exp int64) {
	p, q := x.At(i, j), y.At(i, j)
	m, n := x.Arr, y.Arr
	switch first, second := m.Cls[p].Class(), n.Cls[q].Class(); {
	case first == num.Zero && second == num.Zero:
		return false, nil, 0
	case first == num.Zero, second != num.Zero && n.Exp[q] > m.Exp[p]:
		m, n, p, q = n, m, q, p
	}
	// Number p of m is the larger one, up to a factor of 2.
	l := m.Limbs()
	if l == 1 && n.Limbs() == 1 && a.words == 2 { // the usual case: a third of the time
		return a.addWords(m.Sig[p], m.Cls[p].Neg(), n.Sig[q], n.Cls[q].Neg(), n.Class(q) == num.Zero, int64(m.Exp[p]), int64(n.Exp[q]))
	}
	sum := a.sum[:a.words]
	if l > a.words {
		copy(sum, m.Sig[p*l+l-a.words:p*l+l])
	} else {
		clear(sum[:a.words-l])
		copy(sum[a.words-l:], m.Sig[p*l:p*l+l])
	}
	a.sum[a.words] = 0
	neg = m.Cls[p].Neg()
	if n.Cls[q].Class() != num.Zero {
		l = n.Limbs()
		if a.accumulate(n.Sig[q*l:q*l+l], int64(m.Exp[p])-int64(n.Exp[q]), n.Cls[q].Neg() != neg) {
			num.Negate(a.sum)
			neg = !neg
		}
	}
	mag = a.sum
	for len(mag) > 0 && mag[len(mag)-1] == 0 {
		mag = mag[:len(mag)-1]
	}
	return neg, mag, int64(m.Exp[p]) - int64(64*a.words)
}

// addWords is Add for the one-word numbers x 2^(e-64) and y 2^(f-64), with a sum of two words.
func (a *Adder) addWords(x uint64, xNeg bool, y uint64, yNeg, zero bool, e, f int64) (neg bool, mag []uint64, exp int64) {
	hi, lo, more := x, uint64(0), uint64(0)
	if shift := uint64(e - f); !zero && shift < 128 { // f ≤ e
		yHi, yLo := y>>shift, y<<(64-shift)
		if shift >= 64 {
			yLo = y >> (shift - 64)
		}
		var c uint64
		if xNeg == yNeg {
			lo = yLo
			hi, more = bits.Add64(hi, yHi, 0)
		} else {
			lo, c = bits.Sub64(0, yLo, 0)
			if hi, c = bits.Sub64(hi, yHi, c); c != 0 {
				xNeg = !xNeg
				lo, c = bits.Sub64(0, lo, 0)
				hi, _ = bits.Sub64(0, hi, c)
			}
		}
	}
	a.sum[0], a.sum[1], a.sum[2] = lo, hi, more
	count := 3
	switch {
	case more != 0:
	case hi != 0:
		count = 2
	case lo != 0:
		count = 1
	default:
		count = 0
	}
	return xNeg, a.sum[:count], e - 128
}

// accumulate adds a significand, shifted to the right and cut off, to the sum, or subtracts it. It
// reports whether the sum is then negative.
func (a *Adder) accumulate(sig []uint64, shift int64, subtract bool) (negative bool) {
	at := len(sig) - a.words + int(shift>>6) // the word of sig that meets the lowest one of the sum
	if at >= len(sig) {
		return false
	}
	s := uint(shift & 63)
	var carry, word uint64
	if subtract { // no branch: it is random
		carry = 1
	}
	flip := -carry
	if at >= 0 {
		word = sig[at]
	}
	for k, v := range a.sum[:a.words] {
		at++
		var next uint64
		if uint(at) < uint(len(sig)) {
			next = sig[at]
		}
		a.sum[k], carry = bits.Add64(v, (word>>s|next<<1<<(63-s))^flip, carry)
		word = next
	}
	a.sum[a.words] += flip + carry
	return a.sum[a.words] != 0 && subtract
}

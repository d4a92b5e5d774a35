package num

import (
	"math"
	"math/bits"
)

// SetNear stores the number ±mag 2^exp, known to within bound 2^(exp+unit), in number i of a, which
// has format MP, rounded to nearest. The sign is negative for sign 1, otherwise 0. It returns
// false, with nothing stored, if the error might matter or if the exponent is near an end of the
// range.
//
// The number is decided if the 64 bits below the last bit kept are farther than the bound from a
// tie. The bound must be less than a quarter of the last bit kept, because the numbers below a
// power of two are twice as dense.
func (a *Array) SetNear(i int, mag []uint64, exp int64, sign uint64, bound uint64, unit int) bool {
	top := len(mag) - 1
	for top > 0 && mag[top] == 0 {
		top--
	}
	l := a.Limbs()
	lead := bits.LeadingZeros64(mag[top])
	// The word below the words kept, where the number has been shifted to the top of its words.
	if top < l || mag[top] == 0 {
		return false
	}
	left, right := uint(lead)&63, uint(63-lead)&63 // x << lead | y >> (64 - lead)
	to := a.Sig[i*l : (i+1)*l]
	below := top - l
	next := mag[below] // the first word that is not kept
	var rest uint64
	if below > 0 {
		rest = mag[below-1]
	}
	word := next<<left | rest>>1>>right // 64 bits below the l words
	spare := uint(64*l) - uint(a.Prec)  // bits of the l words that are not kept
	low := mag[below+1]<<left | next>>1>>right
	// t has the 64 bits behind the last one kept.
	t := word
	if spare > 0 {
		t = low<<((64-spare)&63) | word>>(spare&63)
	}
	// One unit of mag is 2^(lead - 64 below) units of word, and those are 2^-spare units of t.
	shift := lead - 64*below - int(spare) + unit
	err := uint64(1) << 62
	if shift <= 0 {
		err = min(bound>>(min(63, uint(-shift))&63), 1<<62) + 2
	} else if bits.Len64(bound)+shift <= 61 {
		err = bound<<(uint(shift)&63) + 2
	}
	tie := int64(t ^ 1<<63)
	if tie < 0 {
		tie = -tie
	}
	if err >= 1<<62 || uint64(tie) <= err {
		return false
	}
	e := exp + int64(64*(top+1)-lead)
	if e < math.MinInt32+8 || e > math.MaxInt32-8 {
		return false
	}
	mask := ^(uint64(1)<<(spare&63) - 1)
	w, c := bits.Add64(low&mask, t>>63<<(spare&63), 0)
	to[0] = w
	last := mag[below+1]
	for k, m := range mag[below+2 : top+1] {
		to[k+1], c = bits.Add64(m<<left|last>>1>>right, 0, c)
		last = m
	}
	if c != 0 {
		to[l-1] = 1 << 63
		e++
	}
	a.Exp[i], a.Cls[i] = int32(e), FiniteCls(sign)
	return true
}

package exact

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// bias adds 2^15 to each of the four 16-bit digits of a word. A number with all
// its digits biased has plain digits d + 2^15; taking the bias off again digit
// by digit leaves balanced digits -2^15 <= d < 2^15 of the number itself.
const bias = 0x8000_8000_8000_8000

// digitPairs returns the pairs of balanced 16-bit digits that hold integers
// |a| <= 2^width.
func digitPairs(width int) int { return (width + 2 + 31) / 32 }

// A digitWriter writes balanced 16-bit digits of aligned numbers in the layout of
// a right operand of modgemm.Convert: numbers are its columns, digits its rows.
type digitWriter struct {
	dst   []int16
	nr    int // numbers a panel
	pairs int // pairs of digits a number
}

// put writes the digits of round(mag 2^shift), negated if neg, as number e.
func (d *digitWriter) put(e int, neg bool, mag []uint64, shift int64) {
	at := 2 * (e/d.nr*d.pairs*d.nr + e%d.nr)
	step := 2 * d.nr
	pos := -shift // bit of mag that becomes bit 0
	word, s := int(pos>>6), uint(pos&63)
	// Rounding adds bit pos-1. Negation is ^x + 1, of x + r: ^x + 1 - r.
	carry := num.WordAt(mag, pos-1) & 1
	var flip uint64
	if neg {
		flip = ^uint64(0)
		carry = 1 - carry
	}
	var prev uint64
	if uint(word) < uint(len(mag)) {
		prev = mag[word]
	}
	for p := 0; p < d.pairs; p += 2 {
		word++
		var next uint64
		if uint(word) < uint(len(mag)) {
			next = mag[word]
		}
		x := prev>>s | next<<1<<(63-s)
		prev = next
		x, carry = bits.Add64(x^flip, bias, carry)
		x ^= bias
		o := d.dst[at : at+2 : at+2]
		o[0], o[1] = int16(x), int16(x>>16)
		if at += step; p+1 < d.pairs {
			o := d.dst[at : at+2 : at+2]
			o[0], o[1] = int16(x>>32), int16(x>>48)
			at += step
		}
	}
}

// zero writes the digits of 0 as number e.
func (d *digitWriter) zero(e int) {
	at := 2 * (e/d.nr*d.pairs*d.nr + e%d.nr)
	for range d.pairs {
		d.dst[at], d.dst[at+1] = 0, 0
		at += 2 * d.nr
	}
}

// digits writes numbers h0 <= h < h1 of the vectors v0 <= v < v0+panel, aligned
// to width bits, in the order of a packed operand with panel vectors a panel:
// pair of h after pair, vector after vector. Vectors and numbers beyond the
// operand are zeros, as are infinities and NaN.
func (o *operand) digits(d *digitWriter, v0, panel, h0, h1, width int) {
	a := o.mat.Arr
	limbs := a.Limbs()
	var buf [num.MaxValueWords]uint64
	for h := h0; h < h1; h += 2 {
		for i := range panel {
			v := v0 + i
			for j := h; j < h+2; j++ {
				e := ((h-h0)/2*panel+i)*2 + j - h
				if v >= o.n || j >= o.k {
					d.zero(e)
					continue
				}
				at := o.mat.At(v, j)
				shift := int64(width) - o.exp[v]
				switch a.Kind {
				case num.MP:
					if c := a.Cls[at]; c.Class() == num.Finite {
						d.put(e, c.Neg(), a.Sig[at*limbs:at*limbs+limbs], shift+int64(a.Exp[at])-int64(64*limbs))
					} else {
						d.zero(e)
					}
				default:
					if r := a.Value(at, buf[:]); r.Class == num.Finite {
						d.put(e, r.Neg, r.Mag, shift+r.Exp)
					} else {
						d.zero(e)
					}
				}
			}
		}
	}
}

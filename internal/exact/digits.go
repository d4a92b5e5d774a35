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

// put2 is put for two words of result, pairs being 3 or 4, from a two-word
// magnitude.
func (d *digitWriter) put2(e int, neg bool, lo, hi uint64, shift int64) {
	var x0, x1, carry uint64
	switch pos := uint64(-shift); {
	case pos-1 < 63:
		x0, x1, carry = lo>>pos|hi<<(64-pos), hi>>pos, lo>>(pos-1)&1
	case pos-64 < 64:
		x0 = hi >> (pos - 64)
		carry = lo >> 63
		if pos > 64 {
			carry = hi >> (pos - 65) & 1
		}
	case pos == 128:
		carry = hi >> 63
	case shift >= 0 && shift < 64: // no rounding
		x0, x1 = lo<<uint(shift), hi<<uint(shift)|lo>>1>>(63-uint(shift))
	case shift >= 64 && shift < 128:
		x1 = lo << uint(shift-64)
	}
	if neg {
		x0, x1, carry = ^x0, ^x1, 1-carry
	}
	x0, carry = bits.Add64(x0, bias, carry)
	x1 = x1 + bias + carry
	x0 ^= bias
	x1 ^= bias
	at := 2 * (e/d.nr*d.pairs*d.nr + e%d.nr)
	step := 2 * d.nr
	o := d.dst[at : at+2*step+2]
	o[0], o[1] = int16(x0), int16(x0>>16)
	o[step], o[step+1] = int16(x0>>32), int16(x0>>48)
	o[2*step], o[2*step+1] = int16(x1), int16(x1>>16)
	if d.pairs == 4 {
		o := d.dst[at+3*step : at+3*step+2]
		o[0], o[1] = int16(x1>>32), int16(x1>>48)
	}
}

// digits writes numbers h0 <= h < h1 of the vectors v0 <= v < v0+panel, aligned
// to width bits, in the order of a packed operand with panel vectors a panel:
// pair of h after pair, vector after vector. Vectors and numbers beyond the
// operand are zeros, as are infinities and NaN.
func (o *operand) digits(d *digitWriter, v0, panel, h0, h1, width int) {
	put := o.putAny
	switch two := d.pairs == 3 || d.pairs == 4; {
	case two && o.mat.Arr.Kind == num.F64:
		put = o.putF64
	case two && o.mat.Arr.Kind == num.MP && o.mat.Arr.Limbs() <= 2:
		put = o.putMP2
	case o.mat.Arr.Kind == num.MP:
		put = o.putMP
	}
	for h := h0; h < h1; h += 2 {
		for i := range panel {
			for j := h; j < h+2; j++ {
				e := ((h-h0)/2*panel+i)*2 + j - h
				if v := v0 + i; v < o.n && j < o.k {
					put(d, e, o.mat.At(v, j), int64(width)-o.exp[v])
				} else {
					d.zero(e)
				}
			}
		}
	}
}

func (o *operand) putAny(d *digitWriter, e, at int, shift int64) {
	var buf [num.MaxValueWords]uint64
	if r := o.mat.Arr.Value(at, buf[:]); r.Class == num.Finite {
		d.put(e, r.Neg, r.Mag, shift+r.Exp)
	} else {
		d.zero(e)
	}
}

func (o *operand) putF64(d *digitWriter, e, at int, shift int64) {
	x := o.mat.Arr.F64[0][at]
	if x == 0 || x-x != 0 {
		d.zero(e)
		return
	}
	m, exp := num.Decompose(x)
	d.put2(e, x < 0, m, 0, shift+exp)
}

func (o *operand) putMP(d *digitWriter, e, at int, shift int64) {
	a := o.mat.Arr
	if c := a.Cls[at]; c.Class() == num.Finite {
		l := a.Limbs()
		d.put(e, c.Neg(), a.Sig[at*l:at*l+l], shift+int64(a.Exp[at])-int64(64*l))
	} else {
		d.zero(e)
	}
}

func (o *operand) putMP2(d *digitWriter, e, at int, shift int64) {
	a := o.mat.Arr
	switch c := a.Cls[at]; {
	case c.Class() != num.Finite:
		d.zero(e)
	case a.Prec <= 64:
		d.put2(e, c.Neg(), a.Sig[at], 0, shift+int64(a.Exp[at])-64)
	default:
		d.put2(e, c.Neg(), a.Sig[2*at], a.Sig[2*at+1], shift+int64(a.Exp[at])-128)
	}
}

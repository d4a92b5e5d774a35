package superacc

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// limbSpan is the largest spread of exponents, in bits, of MP numbers that are summed in
// one integer. Numbers of wider spread are added to pages.
const limbSpan = 1 << 13

// inLine returns v, reversed if its stride is negative, and reports whether its entries are
// then adjacent. The order does not change sums.
func inLine(v num.Vec) (num.Vec, bool) {
	if v.Inc == -1 && v.N > 0 {
		v.Off, v.Inc = v.At(v.N-1), 1
	}
	return v, v.Inc == 1
}

// addLimbs adds the MP numbers of x, or their magnitudes, in chunks of similar exponents.
// It returns false if it does not support x.
func (a *Acc) addLimbs(x num.Vec, magnitudes bool) bool {
	x, ok := inLine(x)
	if !ok || x.Arr.Kind != num.MP || x.N == 0 {
		return false
	}
	arr, l := x.Arr, x.Arr.Limbs()
	exp, cls := arr.Exp[x.Off:x.Off+x.N], arr.Cls[x.Off:x.Off+x.N]
	low, high, all := a.scan(exp, cls, magnitudes)
	if low > high { // nothing finite
		return true
	}
	if int64(high)-int64(low) > limbSpan {
		return false
	}
	span := int(int64(high) - int64(low))
	sig := arr.Sig[x.Off*l : (x.Off+x.N)*l]
	bytes := unsafe.Slice((*uint8)(unsafe.Pointer(&cls[0])), len(cls))
	a.seen |= seenFinite
	near := all && span < 63 && l <= maxNear
	switch {
	case span <= sumSpan && l <= 8*sumVectors && len(cls) >= manyDigits && sumUnit():
		a.addDigits(sig, exp, bytes, l, int64(low), magnitudes)
		return true
	case len(cls) >= manyRows && rowSums() && (l >= rowWords || !near):
		a.addRows(sig, exp, bytes, l, int64(high), span, all, magnitudes)
		return true
	case near:
		a.addNear(sig, exp, bytes, l, int64(low)-1, magnitudes)
		return true
	}
	// The most common shifts are small: the largest exponent has shift 8, so that
	// the words above a number seldom see a carry.
	base := int64(low) - (int64(8)-int64(span))&63
	pitch := l + (span+63)/64 + 4
	if cap(a.window) < 2*pitch {
		a.window = make([]uint64, 2*pitch)
	}
	w := a.window[:2*pitch]
	clear(w)
	if Assembly() {
		sumLimbsFast(w, pitch, sig, exp, bytes, l, base)
	} else {
		sumLimbs(w, pitch, sig, exp, bytes, l, base)
	}
	for i := range 2 {
		if m := Trim(w[i*pitch : (i+1)*pitch]); len(m) > 0 {
			a.AddMag(i == 1 && !magnitudes, base-int64(64*l), m)
		}
	}
	return true
}

const (
	sumSpan    = 40 // the largest shift: 2^12 of a word and the shift are below 2^52
	manyDigits = 64 // entries from which sumDigits pays
)

// addDigits adds MP numbers of l words, or their magnitudes. Exponents of finite numbers must be
// from low to low + sumSpan.
//
// The lower word of a column of sumDigits holds sums of 2^12 numbers less than 2^52, and so does
// the upper word: they are less than (2^12 - 1) 2^sumSpan + 2^sumSpan = 2^52. The complement of a
// number of l words is 2^(64 l) - 1 minus the number.
func (a *Acc) addDigits(sig []uint64, exp []int32, cls []uint8, l int, low int64, magnitudes bool) {
	if a.columns == nil {
		a.columns = (*[sumWords]uint64)(Aligned(sumWords))
	}
	if cap(a.window) < l+3 {
		a.window = make([]uint64, l+3)
	}
	out, m := a.columns, a.window[:l+3]
	lanes := 1 // of numbers that share a column
	if l&(l-1) == 0 && l <= 4 {
		lanes = 8 / l
	}
	signs := uint64(1)
	if magnitudes {
		signs = 0
	}
	for most := lanes << 12; len(cls) > 0; {
		n := min(most, len(cls))
		clear(out[:])
		sumDigitsFast(out, sig[:n*l], exp[:n], cls[:n], l, low, signs)
		sig, exp, cls = sig[n*l:], exp[n:], cls[n:]
		clear(m)
		for k := range lanes * l {
			column := out[sumColumns+k/8*16+k%8:]
			addAt(m[k%l:], column[0])
			addAt(m[k%l:], column[8]<<52)
			addAt(m[k%l+1:], column[8]>>12)
		}
		var minus uint64
		for _, x := range out[sumNegatives:sumColumns] {
			minus += x
		}
		addAt(m, minus)
		num.SubShifted(m[l:], []uint64{minus})
		neg := int64(m[l+2]) < 0
		if neg {
			num.Negate(m)
		}
		if t := Trim(m); len(t) > 0 {
			a.AddMag(neg, low-int64(64*l), t)
		}
	}
}

// termsPart is the number of entries that addTerms copies at a time.
const termsPart = 1 << 11

// addTerms adds the entries of x, not of format MP, or their magnitudes. It adds their terms as MP
// numbers of one word, unless a term is infinite or NaN, or a first term is 0.
func (a *Acc) addTerms(x num.Vec, magnitudes bool) {
	count := max(1, x.Arr.Terms())
	if a.terms == nil {
		a.terms = num.New(num.Format{Kind: num.MP, Prec: 64}, 4*termsPart)
	}
	b := a.terms
	for lo := 0; lo < x.N; lo += termsPart {
		part := x.Slice(lo, min(lo+termsPart, x.N))
		ok := true
		for t := range count {
			from := t * termsPart
			exp, cls := b.Exp[from:from+part.N], b.Cls[from:from+part.N]
			for i, at := 0, part.Off; i < part.N; i, at = i+1, at+part.Inc {
				var v float64
				if part.Arr.Kind == num.F32 {
					v = float64(part.Arr.F32[at])
				} else {
					v = part.Arr.F64[t][at]
				}
				cls[i], exp[i] = FloatWord(&b.Sig[from+i], v)
				ok = ok && cls[i].Class() <= num.Finite
			}
		}
		for _, c := range b.Cls[:part.N] {
			ok = ok && c.Class() == num.Finite
		}
		if ok && magnitudes {
			ok = signTerms(b, part.N, count)
		}
		switch {
		case ok:
			for t := range count {
				a.addLimbs(num.Vec{Arr: b, Off: t * termsPart, Inc: 1, N: part.N}, false)
			}
		case IsFloat(x.Arr.Format):
			a.addFloats(sumOf(magnitudes), false, 0, part, part)
		default:
			a.addExpansions(sumOf(magnitudes), false, 0, part, part)
		}
	}
}

func sumOf(absolute bool) addends {
	if absolute {
		return asMagnitudes
	}
	return asNumbers
}

// signTerms makes the n numbers with terms b positive. It returns false unless every nonzero term
// is less than a quarter of the term before, so that numbers have the signs of their first terms,
// see addExpansions.
func signTerms(b *num.Array, n, count int) bool {
	for i := range n {
		last, sign := b.Exp[i], b.Cls[i]&1
		b.Cls[i] ^= sign
		for k := termsPart + i; k < count*termsPart; k += termsPart {
			if b.Cls[k].Class() != num.Finite {
				continue
			}
			if b.Exp[k] > last-3 {
				return false
			}
			b.Cls[k] ^= sign
			last = b.Exp[k]
		}
	}
	return true
}

// addAt adds x to the integer m, which has room for the carry.
func addAt(m []uint64, x uint64) {
	var c uint64
	m[0], c = bits.Add64(m[0], x, 0)
	for k := 1; c != 0; k++ {
		m[k], c = bits.Add64(m[k], 0, c)
	}
}

const (
	manyRows = 512 // entries from which rows pay for their memory
	rowWords = 4   // words of a number from which rows are faster than registers
)

// addRows adds MP numbers of l words, or their magnitudes, whose exponents lie at most span below
// high. all means that all numbers are finite. It neither shifts words nor propagates carries for
// each number: there is one row for every shift modulo 64 and sign, to which words are added as
// they are, and the rows are joined at the end.
func (a *Acc) addRows(sig []uint64, exp []int32, cls []uint8, l int, high int64, span int, all, magnitudes bool) {
	// lead words, in whole vectors, come before the words of the numbers with the largest
	// exponents.
	lead := ((max(span-63, 0)+63)/64 + 3) &^ 3
	base := high - 63 - int64(64*lead)
	half := (lead + l + 3 + 7) &^ 7 // the last vector of a number may reach three words further
	if cap(a.rows) < 512*half {
		a.rows = make([]uint64, 512*half)
	}
	rows, others := a.rows[:256*half], a.rows[256*half:512*half] // zeros
	var used [128]uint8
	signs := uint64(1)
	if magnitudes {
		signs = 0
	}
	two := all && sumRowsNearFast(rows, others, &used, half, sig, exp, cls, l, base, high-int64(span), span, signs)
	if !two {
		sumRowsFast(rows, &used, half, sig, exp, cls, l, base, signs)
	}
	if cap(a.window) < half {
		a.window = make([]uint64, half)
	}
	m := a.window[:half] // two words above the numbers for carries
	for r, u := range used {
		if u == 0 {
			continue
		}
		row := rows[2*half*r : 2*half*(r+1)]
		if two {
			other := others[2*half*r : 2*half*(r+1)]
			for k, x := range other {
				row[k] += x
			}
			clear(other)
		}
		var carry, up uint64 // up: what the high halves of the word below bring
		for k := range half {
			var c uint64
			low, high := row[k], row[k+half]
			m[k], c = bits.Add64(low, high<<32, 0)
			up, c = up+carry, high>>32+c
			m[k], carry = bits.Add64(m[k], up, 0)
			up = c
		}
		clear(row)
		if t := Trim(m); len(t) > 0 {
			a.AddMag(r&1 != 0, base+int64(r/2)-int64(64*l), t)
		}
	}
}

// maxNear is the largest number of words of numbers whose sums fit in registers.
const maxNear = 4

// addNear adds finite MP numbers of l words whose exponents lie in (base, base+64), or their
// magnitudes.
func (a *Acc) addNear(sig []uint64, exp []int32, cls []uint8, l int, base int64, magnitudes bool) {
	var room [maxNear + 2]uint64
	sum, signs := room[:l+2], uint64(1)
	if magnitudes {
		signs = 0
	}
	if Assembly() {
		sumNearFast(sum, sig, exp, cls, l, base, signs)
	} else {
		sumNear(sum, sig, exp, cls, l, base, signs)
	}
	neg := int64(sum[l+1]) < 0
	if neg {
		num.Negate(sum)
	}
	if m := Trim(sum); len(m) > 0 {
		a.AddMag(neg, base-int64(64*l), m)
	}
}

// scan records zeros, infinities and NaN. It returns the least and the largest exponent of
// the finite numbers, and whether all numbers are finite.
func (a *Acc) scan(exp []int32, cls []num.Cls, magnitudes bool) (low, high int32, all bool) {
	bytes := unsafe.Slice((*uint8)(unsafe.Pointer(&cls[0])), len(cls))
	if Assembly() {
		low, high, all = spanFast(exp, bytes)
	} else {
		low, high, all = span(exp, bytes)
	}
	if all {
		return low, high, true
	}
	low, high = math.MaxInt32, math.MinInt32
	for i, c := range cls {
		if c.Class() == num.Finite {
			low, high = min(low, exp[i]), max(high, exp[i])
		} else {
			a.AddSpecial(c.Class(), c.Neg() && !magnitudes)
		}
	}
	return low, high, false
}

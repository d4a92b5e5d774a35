// Package rounding computes rounded significands from the words of many Chinese remainder sums, a
// vector of numbers at a time.
//
// Words of numbers lie in rows: word k of number e at k stride + e.
package rounding

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg rounding

import "unsafe"

// WordBits is the radix of the words of sums.
const WordBits = 39

// lowBits is the number of bits in the lower half of the last word of a modulus.
const lowBits = 31

// Group divides every count of numbers that is passed to this package.
const Group = 8

// A Modulus is the product M of all moduli, by which sums are reduced.
type Modulus struct {
	m         []float64 // words but the last
	low, high int64     // the last one: low + 2^31 high
}

// NewModulus returns M = Σ_w m_w 2^(39 w) of at least one word, 0 <= m_w < 2^39, the last below
// 2^59.
func NewModulus(m []int64) *Modulus {
	last := len(m) - 1
	r := &Modulus{low: m[last] & (1<<lowBits - 1), high: m[last] >> lowBits}
	if m[last]>>59 != 0 {
		panic("rounding: modulus out of range")
	}
	for _, w := range m[:last] {
		if w>>WordBits != 0 {
			panic("rounding: modulus out of range")
		}
		r.m = append(r.m, float64(w))
	}
	return r
}

// Count returns the number of 64-bit words of an integer modulo M.
func (m *Modulus) Count() int { return (WordBits*len(m.m) + 127) / 64 }

// Pad returns the number of zero words that Round requires below the lowest word of its numbers.
func Pad(limbs int) int { return limbs + 2 }

// Integers computes, for e < n, n a multiple of Group,
//
//	x = Σ_w 2^(39 w) (words[(w+1) wordStride + e] - q m_w),  q = floor(words[e] 2^-39 + 1/2),
//
// and writes the m.Count() words of |x| to mag[(pad+k) stride + e], and all ones to neg[e] if x is
// negative, else 0. The words are below 2^62 in magnitude, and |q| <= 2^11.
//
// All operations are exact. Carries are below 2^24, so sums stay below 2^63. A product q m_w, below
// 2^50, is exact in a fused multiply-add to 1.5 2^52, whose low bits are the integer. The last word
// is right modulo 2^64, and |x| < 2^(39 w + 62) is required of it.
func Integers(mag, neg []uint64, pad, stride int, words []int64, wordStride int, m *Modulus, n int) {
	if n%Group != 0 || n > stride || n > wordStride || pad < 0 {
		panic(badSize)
	}
	if n <= 0 {
		return
	}
	rows := pad + m.Count()
	if len(mag) < (rows-1)*stride+n || len(neg) < n || len(words) < (len(m.m)+1)*wordStride+n {
		panic(short)
	}
	integersFast(mag[pad*stride:], neg, stride, words, wordStride, m, n)
}

// A Format is a format of significands: prec bits in Limbs words, the leading bit on top and Spare
// zero bits below.
type Format struct{ Limbs, Spare int }

// FormatOf returns the format of prec > 0 bits.
func FormatOf(prec int) Format {
	limbs := (prec + 63) / 64
	return Format{limbs, 64*limbs - prec}
}

// Round rounds n numbers of count words to nearest. They begin at mag[Pad(f.Limbs) stride], after
// Pad(f.Limbs) rows of zeros. Round stores the significands in z, and exponents b in top: the
// rounded number is its significand, as a fraction in [1/2, 1), times 2^b. n is a multiple of
// Group.
//
// A number of mag stands for any real number within errRow + errCol[e] of it. ok[e] is all ones if
// all these real numbers round to the number written and none is a tie, else 0. It may be 0 without
// need: for 0, and for a number whose first word lies more than one below the first word of another
// number in its group of four.
//
// Let b be the number of bits, drop = b - prec the number of bits dropped, and the tail the 64 bits
// that follow the significand. Then ok means that
//
//   - drop >= 2, or the error is 0;
//   - E = error 2^(53 - drop) < 2^51: the error is less than a quarter of the last place, so that
//     below a power of two it is less than half of the finer last place there;
//   - floor(|tail - 2^63| 2^-11) > E + 2.
//
// The true tail, a real number, lies within 1 + 2^11 E of the tail: 1 for the bits below. So it is
// on the same side of the tie as the tail if |tail - 2^63| > 1 + 2^11 E. The rounding errors of E +
// 2 and of the sum of the errors in float64 are at most 2^-53 (2^51 + 2) each, less than the slack.
// For drop > 1070 E is computed with drop = 1070, which makes it larger.
func Round(z []uint64, top []int64, ok, mag []uint64, stride, count int, f Format, errRow float64, errCol []float64, n int) {
	if n%Group != 0 || n > stride || count < 1 || f.Limbs < 1 || f.Spare < 0 || f.Spare > 63 {
		panic(badSize)
	}
	if n <= 0 {
		return
	}
	if len(z) < (f.Limbs-1)*stride+n || len(top) < n || len(ok) < n || len(errCol) < n || len(mag) < (Pad(f.Limbs)+count-1)*stride+n {
		panic(short)
	}
	roundFast(z, top, ok, mag, stride, count, f, errRow, errCol, n)
}

// Remainders replaces n numbers x by their remainders x - r, where r is x rounded by Round to prec
// bits. The magnitudes, of count words, begin at mag[pad stride]; neg has the signs and top the
// exponents from Round. n is a multiple of Group.
//
// x - r is the remainder of x modulo 2^(top - prec) of the smallest magnitude. It is not a tie if
// Round set ok for x; otherwise the result has no meaning.
func Remainders(mag, neg []uint64, top []int64, pad, stride, count, prec, n int) {
	if n%Group != 0 || n > stride || pad < 0 || count < 1 {
		panic(badSize)
	}
	if n <= 0 {
		return
	}
	if len(mag) < (pad+count-1)*stride+n || len(neg) < n || len(top) < n {
		panic(short)
	}
	remaindersFast(mag[pad*stride:], neg, top, stride, count, prec, n)
}

// MaxExp bounds the exponents of the numbers that Floats returns, so that they are normal numbers.
const MaxExp = 1000

// Floats replaces the n significands of one word that Round left in z by the bits of binary64
// numbers. Number e is z[e], as a fraction in [1/2, 1), times 2^(unit + exps[e] + top[e]). It is
// negative if the lowest bits of neg[e] and flip differ. If the exponent exceeds MaxExp, ok[e]
// becomes 0. Floats returns whether all n numbers are ok; the others have no meaning.
func Floats(z, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	if n < 0 || len(z) < n || len(ok) < n || len(top) < n || len(exps) < n || len(neg) < n {
		panic(short)
	}
	return floatsFast(z, ok, top, exps, unit, neg, flip, n)
}

// Exponents writes the exponents top[e] + exps[e] + unit of n numbers to exp and their classes to
// cls: 2, or 3 for a negative number, for which the lowest bits of neg[e] and flip differ. It skips
// numbers that are not ok. It also skips numbers whose exponent is within 1 of the ends of int32 or
// beyond, and sets their ok[e] to 0. It returns whether all n numbers are ok.
func Exponents[C ~uint8](exp []int32, cls []C, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	if n <= 0 {
		return true
	}
	if len(exp) < n || len(cls) < n || len(ok) < n || len(top) < n || len(exps) < n || len(neg) < n {
		panic(short)
	}
	return exponentsFast(exp, unsafe.Slice((*uint8)(unsafe.Pointer(&cls[0])), n), ok, top, exps, unit, neg, flip, n)
}

// Significands transposes the n significands that Round left in z, so that the words of each are
// adjacent: sig[e limbs + k] = z[k stride + e]. limbs is at least 1.
func Significands(sig, z []uint64, stride, limbs, n int) {
	if limbs < 1 || n > stride {
		panic(badSize)
	}
	if n <= 0 {
		return
	}
	if len(sig) < n*limbs || len(z) < (limbs-1)*stride+n {
		panic(short)
	}
	significandsFast(sig, z, stride, limbs, n)
}

const (
	badSize = "rounding: bad size"
	short   = "rounding: operand too short"
)

package decimal

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Extent describes the requirements of the numbers of a text: the number of digits, and the range.
type Extent struct {
	// Digits is the largest number of significant digits of a decimal that is not an integer,
	// without zeros at either end.
	Digits int
	// Bits is the largest number of significant bits of an integer written in full, or of a
	// hexadecimal number.
	Bits int
	// Integers reports whether some decimal is an integer written in full.
	Integers bool
	// lost reports for each format, F32 to QD, whether its range loses a part of some number that
	// no precision saves: see lostIn.
	lost [num.MP]bool
}

// Add extends e by the number tok, and returns an error if tok is not a number. If whole is set,
// tok must be an integer written without point and exponent.
func (e *Extent) Add(tok []byte, whole bool) error {
	t, err := scan(tok)
	if err != nil {
		return err
	}
	if whole && (!t.whole || t.class > num.Finite) {
		return fmt.Errorf("%s is not an integer", quote(tok))
	}
	if t.class != num.Finite {
		return nil
	}
	switch {
	case t.hex:
		e.addBits(t.exp+int64(bits.TrailingZeros8(hexDigit(t.sig[len(t.sig)-1]))), hexBits(&t))
		return nil
	case t.integral():
		e.Integers = true
		e.addBits(integerBits(&t))
		return nil
	}
	e.Digits = max(e.Digits, t.n)
	if m := t.exp + int64(t.n); m > 38 || t.exp < -44 { // else every format has the range
		for k := range num.MP {
			e.lost[k] = e.lost[k] || lostIn(fixed[k], tok, &t)
		}
	}
	return nil
}

// addBits extends e by an odd integer of n bits times 2^low.
func (e *Extent) addBits(low int64, n int) {
	e.Bits = max(e.Bits, n)
	top := low + int64(n)
	if top <= 128 && low >= -149 { // every format has the range
		return
	}
	for k := range num.MP {
		_, highest, lowest := rangeOf(fixed[k])
		e.lost[k] = e.lost[k] || top > highest || low < lowest
	}
}

// integerBits returns low and n for D 10^exp, exp >= 0, which is an odd integer of n bits times
// 2^low.
func integerBits(t *text) (low int64, n int) {
	if int64(t.n)+t.exp <= 19 {
		d := smallInteger(t) * pow10[t.exp]
		z := bits.TrailingZeros64(d)
		return int64(z), bits.Len64(d) - z
	}
	d := integer(t)
	if t.exp > 0 {
		d.Mul(d, new(big.Int).Exp(big.NewInt(5), big.NewInt(t.exp), nil))
	}
	z := d.TrailingZeroBits()
	return t.exp + int64(z), d.BitLen() - int(z)
}

// smallInteger returns the integer of at most 19 digits.
func smallInteger(t *text) (d uint64) {
	for _, c := range t.sig {
		if c != '.' {
			d = d*10 + uint64(c-'0')
		}
	}
	return d
}

// ExactBits returns the number of significant bits of the number tok. It is not ok for text that is
// not a number, for numbers that no binary number equals, and for decimals with more than limit
// digits or with a decimal exponent beyond ±limit.
func ExactBits(tok []byte, limit int) (n int, ok bool) {
	t, err := scan(tok)
	switch {
	case err != nil || t.class > num.Finite:
		return 0, false
	case t.class == num.Zero:
		return 0, true
	case t.hex:
		return hexBits(&t), true
	case t.n > limit || t.exp > int64(limit) || -t.exp > int64(limit):
		return 0, false
	case t.exp >= 0:
		_, n = integerBits(&t)
		return n, true
	}
	d, rest := integer(&t), new(big.Int)
	d.QuoRem(d, new(big.Int).Exp(big.NewInt(5), big.NewInt(-t.exp), nil), rest)
	return d.BitLen() - int(d.TrailingZeroBits()), rest.Sign() == 0
}

// fixed are the formats of the kinds below num.MP.
var fixed = [num.MP]num.Format{num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble}

// rangeOf returns the decimal exponent of the largest number of a fixed format,
// and the exponents with which all of its numbers are below 2^highest and multiples
// of 2^lowest.
func rangeOf(f num.Format) (top10, highest, lowest int64) {
	if f.Kind == num.F32 {
		return 38, 128, -149
	}
	return 308, 1024, -1074
}

// lostIn reports whether the decimal becomes infinite in format f, or is so small that f lacks bits
// for it. All numbers of f are multiples of 2^lowest. f holds a small decimal if the decimal
// differs from the nearest multiple by at most half a unit of its last digit. So 5e-324 and
// 4.9406564584124654e-324 stand for the least binary64, and 3e-324 does not. Decimals with more
// digits than f holds at all need more bits anyway; lostIn returns false for them.
func lostIn(f num.Format, tok []byte, t *text) bool {
	top10, _, lowest := rangeOf(f)
	m := t.exp + int64(t.n) // 10^(m-1) <= |x| < 10^m
	switch {
	case t.n > HeldDigits(f):
		return false
	case m > top10+1:
		return true
	case m > top10:
		loss, err := NewParser(f).Set(num.New(f, 1), 0, tok)
		return err == nil && loss == ToInf
	}
	// 10^least10 is the first above 2^lowest
	least10 := int64(math.Ceil(float64(lowest) * log10Two))
	switch {
	case t.exp >= least10: // half a unit of the last digit is at least half of 2^lowest
		return false
	case m < least10: // farther than half a unit both from 0 and from 2^lowest, 1.4e-45 or 4.9e-324
		return true
	}
	have, off := offGrid(t, lowest)
	return off && have < f.Bits()
}

// offGrid compares |x| = D 10^exp, exp < 0, with the multiples of 2^lowest. have is the number of
// bits of the multiple below |x|. off reports whether the nearest multiple differs from |x| by more
// than 10^exp/2. D 2^(exp-lowest) must be an integer.
func offGrid(t *text, lowest int64) (have int, off bool) {
	five := new(big.Int).Exp(big.NewInt(5), big.NewInt(-t.exp), nil)
	x := integer(t)
	x.Lsh(x, uint(t.exp-lowest))
	rest := new(big.Int)
	x.QuoRem(x, five, rest) // |x| = (x + rest/five) 2^lowest
	if other := new(big.Int).Sub(five, rest); other.Cmp(rest) < 0 {
		rest = other
	}
	half := new(big.Int).Lsh(big.NewInt(1), uint(t.exp-lowest)-1) // of 10^exp, in 2^lowest/five
	return x.BitLen(), rest.Cmp(half) > 0
}

// Merge extends e by f.
func (e *Extent) Merge(f Extent) {
	e.Digits, e.Bits, e.Integers = max(e.Digits, f.Digits), max(e.Bits, f.Bits), e.Integers || f.Integers
	for k, l := range f.lost {
		e.lost[k] = e.lost[k] || l
	}
}

// Values returns the values of which Merge takes the maxima. ExtentOf is its inverse.
func (e Extent) Values() []int64 {
	list := []int64{int64(e.Digits), int64(e.Bits), b2i(e.Integers)}
	for _, l := range e.lost {
		list = append(list, b2i(l))
	}
	return list
}

// ExtentOf returns the extent with those values.
func ExtentOf(values []int64) Extent {
	e := Extent{Digits: int(values[0]), Bits: int(values[1]), Integers: values[2] > 0}
	for k := range e.lost {
		e.lost[k] = values[3+k] > 0
	}
	return e
}

// Longest returns the digits of the longest decimal that is not an integer; 1 if all decimals are
// integers, and 0 if there are no decimals.
func (e Extent) Longest() int { return max(e.Digits, int(b2i(e.Integers))) }

// hexBits returns the number of bits from the first to the last bit that is set.
func hexBits(t *text) int {
	first, last := hexDigit(t.sig[0]), hexDigit(t.sig[len(t.sig)-1])
	n := 4 * t.n
	for d := first; d < 8; d <<= 1 {
		n--
	}
	for d := last; d&1 == 0; d >>= 1 {
		n--
	}
	return n
}

// Prec returns the precision that distinguishes decimals of the extent's digits, ceil(digits log2
// 10) + 1, or the number of bits of the longest integer or hexadecimal number if that is larger.
func (e Extent) Prec() int {
	p := e.Bits
	if e.Digits > 0 {
		p = max(p, int(math.Ceil(float64(e.Digits)*log2Ten))+1)
	}
	return p
}

// HeldDigits returns the number of digits that a decimal needs at most to distinguish the numbers
// of f, ceil(bits log10 2) + 1: 9 for Float32, 17 for Float64, 33 for DD.
func HeldDigits(f num.Format) int {
	return int(math.Ceil(float64(f.Bits())*log10Two)) + 1
}

// guardBits are added to the precision that holds a decimal, if the rounded decimal will be rounded
// again. Then two roundings differ from one rounding of the decimal only within about 2^-guardBits
// of an ulp of a tie.
const guardBits = 64

// Choose returns f if it holds the numbers of e: no integer or hexadecimal number has more bits
// than f, no other decimal has more than HeldDigits(f) digits, and the range of f loses none
// (lostIn). Else it returns the MP format that holds them. For decimals that format has guardBits
// more than they need and than f has, as far as MP goes. It returns ok = false if no MP holds them.
func (e Extent) Choose(f num.Format) (g num.Format, ok bool) {
	if e.Digits <= HeldDigits(f) && e.Bits <= f.Bits() && (f.Kind == num.MP || !e.lost[f.Kind]) {
		return f, true // no format has a wider range than MP
	}
	p := max(e.Prec(), f.Bits(), num.MinPrec)
	if p > num.MaxPrec {
		return f, false
	}
	if e.Digits > 0 {
		p = min(p+guardBits, num.MaxPrec)
	}
	return num.Format{Kind: num.MP, Prec: uint32(p)}, true
}

// IsZero reports whether tok is a zero of either sign.
func IsZero(tok []byte) bool {
	t, err := scan(tok)
	return err == nil && t.class == num.Zero
}

// Prec returns the precision to which the number tok is rounded for use beside numbers of p bits: p
// or, if more, the precision that holds tok. A decimal that is not an integer and has more digits
// than p bits hold gets guardBits more. For text that is not a number Prec returns p.
func Prec(tok []byte, p int) int {
	var e Extent
	if e.Add(tok, false) != nil {
		return p
	}
	guarded := e.Digits > HeldDigits(num.Format{Kind: num.MP, Prec: uint32(p)})
	if p = max(p, e.Prec()); guarded {
		p += guardBits
	}
	return min(p, num.MaxPrec)
}

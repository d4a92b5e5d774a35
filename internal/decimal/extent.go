package decimal

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Extent tells what the numbers of a text need: how many digits, and how wide a
// range.
type Extent struct {
	Digits int // most significant decimal digits, zeros at either end left out
	Bits   int // most significant bits of a hexadecimal number
	// Whether the range of a format, F32 to QD, takes from some number what no
	// precision saves: see lostIn.
	lost [num.MP]bool
}

// Add extends e by the number tok and returns an error if it is none. whole
// demands an integer written without point and exponent.
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
	if t.hex {
		e.addHex(&t)
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

func (e *Extent) addHex(t *text) {
	n := hexBits(t)
	e.Bits = max(e.Bits, n)
	low := t.exp + int64(bits.TrailingZeros8(hexDigit(t.sig[len(t.sig)-1])))
	top := low + int64(n)
	for k := range num.MP {
		_, highest, lowest := rangeOf(fixed[k])
		e.lost[k] = e.lost[k] || top > highest || low < lowest
	}
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

// lostIn reports whether the decimal becomes infinite in format f, or is so small
// that f lacks bits for it, all its numbers being multiples of 2^lowest: it then
// holds a decimal if that differs from the nearest multiple by at most half a unit
// of its last digit. So 5e-324 and 4.9406564584124654e-324 stand for the least
// binary64, 3e-324 does not. Decimals of more digits than f holds at all need more
// bits anyway and are not looked at.
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

// offGrid compares |x| = D 10^exp, exp < 0, with the multiples of 2^lowest: have is
// the number of bits of the one below it, off whether the nearest one differs from it
// by more than 10^exp/2. D 2^(exp-lowest) must be an integer.
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
	e.Digits, e.Bits = max(e.Digits, f.Digits), max(e.Bits, f.Bits)
	for k, l := range f.lost {
		e.lost[k] = e.lost[k] || l
	}
}

// Values returns what Merge makes the maxima of, and ExtentOf is the reverse.
func (e Extent) Values() []int64 {
	list := []int64{int64(e.Digits), int64(e.Bits)}
	for _, l := range e.lost {
		x := int64(0)
		if l {
			x = 1
		}
		list = append(list, x)
	}
	return list
}

// ExtentOf returns the extent with those values.
func ExtentOf(values []int64) Extent {
	e := Extent{Digits: int(values[0]), Bits: int(values[1])}
	for k := range e.lost {
		e.lost[k] = values[2+k] > 0
	}
	return e
}

// hexBits returns the bits from the first to the last that is set.
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

// Prec returns the precision that holds decimals of that many digits as they
// are meant, ceil(digits log2 10) + 1, or the bits of the longest hexadecimal
// number if that is more.
func (e Extent) Prec() int {
	p := e.Bits
	if e.Digits > 0 {
		p = max(p, int(math.Ceil(float64(e.Digits)*log2Ten))+1)
	}
	return p
}

// HeldDigits returns how many digits a decimal needs at most to tell the numbers
// of f apart, ceil(bits log10 2) + 1: 9 for Float32, 17 for Float64, 33 for DD.
func HeldDigits(f num.Format) int {
	return int(math.Ceil(float64(f.Bits())*log10Two)) + 1
}

// guardBits are added to the precision that holds a decimal where the decimal is
// rounded to be rounded again, so that the second rounding differs from one rounding
// of the decimal only within 2^-guardBits of an ulp of a tie, or so.
const guardBits = 64

// Choose returns f if it holds the numbers of e: no decimal has more than
// HeldDigits(f) digits, no hexadecimal number more bits than f, and none loses by
// the range of f (lostIn). Else it returns the MP format that holds them, with
// guardBits more than decimals need and than f has, as far as MP goes, or ok = false
// if no MP holds them.
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

// Prec returns the precision to round the number tok to for use beside numbers of p
// bits: p or, if that is more, what holds tok, with guardBits more if it is a decimal
// of more digits than p bits hold; p for text that is no number.
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

package decimal

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Extent tells what the numbers of a text need: how many digits, and how wide a
// range.
type Extent struct {
	Digits int // most significant decimal digits, zeros at either end left out
	Bits   int // most significant bits of a hexadecimal number
	// Whether some number loses by range what no precision saves: becomes infinite
	// or zero or, if hexadecimal, loses bits, in Float32; in Float64; or has digits
	// finer than the least binary64, which ends the terms of expansions.
	lost32, lost64, fine bool
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
	e.fine = e.fine || t.exp < -325
	// Only numbers near the ends of the range, 10^(m-1) <= |x| < 10^m, are tried.
	switch m := t.exp + int64(t.n); {
	case m > 309 || m < -324:
		e.lost32, e.lost64 = true, true
	case m > 308 || m < -322:
		e.lost32 = true
		e.lost64 = e.lost64 || lost(num.Float64, tok, &t)
	case m > 39 || m < -45:
		e.lost32 = true
	case m > 38 || m < -43:
		e.lost32 = e.lost32 || lost(num.Float32, tok, &t)
	}
	return nil
}

func (e *Extent) addHex(t *text) {
	n := hexBits(t)
	e.Bits = max(e.Bits, n)
	low := t.exp + int64(bits.TrailingZeros8(hexDigit(t.sig[len(t.sig)-1])))
	top := low + int64(n)
	e.lost32 = e.lost32 || top > 128 || low < -149
	e.lost64 = e.lost64 || top > 1024 || low < -1074
	e.fine = e.fine || low < -1074
}

// lost reports whether the number becomes infinite or zero in format f.
func lost(f num.Format, tok []byte, t *text) bool {
	p := NewParser(f)
	a := num.New(f, 1)
	p.set(a, 0, tok, t)
	var buf [1]uint64
	return a.Value(0, buf[:]).Class != num.Finite
}

// Merge extends e by f.
func (e *Extent) Merge(f Extent) {
	e.Digits, e.Bits = max(e.Digits, f.Digits), max(e.Bits, f.Bits)
	e.lost32, e.lost64, e.fine = e.lost32 || f.lost32, e.lost64 || f.lost64, e.fine || f.fine
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

// Choose returns f if it holds the numbers of e: no decimal has more than
// HeldDigits(f) digits, no hexadecimal number more bits than f, and none is lost
// by the range of f. Else it returns the MP format that holds them, at least as
// precise as f, or ok = false if no MP is that precise.
func (e Extent) Choose(f num.Format) (g num.Format, ok bool) {
	if e.Digits <= HeldDigits(f) && e.Bits <= f.Bits() && e.within(f) {
		return f, true
	}
	p := max(e.Prec(), f.Bits(), num.MinPrec)
	if p > num.MaxPrec {
		return f, false
	}
	return num.Format{Kind: num.MP, Prec: uint32(p)}, true
}

// within reports whether no number is lost by the range of f. No format has a
// wider one than MP.
func (e Extent) within(f num.Format) bool {
	switch f.Kind {
	case num.MP:
		return true
	case num.F32:
		return !e.lost32
	case num.F64:
		return !e.lost64
	}
	return !e.lost64 && !e.fine
}

// IsZero reports whether tok is a zero of either sign.
func IsZero(tok []byte) bool {
	t, err := scan(tok)
	return err == nil && t.class == num.Zero
}

// Prec returns the precision that holds the number tok, 0 for text that is no
// number.
func Prec(tok []byte) int {
	var e Extent
	if e.Add(tok, false) != nil {
		return 0
	}
	return e.Prec()
}

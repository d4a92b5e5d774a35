package decimal

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/num"
)

// Extent tells what numbers of a text need: how many digits, and how large and
// small they are.
type Extent struct {
	Digits int // most significant decimal digits, zeros at either end left out
	Bits   int // most significant bits of a hexadecimal number
	// Every non-zero finite number x has 10^(Low-1) <= |x| < 10^High. Some, Low and
	// High are zero if there is none.
	Some      bool
	Low, High int64
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
	low := t.exp + int64(t.n)
	high := low
	if t.hex {
		e.Bits = max(e.Bits, hexBits(&t))
		top := float64(t.exp + 4*int64(t.n))
		low, high = int64(math.Floor((top-4)*log10Two)), int64(math.Ceil(top*log10Two))
	} else {
		e.Digits = max(e.Digits, t.n)
	}
	e.include(low, high)
	return nil
}

func (e *Extent) include(low, high int64) {
	if !e.Some {
		e.Some, e.Low, e.High = true, low, high
		return
	}
	e.Low, e.High = min(e.Low, low), max(e.High, high)
}

// Merge extends e by f.
func (e *Extent) Merge(f Extent) {
	e.Digits, e.Bits = max(e.Digits, f.Digits), max(e.Bits, f.Bits)
	if f.Some {
		e.include(f.Low, f.High)
	}
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
// HeldDigits(f) digits, no hexadecimal number more bits than f, and none would
// become infinite or zero. Else it returns the MP format that holds them, at
// least as precise as f, or ok = false if no MP is that precise.
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

// within reports whether all numbers lie within the range of f, f's largest
// decade left out.
func (e Extent) within(f num.Format) bool {
	switch f.Kind {
	case num.MP:
		return true // there is no wider format
	case num.F32:
		return e.High <= 38 && e.Low > -45
	}
	return e.High <= 308 && e.Low > -324
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

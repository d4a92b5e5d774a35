// Package decimal turns text into numbers with one rounding and numbers into
// text without loss.
//
// A decimal D 10^q is read by multiplying D with the leading words of 10^q: if
// both ends of the enclosure that this gives round to the same number, that is
// the answer (Ziv's test), else the exact value decides. Printing works the
// same way in the other direction. Powers of ten are kept, so that the common
// path allocates nothing.
package decimal

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
)

// maxExponent clamps exponents of text, from a tenth of it on: 10^±(maxExponent/10)
// lies outside every format, whatever the digits of a text that fits memory, and
// sums of a few such numbers fit an int64.
const maxExponent = 1 << 60

// ErrSyntax is wrapped by errors about text that is no number.
var ErrSyntax = errors.New("not a number")

func syntax(tok []byte) error {
	for _, c := range tok {
		if c < ' ' || c == 0x7f { // no text; half of the bytes of UTF-16 are 0
			return fmt.Errorf("%s is %w: it has a byte 0x%02x", quote(tok), ErrSyntax, c)
		}
	}
	return fmt.Errorf("%s is %w", quote(tok), ErrSyntax)
}

// quote returns tok in quotes, cut where it is long.
func quote(tok []byte) string {
	if len(tok) > 48 {
		return fmt.Sprintf("%q...", tok[:40])
	}
	return fmt.Sprintf("%q", tok)
}

// text is a number as written: (-1)^neg D b^exp, D the integer of the digits
// in sig (which may hold a point), b = 10, or 2 if hex.
type text struct {
	class num.Class
	neg   bool
	hex   bool
	sig   []byte // from the first to the last digit that is not 0
	n     int    // digits in sig
	exp   int64
	field int64 // exponent as written, without the point's share
	whole bool  // neither a point nor an exponent is written
}

// scan splits a number into its parts. It accepts decimal and hexadecimal
// (0x1.8p+3) floating-point numbers and integers with an optional sign, the
// exponent letters e, d and q of either case, and inf, infinity and nan.
func scan(tok []byte) (text, error) {
	var t text
	b := tok
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		t.neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return t, syntax(tok)
	}
	if c := b[0]; c > '9' {
		return t.scanSpecial(tok, b)
	}
	if len(b) > 1 && b[0] == '0' && b[1]|0x20 == 'x' {
		return t.scanHex(tok, b[2:])
	}
	first, last := -1, -1 // first digit and last digit that are not 0
	point := -1
	i := 0
	for ; i < len(b); i++ {
		c := b[i]
		if d := c - '0'; d <= 9 {
			if d != 0 {
				if first < 0 {
					first = i
				}
				last = i
			}
		} else if c == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	end := i
	digits := end
	if point >= 0 {
		digits--
	}
	if digits == 0 {
		return t, syntax(tok)
	}
	t.whole = point < 0
	if i < len(b) {
		switch b[i] | 0x20 {
		case 'e', 'd', 'q':
		default:
			return t, syntax(tok)
		}
		var ok bool
		if t.field, ok = exponent(b[i+1:]); !ok {
			return t, syntax(tok)
		}
		t.whole = false
	}
	t.finish(b, first, last, point, end, 1)
	return t, nil
}

// finish sets class, sig, n and exp for digits in b[:end]; a digit after the
// point is worth scale units of the exponent.
func (t *text) finish(b []byte, first, last, point, end int, scale int64) {
	if first < 0 {
		t.class = num.Zero
		return
	}
	t.class = num.Finite
	t.sig = b[first : last+1]
	t.n = last + 1 - first
	if point < 0 {
		point = end
	} else if first < point && point < last {
		t.n--
	}
	// The last digit of sig stands right of the point by last-point places, or
	// left of it by point-1-last.
	shift := int64(point - 1 - last)
	if last > point {
		shift = int64(point - last)
	}
	t.exp = t.field + scale*shift
}

func (t text) scanSpecial(tok, b []byte) (text, error) {
	switch {
	case fold(b, "inf"), fold(b, "infinity"):
		t.class = num.Inf
	case fold(b, "nan"):
		t.class, t.neg = num.NaN, false
	default:
		return t, syntax(tok)
	}
	return t, nil
}

// fold reports whether b is the lower-case word, whatever its case.
func fold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

func (t text) scanHex(tok, b []byte) (text, error) {
	t.hex = true
	first, last, point, digits := -1, -1, -1, 0
	i := 0
	for ; i < len(b); i++ {
		if b[i] == '.' && point < 0 {
			point = i
			continue
		}
		d := hexDigit(b[i])
		if d > 15 {
			break
		}
		digits++
		if d != 0 {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if digits == 0 {
		return t, syntax(tok)
	}
	t.whole = point < 0
	end := i
	if i < len(b) {
		if b[i]|0x20 != 'p' {
			return t, syntax(tok)
		}
		var ok bool
		if t.field, ok = exponent(b[i+1:]); !ok {
			return t, syntax(tok)
		}
		t.whole = false
	}
	t.finish(b, first, last, point, end, 4)
	return t, nil
}

func hexDigit(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// exponent reads a signed integer; from ±maxExponent/10 on it is ±maxExponent.
func exponent(b []byte) (int64, bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var e int64
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		if e < maxExponent/10 {
			e = e*10 + int64(d)
		} else {
			e = maxExponent // and stays there, with no product that could wrap
		}
	}
	if neg {
		e = -e
	}
	return e, true
}

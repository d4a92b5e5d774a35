// Package decimal turns text into numbers with one rounding and numbers into
// text without loss.
//
// A decimal D 10^q is read by multiplying D by the leading words of 10^q. If both ends of the
// resulting enclosure round to the same number, that number is the result (Ziv's test); else the
// exact value decides. Printing works in the same way in the other direction. Powers of ten are
// kept, so that the common path allocates nothing.
package decimal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
)

// maxExponent clamps exponents of text, from a tenth of it on. 10^±(maxExponent/10) lies outside
// every format, whatever the digits of a text that fits memory, and sums of a few such numbers fit
// an int64.
const maxExponent = 1 << 60

// ErrSyntax is wrapped by errors about text that is not a number.
var ErrSyntax = errors.New("not a number")

// ErrFraction is wrapped, beside ErrSyntax, by errors about fractions.
var ErrFraction = errors.New("a fraction")

func syntax(tok []byte) error {
	if p, q, ok := bytes.Cut(tok, []byte{'/'}); ok && allDigits(bytes.TrimLeft(p, "+-")) && allDigits(q) {
		return fmt.Errorf("%s is %w but %w, which is written as a decimal", quote(tok), ErrSyntax, ErrFraction)
	}
	for _, c := range tok {
		if c < ' ' || c == 0x7f { // not text; half of the bytes of UTF-16 are 0
			return fmt.Errorf("%s is %w: it has a byte 0x%02x", quote(tok), ErrSyntax, c)
		}
	}
	hint := ""
	for _, h := range foreign {
		if bytes.Contains(tok, []byte(h.mark)) {
			hint = ": " + h.hint
			break
		}
	}
	return fmt.Errorf("%s is %w%s", quote(tok), ErrSyntax, hint)
}

// foreign are marks of numbers as other programs write them, each with the text to write instead.
var foreign = []struct{ mark, hint string }{
	{"{", "a list is written as rows of numbers, without brackets"},
	{"[", "a list is written as rows of numbers, without brackets"},
	{"`", "Mathematica's precision, ` and what follows it, is no part of a number"},
	{"*^", "an exponent follows e, not *^"},
	{"/", "a fraction is written as a decimal"},
	{"−", "its minus sign is not that of ASCII, -"},
}

// quote returns tok in quotes, cut if it is long.
func quote(tok []byte) string {
	if len(tok) > 48 {
		return fmt.Sprintf("%q...", tok[:40])
	}
	return fmt.Sprintf("%q", tok)
}

// text is a number as written: (-1)^neg D b^exp. D is the integer of the digits in sig (which may
// hold a point). b = 10, or 2 if hex.
type text struct {
	class num.Class
	neg   bool
	hex   bool
	sig   []byte // from the first to the last digit that is not 0
	n     int    // digits in sig
	exp   int64
	field int64 // exponent as written, without the point's share
	whole bool  // neither a point nor an exponent is written
	bare  bool  // the exponent has no letter
}

// integral reports whether a decimal is an integer that is written in full: its last nonzero digit
// stands for units, or only zeros follow it, without an exponent. Consider a shortest decimal, or a
// decimal with enough digits, of a number of a binary format. If it is an integer written in full,
// it equals that number. Other decimals, such as 1.152921504606847e18, need not.
func (t *text) integral() bool {
	return t.class == num.Finite && !t.hex && (t.exp == 0 || t.exp > 0 && t.field == 0)
}

// scan splits a number into its parts. It accepts decimal and hexadecimal (0x1.8p+3) floating-point
// numbers and integers with an optional sign, the exponent letters e, d and q of either case, and
// inf, infinity and nan. Fortran writes exponents of three digits without a letter, 5.6-304. These
// are accepted after a point only, so that 2026-11 is not a number.
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
	point, i := -1, 0
	for {
		for i+8 <= len(b) && areDigits(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		if i == len(b) || b[i] != '.' || point >= 0 {
			break
		}
		point = i
		i++
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
		rest := b[i+1:]
		switch b[i] | 0x20 {
		case 'e', 'd', 'q':
		case '+', '-':
			const signAndDigits = 4
			if rest = b[i:]; point < 0 || len(rest) != signAndDigits {
				return t, syntax(tok)
			}
			t.bare = true
		default:
			return t, syntax(tok)
		}
		var ok bool
		if t.field, ok = exponent(rest); !ok {
			return t, syntax(tok)
		}
		t.whole = false
	}
	t.finish(b, point, end, 1)
	return t, nil
}

// areDigits reports whether eight bytes are decimal digits: 0x30 to 0x39. Adding 6 takes these to
// at most 0x3f.
func areDigits(x uint64) bool {
	const high, zeros = 0xf0f0f0f0f0f0f0f0, 0x3030303030303030
	return x&high == zeros && (x+0x0606060606060606)&high == zeros
}

// eightDigits returns the number of eight decimal digits, the first in the lowest byte of x. It
// joins pairs of digits, then pairs of pairs, then both halves.
func eightDigits(x uint64) uint64 {
	x -= 0x3030303030303030
	x = x*10 + x>>8 // a pair in every other byte
	const mask = 0x000000ff000000ff
	return ((x&mask)*(100+1000000<<32) + (x>>16&mask)*(1+10000<<32)) >> 32
}

// finish sets class, sig, n and exp for digits in b[:end], one of which may be a point. A digit
// after the point is worth scale units of the exponent.
func (t *text) finish(b []byte, point, end int, scale int64) {
	first, last := 0, end-1 // the nonzero digits
	for first < end && (b[first] == '0' || b[first] == '.') {
		first++
	}
	if first == end {
		t.class = num.Zero
		return
	}
	for b[last] == '0' || b[last] == '.' {
		last--
	}
	t.class = num.Finite
	t.sig = b[first : last+1]
	t.n = last + 1 - first
	if point < 0 {
		point = end
	} else if first < point && point < last {
		t.n--
	}
	// The last digit of sig is last-point places right of the point, or point-1-last places left of
	// it.
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

// fold reports whether b equals the lower-case word, in any case.
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
	point, i := -1, 0
	for ; i < len(b); i++ {
		if hexValues[b[i]] > 15 {
			if b[i] != '.' || point >= 0 {
				break
			}
			point = i
		}
	}
	end := i
	if end == 0 || end == 1 && point == 0 {
		return t, syntax(tok)
	}
	t.whole = point < 0
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
	t.finish(b, point, end, 4)
	return t, nil
}

// hexValues are the values of the hexadecimal digits, 255 for other characters.
var hexValues = func() (v [256]byte) {
	for c := range v {
		v[c] = 255
	}
	for d := range byte(16) {
		v["0123456789abcdef"[d]], v["0123456789ABCDEF"[d]] = d, d
	}
	return v
}()

func hexDigit(c byte) byte { return hexValues[c] }

// hexWord returns the number of 16 hexadecimal digits.
func hexWord(b *[16]byte) uint64 {
	return hexHalf(binary.BigEndian.Uint64(b[:8]))<<32 | hexHalf(binary.BigEndian.Uint64(b[8:]))
}

// hexHalf returns the number of 8 hexadecimal digits, the first in the highest byte of x. A digit's
// value is its low nibble, plus 9 for a letter; bit 6 marks letters.
func hexHalf(x uint64) uint64 {
	x = x&0x0f0f0f0f0f0f0f0f + 9*(x>>6&0x0101010101010101)
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return (x | x>>16) & 0xffffffff
}

// exponent reads a signed integer. From ±maxExponent/10 on it returns ±maxExponent.
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

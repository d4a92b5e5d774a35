package decimal

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/halfulp/halfulp/internal/num"
)

// AppendVerb appends |x|, x number i of a, as package fmt writes the magnitude of a float64 with
// verb e, E, f, F, g, G, x, X or b. prec is the number of digits after the point, for g and G of
// all digits; prec < 0 stands for the verb's default. Infinities and NaN are inf and nan. The
// digits are the exact value's, rounded to nearest even. Without a precision, g writes the shortest
// digits that read back to x in its format, and x is exact. The integer of b has as many bits as
// the format's numbers, fewer for subnormal ones, and is odd for DD, TD and QD.
func (p *Printer) AppendVerb(dst []byte, a *num.Array, i int, verb byte, prec int, sharp bool) []byte {
	r := a.Value(i, p.value)
	r.Neg = false
	switch r.Class {
	case num.NaN:
		return append(dst, "nan"...)
	case num.Inf:
		return append(dst, "inf"...)
	}
	start := len(dst)
	switch verb {
	case 'b':
		return p.appendBinary(dst, r)
	case 'e', 'E':
		if prec < 0 {
			prec = 6
		}
		digits, point := p.verbDigits(a, i, r, Style(prec+1))
		dst = appendExponential(dst, digits, point, prec, verb)
	case 'f', 'F':
		if prec < 0 {
			prec = 6
		}
		dst = appendPlain(dst, r, prec)
	case 'x', 'X':
		dst = appendRoundedHex(dst, r, prec, verb)
	default:
		dst = p.appendGeneral(dst, a, i, r, verb, prec)
	}
	if sharp {
		dst = keepZeros(dst, start, verb, prec)
	}
	return dst
}

// verbDigits returns digits without trailing zeros, "0" for 0.
func (p *Printer) verbDigits(a *num.Array, i int, r num.Real, style Style) (digits []byte, point int64) {
	if r.Class == num.Zero {
		return []byte("0"), 1
	}
	point = p.decimal(a, i, r, style)
	return trimZeros(p.digits), point
}

// appendExponential writes 0.digits 10^point with prec digits after the first.
func appendExponential(dst, digits []byte, point int64, prec int, verb byte) []byte {
	dst = append(dst, digits[0])
	if prec > 0 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
		dst = append(dst, bytes.Repeat([]byte{'0'}, prec+1-len(digits))...)
	}
	return appendExponent(append(dst, verb), point-1)
}

// appendExponent writes a sign and at least two digits.
func appendExponent(dst []byte, e int64) []byte {
	sign := byte('+')
	if e < 0 {
		sign, e = '-', -e
	}
	dst = append(dst, sign)
	if e < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, e, 10)
}

// appendPlain writes r with prec digits after the point: the integer nearest to r 10^prec.
func appendPlain(dst []byte, r num.Real, prec int) []byte {
	digits := strconv.AppendInt(nil, 0, 10)
	// Below 2^-4 10^-prec all is 0.
	if r.Class != num.Zero && r.Exp+int64(num.BitLen(r.Mag)) > -4*int64(prec)-4 {
		digits = roundShifted(scaledInteger(r, prec), r.Exp).Append(nil, 10)
	}
	if short := prec + 1 - len(digits); short > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, short), digits...)
	}
	n := len(digits) - prec
	dst = append(dst, digits[:n]...)
	if prec > 0 {
		dst = append(append(dst, '.'), digits[n:]...)
	}
	return dst
}

// scaledInteger returns Mag 10^prec.
func scaledInteger(r num.Real, prec int) *big.Int {
	n := toInt(r.Mag)
	return n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(prec)), nil))
}

// toInt returns the integer of 64-bit words.
func toInt(words []uint64) *big.Int {
	b := make([]byte, 8*len(words))
	for k, w := range words {
		for j := range 8 {
			b[len(b)-1-8*k-j] = byte(w >> (8 * j))
		}
	}
	return new(big.Int).SetBytes(b)
}

// roundShifted returns the integer nearest to n 2^e, ties to even.
func roundShifted(n *big.Int, e int64) *big.Int {
	if e >= 0 {
		return n.Lsh(n, uint(e))
	}
	half := n.Bit(int(-e-1)) != 0
	tie := half && int64(n.TrailingZeroBits()) == -e-1
	n.Rsh(n, uint(-e))
	if half && (!tie || n.Bit(0) != 0) {
		n.Add(n, big.NewInt(1))
	}
	return n
}

// appendGeneral writes r with an exponent if the exponent is less than -4, or not less than the
// requested number of digits (6 for the shortest); else without.
func (p *Printer) appendGeneral(dst []byte, a *num.Array, i int, r num.Real, verb byte, prec int) []byte {
	style := Style(prec)
	if prec == 0 {
		style = 1
	}
	if prec < 0 {
		style = Shortest
	}
	digits, point := p.verbDigits(a, i, r, style)
	n := int64(len(digits))
	limit := int64(style)
	if limit > n && n >= point {
		limit = n
	}
	if style == Shortest {
		limit = 6
	}
	switch {
	case point-1 < -4 || point-1 >= limit:
		return appendExponential(dst, digits, point, len(digits)-1, verb+'e'-'g')
	case point <= 0:
		dst = append(dst, '0', '.')
		dst = append(dst, bytes.Repeat([]byte{'0'}, int(-point))...)
		return append(dst, digits...)
	case point >= n:
		dst = append(dst, digits...)
		return append(dst, bytes.Repeat([]byte{'0'}, int(point-n))...)
	}
	dst = append(dst, digits[:point]...)
	return append(append(dst, '.'), digits[point:]...)
}

// appendRoundedHex writes r as 0x1.8p+03 with prec hexadecimal digits after the point.
func appendRoundedHex(dst []byte, r num.Real, prec int, verb byte) []byte {
	text, e := bytes.Repeat([]byte{'0'}, max(prec, 0)+1), int64(0)
	if r.Class != num.Zero {
		// The leading bit is a digit by itself, and whole digits follow.
		bits := int64(num.BitLen(r.Mag)) - 1
		after := (bits - int64(num.TrailingZeros(r.Mag)) + 3) / 4
		if prec >= 0 {
			after = int64(prec)
		}
		n := roundShifted(toInt(r.Mag), 4*after-bits)
		e = r.Exp + bits
		if int64(n.BitLen()) > 4*after+1 { // carried
			n.Rsh(n, 1)
			e++
		}
		text = n.Append(nil, 16)
	}
	if verb == 'X' {
		text = bytes.ToUpper(text)
	}
	dst = append(dst, '0', verb, text[0])
	if len(text) > 1 {
		dst = append(append(dst, '.'), text[1:]...)
	}
	return appendExponent(append(dst, verb-'x'+'p'), e)
}

// appendBinary writes r as an integer and a power of two.
func (p *Printer) appendBinary(dst []byte, r num.Real) []byte {
	n, e := toInt(r.Mag), r.Exp
	switch p.f.Kind {
	case num.F32:
		if r.Class == num.Zero {
			e = -149
		}
		e, n = fitted(n, e, 24, -149)
	case num.F64:
		if r.Class == num.Zero {
			e = -1074
		}
		e, n = fitted(n, e, 53, -1074)
	case num.MP:
		if r.Class == num.Zero {
			return append(dst, '0')
		}
		e, n = fitted(n, e, int64(p.f.Prec), -1<<62)
	default:
		low := n.TrailingZeroBits()
		n.Rsh(n, low)
		e += int64(low)
	}
	dst = append(n.Append(dst, 10), 'p')
	if e >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, e, 10)
}

// fitted returns n 2^e with bits bits, or fewer where e would be less than lowest.
func fitted(n *big.Int, e, bits, lowest int64) (int64, *big.Int) {
	s := max(int64(n.BitLen())-bits, lowest-e)
	if n.Sign() == 0 {
		s = 0
	}
	if s >= 0 {
		n.Rsh(n, uint(s))
	} else {
		n.Lsh(n, uint(-s))
	}
	return e + s, n
}

// keepZeros adds to the number that begins at start a point, and for g the zeros that complete prec
// digits (6 without a precision), as the flag # requires.
func keepZeros(dst []byte, start int, verb byte, prec int) []byte {
	want := 0
	switch verb {
	case 'g', 'G':
		want = prec
		if prec < 0 {
			want = 6
		}
	}
	end := len(dst)
	if k := bytes.IndexAny(dst[start:], "pP"); k >= 0 {
		end = start + k
	} else if k := bytes.IndexAny(dst[start:], "eE"); k >= 0 {
		end = start + k
	}
	tail := bytes.Clone(dst[end:])
	dst = dst[:end]
	point, started := false, false
	for _, c := range dst[start:] {
		switch {
		case c == '.':
			point = true
			continue
		case c != '0':
			started = true
		}
		if started {
			want--
		}
	}
	if !point {
		if string(dst[start:]) == "0" {
			want--
		}
		dst = append(dst, '.')
	}
	for ; want > 0; want-- {
		dst = append(dst, '0')
	}
	return append(dst, tail...)
}

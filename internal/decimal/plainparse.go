package decimal

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Numbers written without an exponent, I.c₀c₁..., I < 10^19 and each c_k of 19 digits, are a sum of
// products of one word with a constant:
//
//	x = I + Σ c_k 10^(-19 (k+1)).
//
// With T_k = ⌊10^(-19 (k+1)) 2^(64 w)⌋ the sum S = I 2^(64 w) + Σ c_k T_k of n chunks satisfies
//
//	0 <= x 2^(64 w) - S < Σ c_k < n 10^19.
//
// T_k has w - k words for k < 70, so that the sum takes half as many products as multiplying the
// integer of all digits by a power of ten.

const (
	// minPlain is the largest number of characters of a number that setSmall may handle.
	minPlain = 22
	// maxPlainWords bounds w, and so k.
	maxPlainWords = 48
	// maxPlainZeros bounds the zeros that begin a number below 1.
	maxPlainZeros = 19
	// plainGuard is the number of bits below half an ulp that decide: of 2^12 numbers two are left
	// open.
	plainGuard = 12
)

// plainTable returns T_0, T_1, ... for w words, w <= maxPlainWords.
func plainTable(w int) [][]uint64 {
	t := make([][]uint64, w)
	for k := range t {
		x := new(big.Int).Lsh(big.NewInt(1), uint(64*w))
		t[k] = num.FromInt(nil, x.Quo(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(19*(k+1))), nil)))
	}
	return t
}

// setPlain stores a number of an MP format that is written without an exponent and has digits after
// the point, as most numbers have. It returns false for numbers that it does not handle.
func (p *Parser) setPlain(a *num.Array, i int, tok []byte) bool {
	neg := len(tok) > 0 && tok[0] == '-'
	b := tok
	if neg {
		b = b[1:]
	}
	var whole uint64
	at := 0
	for ; at < len(b) && at < 19 && b[at]-'0' <= 9; at++ {
		whole = whole*10 + uint64(b[at]-'0')
	}
	if at == len(b) || b[at] != '.' {
		return false
	}
	digits := b[at+1:]
	n := (len(digits) + 18) / 19
	// Below half an ulp there are the bits of the error, which is below 2^(64 + length of n), and
	// the guard bits; x > 2^-lead.
	lead := 0
	if whole == 0 {
		for lead < len(digits) && digits[lead] == '0' {
			lead++
		}
		if lead > maxPlainZeros {
			return false
		}
		lead = (lead+1)*10/3 + 1
	}
	w := (int(p.f.Prec) + 1 + plainGuard + 64 + bits.Len(uint(n)) + lead + 63) / 64
	if n == 0 || n > w || w > maxPlainWords {
		return false
	}
	if p.plain[w] == nil {
		p.plain[w] = plainTable(w)
	}
	s := sized(&p.sum, w+1)
	clear(s)
	s[w] = whole
	for _, t := range p.plain[w][:n] {
		var c uint64
		var ok bool
		if len(digits) >= 19 {
			c, ok = chunk((*[19]byte)(digits))
			digits = digits[19:]
		} else {
			last := [19]byte([]byte("0000000000000000000"))
			copy(last[:], digits)
			c, ok = chunk(&last)
		}
		if !ok {
			return false
		}
		carry := mulAdd(s[:len(t)], t, c)
		for k := len(t); carry != 0; k++ {
			s[k], carry = bits.Add64(s[k], carry, 0)
		}
	}
	half := int64(num.BitLen(s)) - int64(p.f.Prec) - 1 // position of half an ulp
	if half-plainGuard < int64(64+bits.Len(uint(n))) {
		return false
	}
	// If the bits from half an ulp down are neither all 0 nor all 1, adding less than a unit of the
	// last of them carries nothing above and makes no tie: all of the enclosure rounds like S.
	if g := num.WordAt(s, half-plainGuard) & (1<<plainGuard - 1); g == 0 || g == 1<<plainGuard-1 {
		return false
	}
	a.Set(i, num.Real{Class: num.Finite, Neg: neg, Exp: int64(-64 * w), Mag: s})
	return true
}

// chunk returns the number of 19 digits; it is not ok for other characters.
func chunk(b *[19]byte) (c uint64, ok bool) {
	x, y, z := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[11:])
	three := uint64(b[16])*100 + uint64(b[17])*10 + uint64(b[18]) - 111*'0'
	return eightDigits(x)*1e11 + eightDigits(y)*1000 + three, areDigits(x) && areDigits(y) && areDigits(z)
}

package decimal

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// ErrNotRational is wrapped by errors about infinities and NaN, and about fractions over 0.
var ErrNotRational = errors.New("no rational number")

// mostRatExponent bounds the exponents of numbers that Rat reads, so that 1e999999999 takes no
// memory.
const mostRatExponent = 1000000

// Rat returns the rational number that tok denotes: a number as a Parser reads it, exactly, or a
// fraction of two integers, such as -7/15. Exponents are at most 10^6 in magnitude. The error wraps
// ErrSyntax or ErrNotRational.
func Rat(tok []byte) (*big.Rat, error) {
	if p, q, ok := bytes.Cut(tok, []byte{'/'}); ok {
		return fraction(tok, p, q)
	}
	t, err := scan(tok)
	if err != nil {
		return nil, err
	}
	switch t.class {
	case num.Zero:
		return new(big.Rat), nil
	case num.Inf, num.NaN:
		return nil, fmt.Errorf("%s is %w: exact numbers are finite", quote(tok), ErrNotRational)
	}
	base, letters := 10, "e"
	if t.hex {
		base, letters = 16, "p"
	}
	if max(t.field, -t.field) > mostRatExponent {
		return nil, fmt.Errorf("%s: an exponent beyond ±%d after %s: exact numbers have none so large", quote(tok), mostRatExponent, letters)
	}
	n, ok := new(big.Int).SetString(string(bytes.Replace(t.sig, []byte{'.'}, nil, 1)), base)
	if !ok {
		return nil, syntax(tok)
	}
	if t.neg {
		n.Neg(n)
	}
	e := uint(max(t.exp, -t.exp))
	power := new(big.Int)
	if t.hex {
		power.Lsh(big.NewInt(1), e)
	} else {
		power.Exp(big.NewInt(10), big.NewInt(int64(e)), nil)
	}
	if t.exp < 0 {
		return new(big.Rat).SetFrac(n, power), nil
	}
	return new(big.Rat).SetInt(n.Mul(n, power)), nil
}

// fraction returns p/q.
func fraction(tok, p, q []byte) (*big.Rat, error) {
	digits := p
	if len(p) > 0 && (p[0] == '-' || p[0] == '+') {
		digits = p[1:]
	}
	if !allDigits(digits) || !allDigits(q) {
		return nil, fmt.Errorf("%s is %w: a fraction consists of two integers", quote(tok), ErrSyntax)
	}
	n, ok1 := new(big.Int).SetString(string(p), 10)
	d, ok2 := new(big.Int).SetString(string(q), 10)
	if !ok1 || !ok2 {
		return nil, syntax(tok)
	}
	if d.Sign() == 0 {
		return nil, fmt.Errorf("%s is %w: its denominator is 0", quote(tok), ErrNotRational)
	}
	return new(big.Rat).SetFrac(n, d), nil
}

// allDigits reports whether b consists of decimal digits and has at least one.
func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

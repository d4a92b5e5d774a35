package main

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/raw"
)

// maxExactExponent bounds the decimal exponents of factors that are looked at for
// an exact binary form, so that 1e999999999 costs no memory.
const maxExactExponent = 10000

var decimalNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD]([+-]?[0-9]+))?$`)

// parseFactor reads alpha or beta. A decimal that is a binary number of at most
// halfulp.MaxPrec bits, such as -1, 0.375 or 1e30, enters exactly; any other, such
// as 0.1, is rounded once to format f. loss says what the range of the format took.
func parseFactor(s string, f halfulp.Format) (x halfulp.Scalar, loss decimal.Loss, err error) {
	if p, ok := exactBits(s); ok {
		f = halfulp.MP(max(p, halfulp.MinPrec))
	}
	m := halfulp.NewMatrix(f, 1, 1)
	z := raw.Matrix(m)
	c := decimal.Borrow(z.Arr.Format)
	defer c.Return()
	loss, err = c.Set(z.Arr, z.At(0, 0), []byte(s))
	return m.At(0, 0), loss, err
}

// exactBits returns how many significant bits the decimal s takes; ok is false
// for other texts, for decimals that no binary number equals and for those far out.
func exactBits(s string) (bits uint, ok bool) {
	m := decimalNumber.FindStringSubmatch(s)
	if m == nil || len(s) > maxExactExponent {
		return 0, false
	}
	if m[3] != "" {
		e, err := strconv.Atoi(m[3])
		if err != nil || e > maxExactExponent || e < -maxExactExponent {
			return 0, false
		}
	}
	x, ok := new(big.Rat).SetString(strings.NewReplacer("d", "e", "D", "e").Replace(s))
	if !ok {
		return 0, false
	}
	den := x.Denom()
	if den.TrailingZeroBits() != uint(den.BitLen()-1) {
		return 0, false
	}
	num := x.Num()
	bits = uint(num.BitLen()) - num.TrailingZeroBits()
	return bits, bits <= halfulp.MaxPrec
}

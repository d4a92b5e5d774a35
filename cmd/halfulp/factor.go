package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
)

// maxExactExponent bounds the digits and decimal exponents of factors that are examined for an
// exact binary form, so that 1e999999999 costs no memory.
const maxExactExponent = 10000

// parseFactor reads alpha or beta. A decimal that is a binary number of at most halfulp.MaxPrec
// bits, such as -1, 0.375 or 1e30, is used exactly. Any other, such as 0.1, is rounded once to
// format f. loss reports a loss by the range of the format.
func parseFactor(s string, f halfulp.Format) (x halfulp.Scalar, loss decimal.Loss, err error) {
	if p, ok := decimal.ExactBits([]byte(s), maxExactExponent); ok && p <= halfulp.MaxPrec {
		f = halfulp.MP(uint(max(p, halfulp.MinPrec)))
	}
	m := halfulp.NewMatrix(f, 1, 1)
	z := m.View()
	c := decimal.Borrow(z.Arr.Format)
	defer c.Return()
	loss, err = c.Set(z.Arr, z.At(0, 0), []byte(s))
	return m.At(0, 0), loss, err
}

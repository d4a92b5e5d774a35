package rns

import (
	"fmt"

	"github.com/halfulp/halfulp"
)

// textGuard is the number of bits, beyond the bits of a significand, with which text is read before
// it is rounded to the base.
const textGuard = 64

// Parse returns the number s, which halfulp.ParseScalar must accept, |δ| < u; exactly
// if it has a significand of at most Precision() bits. NaN and infinities give NaN.
func (b *Base) Parse(s string) (*Number, error) {
	x, err := halfulp.ParseScalar(halfulp.MP(uint(b.maxSigBits+textGuard)), s)
	if err != nil {
		return nil, err
	}
	return b.NewNumber().SetScalar(x), nil
}

// Text returns z in decimal, as halfulp.Scalar.Text does: with digits = 0 the shortest
// text that Parse reads back to the same value, with digits > 0 that many significant
// digits, correctly rounded, and with digits = halfulp.Hex exactly, in hexadecimal.
func (z *Number) Text(digits int) string {
	return z.Scalar(halfulp.MP(uint(z.b.maxSigBits + textGuard))).Text(digits)
}

// String returns Text(0).
func (z *Number) String() string { return z.Text(0) }

// Format prints z with a verb of package fmt as halfulp.Scalar.Format does: v and s print String,
// and e, f, g, x and the like, with flags, widths and precisions, print the digits of the exact
// number.
func (z *Number) Format(state fmt.State, verb rune) {
	z.Scalar(halfulp.MP(uint(z.b.maxSigBits+textGuard))).Format(state, verb)
}

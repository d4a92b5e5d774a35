package direct

import (
	"cmp"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Arithmetic of single numbers, for rounding to a format. [Acc] adds and multiplies numbers, and
// [Divide] divides them.

// Sqrt returns the square root of x for rounding to f. Special values follow IEEE 754: the root of
// -0 is -0, and the root of a negative number is NaN.
func Sqrt(f num.Format, x num.Real) num.Real {
	switch {
	case x.Class == num.Zero, x.Class == num.NaN:
		return x
	case x.Neg:
		return num.Real{Class: num.NaN}
	case x.Class == num.Inf:
		return x
	}
	return superacc.Root(f, x, big.NewInt(1))
}

// Compare returns -1 if x < y, 0 if x = y and +1 if x > y. As for [cmp.Compare], NaN equals NaN and
// is less than all other numbers, and -0 equals +0.
func Compare(x, y num.Real) int {
	if x.Class == num.NaN || y.Class == num.NaN {
		return -cmp.Compare(int(x.Class/num.NaN), int(y.Class/num.NaN))
	}
	if s, t := signOf(x), signOf(y); s != t || s == 0 {
		return cmp.Compare(s, t)
	}
	c := cmp.Compare(compareMagnitude(x, y), 0)
	if x.Neg {
		return -c
	}
	return c
}

// signOf returns the sign of x, which is not NaN.
func signOf(x num.Real) int {
	switch {
	case x.Class == num.Zero:
		return 0
	case x.Neg:
		return -1
	}
	return 1
}

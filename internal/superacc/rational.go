package superacc

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// Merge adds the sum b to a. It normalises b.
func (a *Acc) Merge(b *Acc) { a.addScaled(b, unit) }

var unit = num.Real{Class: num.Finite, Mag: unitWord[:]}

// AddScaled adds s times the sum b for a finite s other than 0. It normalises b.
func (a *Acc) AddScaled(b *Acc, s num.Real) { a.addScaled(b, s) }

// AddMul adds (-1)^neg times the product of the finite sums b and c. It normalises
// both.
func (a *Acc) AddMul(neg bool, b, c *Acc) {
	b.normalise()
	c.normalise()
	for _, p := range c.pages {
		t := append([]uint64(nil), p.w[:]...)
		minus := int64(t[pageWords]) < 0
		if minus {
			num.Negate(t)
		}
		if !num.IsZero(t) {
			a.addScaled(b, num.Real{Class: num.Finite, Neg: minus != neg, Exp: p.index << pageShift, Mag: t})
		}
	}
}

// Finite reports whether neither an infinity nor a NaN was added.
func (a *Acc) Finite() bool { return a.seen&(seenPosInf|seenNegInf|seenNaN) == 0 }

// Span returns the number of bits from the lowest to the highest page.
func (a *Acc) Span() int64 {
	a.sort()
	if len(a.pages) == 0 {
		return 0
	}
	return (a.pages[len(a.pages)-1].index - a.pages[0].index + 1) << pageShift
}

// 2^-floorBits is the last bit of a result that is computed for rounding to DD, TD or QD.
// Bits below it can only decide ties.
const floorBits = 1300

// cut returns the exponent of the last bit to compute of a result with leading bit near
// 2^top, for rounding to f.
func cut(f num.Format, top int64) int64 {
	if f.Terms() > 1 && top < 2048 {
		return min(top-128, -floorBits)
	}
	return top - int64(f.Prec) - 64
}

// Quotient returns |x| / d rounded towards zero, sticky if inexact, for rounding to f,
// with the sign of x. d is positive; x is finite.
func Quotient(f num.Format, x num.Real, d *big.Int) num.Real {
	top := x.Exp + int64(num.BitLen(x.Mag)) - int64(d.BitLen()) + 1
	q := cut(f, top)
	n, sticky := shifted(x, -q)
	n, rest := new(big.Int).QuoRem(n, d, new(big.Int))
	return fromBig(n, q, x.Neg, sticky || rest.Sign() != 0)
}

// Root returns the square root of x / d rounded towards zero, sticky if inexact, for
// rounding to f. x is finite and not negative, d is positive.
func Root(f num.Format, x num.Real, d *big.Int) num.Real {
	top := (x.Exp+int64(num.BitLen(x.Mag))-int64(d.BitLen()))>>1 + 1
	q := cut(f, top)
	n, sticky := shifted(x, -2*q)
	n, rest := new(big.Int).QuoRem(n, d, new(big.Int))
	sticky = sticky || rest.Sign() != 0
	root := new(big.Int).Sqrt(n)
	rest.Mul(root, root)
	return fromBig(root, q, false, sticky || rest.Cmp(n) != 0)
}

// RootLeading is the number of leading bits of x, and RootFloor the position down
// to which they must reach, for Root to round to f.
func RootLeading(f num.Format) (bits, floor int64) {
	return 2*int64(f.Prec) + 256, -2*floorBits - 256
}

// RootValue returns the sum with the leading bits that Root needs.
func (a *Acc) RootValue(f num.Format) num.Real {
	n, floor := RootLeading(f)
	if f.Terms() <= 1 {
		floor = 1 << 62
	}
	return a.real(n, floor)
}

// shifted returns the whole part of |x| 2^s and whether it lies below |x| 2^s.
func shifted(x num.Real, s int64) (*big.Int, bool) {
	n := num.ToInt(x.Mag)
	s += x.Exp
	if s >= 0 {
		return n.Lsh(n, uint(s)), x.Sticky
	}
	sticky := x.Sticky || int64(num.TrailingZeros(x.Mag)) < -s
	if -s > int64(64*len(x.Mag)) {
		return n.SetInt64(0), sticky
	}
	return n.Rsh(n, uint(-s)), sticky
}

// fromBig returns (-1)^neg n 2^exp.
func fromBig(n *big.Int, exp int64, neg, sticky bool) num.Real {
	if n.Sign() == 0 && !sticky {
		return num.Real{}
	}
	return num.Real{Class: num.Finite, Neg: neg, Sticky: sticky, Exp: exp, Mag: num.FromInt(nil, n)}
}

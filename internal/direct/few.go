package direct

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Entries that are one product, a product and a number, or two products: their exact value in a few
// words next to each other, where the pages of an Acc would cost several times as much as all else.

// fewWords is the length of the sums that two takes; wider ones go through pages.
const fewWords = 64

// two returns u + v, both finite and not 0, unless that has too many bits. Its Mag lies in a and is
// valid until a changes.
func (a *Acc) two(u, v num.Real) (s num.Real, ok bool) {
	// u lies at whole words, from word k on, v at bit pos.
	pos := v.Exp - u.Exp
	k := 0
	if pos < 0 {
		if pos < -64*fewWords {
			return s, false
		}
		k = int(-pos+63) >> 6
		pos += int64(64 * k)
	} else if pos > 64*fewWords {
		return s, false
	}
	at, shift := int(pos>>6), uint(pos&63)
	n := max(k+len(u.Mag), at+len(v.Mag)+1) + 1
	if cap(a.mag) < n {
		a.mag = make([]uint64, 2*n)
	}
	m := a.mag[:n]
	clear(m[:k])
	clear(m[k+copy(m[k:], u.Mag):])
	s = num.Real{Class: num.Finite, Neg: u.Neg, Exp: u.Exp - int64(64*k)}
	d := m[at:]
	var low, carry uint64
	if u.Neg == v.Neg {
		for i, w := range v.Mag {
			d[i], carry = bits.Add64(d[i], w<<shift|low, carry)
			low = w >> 1 >> (63 - shift)
		}
		for i := len(v.Mag); low|carry != 0; i++ {
			d[i], carry = bits.Add64(d[i], low, carry)
			low = 0
		}
	} else {
		for i, w := range v.Mag {
			d[i], carry = bits.Sub64(d[i], w<<shift|low, carry)
			low = w >> 1 >> (63 - shift)
		}
		for i := len(v.Mag); i < len(d); i++ {
			d[i], carry = bits.Sub64(d[i], low, carry)
			low = 0
		}
		if carry != 0 {
			num.Negate(m)
			s.Neg = !s.Neg
		}
	}
	if s.Mag = Trim(m); len(s.Mag) == 0 {
		return num.Real{}, true
	}
	return s, true
}

// product returns x y with the significand in memory of z, which it grows if need be.
func product(z *[]uint64, x, y num.Real) (p num.Real) {
	p.Class, p.Neg = productClass(x, y)
	if p.Class == num.Finite {
		*z = Multiply(*z, x.Mag, y.Mag)
		p.Exp, p.Mag = x.Exp+y.Exp, *z
	}
	return p
}

// plus returns p + q for rounding to f, products or numbers as they are stored.
func (a *Acc) plus(f num.Format, p, q num.Real) num.Real {
	switch {
	case p.Class == num.Finite && q.Class == num.Finite:
		if s, ok := a.two(p, q); ok {
			return s
		}
	case p.Class == num.Finite && q.Class == num.Zero:
		return p
	case p.Class == num.Zero && q.Class == num.Finite:
		return q
	}
	a.Reset()
	a.Add(p)
	a.Add(q)
	return a.Value(f)
}

// A factor is a number by which many are multiplied.
type factor struct {
	num.Real
	float   float64 // the number, if isFloat
	isFloat bool
}

// newFactor returns x y, without zero words at the end of its significand.
func newFactor(x, y num.Real) (t factor) {
	var z []uint64
	t.Real = product(&z, x, y)
	if t.Class != num.Finite {
		return t
	}
	n := num.TrailingZeros(t.Mag)
	if num.BitLen(t.Mag)-n > 53 {
		t.Mag = t.Mag[n/64:]
		t.Exp += int64(n &^ 63)
		return t
	}
	t.Mag = []uint64{num.WordAt(t.Mag, int64(n))}
	t.Exp += int64(n)
	if t.isFloat = -1000 < t.Exp && t.Exp < 900; t.isFloat {
		if t.float = math.Ldexp(float64(t.Mag[0]), int(t.Exp)); t.Neg {
			t.float = -t.float
		}
	}
	return t
}

// normal reports whether a number rounded to binary64 has become a normal one, without a flag: one
// at the end of the subnormal numbers may have got there by rounding.
func normal(x float64) bool {
	a := math.Abs(x)
	return a > 0x1p-1022 && a <= math.MaxFloat64
}

// combineFloat returns RN(a x + b y) if compensated sums decide it.
//
// With the errors e and g of the products, and h of the sum s of these, s + e + g + h is the exact
// value. The two roundings of t = e + g + h and that of t -+ err cost less than
// 1.5 2^-52 (|e| + |g| + |h|) (1 + 2^-50).
func combineFloat(a, x, b, y float64) (r float64, ok bool) {
	p, q := float64(a*x), float64(b*y)
	const least, most = 0x1p-900, 0x1p1000 // where the errors of products are numbers
	if u, v := math.Abs(p), math.Abs(q); !(min(u, v) > least && max(u, v) < most) {
		return 0, false
	}
	e, g := math.FMA(a, x, -p), math.FMA(b, y, -q)
	s, h := twoSum(p, q)
	t := e + g + h
	err := float64(0x1p-51 * (math.Abs(e) + math.Abs(g) + math.Abs(h)))
	r = s + (t - err)
	return r, r == s+(t+err) && normal(r)
}

package superacc

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Scaled returns alpha x_i, exactly.
func (a *Acc) Scaled(alpha num.Real, x num.Vec, i int) num.Real {
	return Product(&a.product, alpha, x.Arr.Value(x.At(i), a.values[0][:]))
}

// Updated returns alpha x_i y_j + c_ij for rounding to f, like Entry.
func (a *Acc) Updated(f num.Format, alpha num.Real, x, y num.Vec, c num.Mat, i, j int) num.Real {
	return a.MulAdd(f, Product(&a.product3, alpha, y.Arr.Value(y.At(j), a.values[1][:])), x, c, i, j)
}

// MulAdd returns t x_i + c_ij for rounding to f, like Entry.
func (a *Acc) MulAdd(f num.Format, t num.Real, x num.Vec, c num.Mat, i, j int) num.Real {
	p := Product(&a.product, t, x.Arr.Value(x.At(i), a.values[0][:]))
	return a.plus(f, p, c.Arr.Value(c.At(i, j), a.values[2][:]))
}

// Combined returns s x_i + t y_i for rounding to f, like Entry.
func (a *Acc) Combined(f num.Format, s num.Real, x num.Vec, t num.Real, y num.Vec, i int) num.Real {
	p := Product(&a.product, s, x.Arr.Value(x.At(i), a.values[0][:]))
	q := Product(&a.product3, t, y.Arr.Value(y.At(i), a.values[1][:]))
	return a.plus(f, p, q)
}

// fewWords is the largest length of sums that two computes. Wider sums use pages.
const fewWords = 64

// two returns u + v, for finite u and v other than 0. It is not ok if the sum has too many bits.
// Its Mag lies in a and is valid until a changes.
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

// Product returns x y. Its significand uses the memory of z, which grows if needed.
func Product(z *[]uint64, x, y num.Real) (p num.Real) {
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

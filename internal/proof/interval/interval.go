package interval

import "math/big"

// Interval is the set of real numbers from Lo to Hi.
type Interval struct{ Lo, Hi *big.Float }

// Of returns the interval that consists of x.
func Of(x *big.Float) Interval { return Interval{x, x} }

// Copied returns a copy of x, whose ends may be changed.
func (x Interval) Copied() Interval {
	return Interval{new(big.Float).Copy(x.Lo), new(big.Float).Copy(x.Hi)}
}

// OfInt returns the interval that consists of n.
func OfInt(n int) Interval { return Of(new(big.Float).SetInt64(int64(n))) }

// Prec is a precision in bits; its methods are operations on intervals whose ends have this
// precision.
type Prec uint

// Down returns a number for lower ends: it rounds down.
func (p Prec) Down() *big.Float {
	return new(big.Float).SetPrec(uint(p)).SetMode(big.ToNegativeInf)
}

// Up returns a number for upper ends: it rounds up.
func (p Prec) Up() *big.Float {
	return new(big.Float).SetPrec(uint(p)).SetMode(big.ToPositiveInf)
}

// Around returns an interval that contains all numbers that round to x, to nearest in bits bits.
func (p Prec) Around(x *big.Float, bits int) Interval {
	d := new(big.Float).SetMantExp(x, -bits)
	if d.Signbit() {
		d.Neg(d)
	}
	return Interval{p.Down().Sub(x, d), p.Up().Add(x, d)}
}

// Sub encloses x - y.
func (p Prec) Sub(x, y Interval) Interval {
	return Interval{p.Difference(p.Down(), x.Lo, y.Hi, -1), p.Difference(p.Up(), x.Hi, y.Lo, 1)}
}

// Difference stores a bound of x - y in z: a lower bound for sign -1, and z rounds down; an upper
// bound for sign 1, and z rounds up. math/big would compute all bits between two numbers far apart.
// Then the smaller number is replaced by 0, or, if it moves the sum towards the bound, by a power
// of two above it.
func (p Prec) Difference(z, x, y *big.Float, sign int) *big.Float {
	if x.Sign() == 0 {
		return z.Set(new(big.Float).Neg(y)) // 0 - y of math/big rounds y
	}
	if y.Sign() == 0 {
		return z.Set(x)
	}
	// instead replaces a number far below a number with exponent e; of is its sign in the sum.
	instead := func(e, of int) *big.Float {
		t := new(big.Float)
		if of == sign {
			t.SetMantExp(big.NewFloat(float64(sign)), e-int(p)-4)
		}
		return t
	}
	switch e, f := x.MantExp(nil), y.MantExp(nil); {
	case e-f > int(p)+8:
		return z.Add(x, instead(e, -y.Sign()))
	case f-e > int(p)+8:
		return z.Add(new(big.Float).Neg(y), instead(f, x.Sign()))
	}
	return z.Sub(x, y)
}

// Mul encloses x y.
func (p Prec) Mul(x, y Interval) Interval {
	if y.Lo.Sign() >= 0 { // mostly
		least, most := y.Lo, y.Hi // the ends of y that give the smallest and largest result
		if x.Lo.Sign() < 0 {
			least = y.Hi
		}
		if x.Hi.Sign() < 0 {
			most = y.Lo
		}
		return Interval{p.Down().Mul(x.Lo, least), p.Up().Mul(x.Hi, most)}
	}
	var z Interval
	for _, a := range []*big.Float{x.Lo, x.Hi} {
		for _, b := range []*big.Float{y.Lo, y.Hi} {
			if l := p.Down().Mul(a, b); z.Lo == nil || l.Cmp(z.Lo) < 0 {
				z.Lo = l
			}
			if h := p.Up().Mul(a, b); z.Hi == nil || h.Cmp(z.Hi) > 0 {
				z.Hi = h
			}
		}
	}
	return z
}

// Quo encloses x/y for y > 0.
func (p Prec) Quo(x, y Interval) Interval {
	least, most := y.Hi, y.Lo // the ends of y that give the smallest and largest result
	if x.Lo.Sign() < 0 {
		least = y.Lo
	}
	if x.Hi.Sign() < 0 {
		most = y.Hi
	}
	return Interval{p.Down().Quo(x.Lo, least), p.Up().Quo(x.Hi, most)}
}

// Sqrt encloses the square roots of the nonnegative numbers in x.
func (p Prec) Sqrt(x Interval) Interval {
	lo, _ := p.root(x.Lo)
	hi, exact := p.root(x.Hi)
	if !exact {
		hi.Add(hi, new(big.Float).SetMantExp(big.NewFloat(1), hi.MantExp(nil)-int(p)))
	}
	return Interval{lo, hi}
}

// root returns √x rounded down, or 0 for x ≤ 0, and whether the result is exact.
func (p Prec) root(x *big.Float) (z *big.Float, exact bool) {
	z = p.Up()
	if x.Sign() <= 0 {
		return z, true
	}
	m := new(big.Float)
	e := x.MantExp(m)
	shift := 2*int(p) + int(x.MinPrec())
	if (e-shift)%2 != 0 {
		shift++
	}
	n, _ := m.SetMantExp(m, shift).Int(nil) // x = n 2^(e - shift), and n has shift bits
	r := new(big.Int).Sqrt(n)
	exact = new(big.Int).Mul(r, r).Cmp(n) == 0
	z.SetMode(big.ToZero).SetInt(r)
	exact = exact && z.Acc() == big.Exact
	z.SetMode(big.ToPositiveInf)
	return z.SetMantExp(z, (e-shift)/2), exact
}

// Below reports whether all numbers in x are at most bound in magnitude.
func (x Interval) Below(bound *big.Float) bool {
	return new(big.Float).Abs(x.Lo).Cmp(bound) <= 0 && new(big.Float).Abs(x.Hi).Cmp(bound) <= 0
}

// special is the number of bits by which a number must be shorter than its enclosure shows, before
// an entry is suspected to equal it.
const special = 24

// Simplest returns the number in x with the fewest significant bits; nil if these are so many that
// the number may be in x by chance. It returns 0 if x contains 0.
func (x Interval) Simplest() *big.Float {
	if x.Lo.Sign() != x.Hi.Sign() || x.Lo.Sign() == 0 {
		return new(big.Float)
	}
	prec := x.Lo.Prec()
	a, b := new(big.Float).Abs(x.Lo), new(big.Float).Abs(x.Hi)
	if a.Cmp(b) > 0 {
		a, b = b, a
	}
	low := a.MantExp(nil) - int(prec)
	integer := func(y *big.Float) *big.Int {
		v, _ := y.SetMantExp(y, -low).Int(nil)
		return v
	}
	p, q := integer(a), integer(b)
	width := new(big.Int).Sub(q, p).BitLen()
	// Of the integers from p to q, find the one with the most trailing zeros.
	p.Sub(p, big.NewInt(1))
	end := p.Xor(p, q).BitLen() - 1
	if end < width+special {
		return nil
	}
	t := new(big.Float).SetInt(q.Rsh(q, uint(end)))
	t.SetMantExp(t, end+low)
	if x.Lo.Sign() < 0 {
		t.Neg(t)
	}
	return t
}

// within reports whether products and quotients of the ends of x and of other such intervals
// neither overflow nor underflow in math/big.
func within(x Interval) bool {
	const most = 1<<30 - 64
	for _, v := range []*big.Float{x.Lo, x.Hi} {
		if e := v.MantExp(nil); e < -most || e > most || v.IsInf() {
			return false
		}
	}
	return true
}

// IsZero reports whether x is the number 0.
func (x Interval) IsZero() bool { return x.Lo.Sign() == 0 && x.Hi.Sign() == 0 }

// HasZero reports whether x contains 0.
func (x Interval) HasZero() bool { return x.Lo.Sign() <= 0 && x.Hi.Sign() >= 0 }

func (x Interval) negative() Interval {
	return Interval{new(big.Float).Neg(x.Hi), new(big.Float).Neg(x.Lo)}
}

// Larger returns the end with the larger magnitude.
func (x Interval) Larger() *big.Float {
	if new(big.Float).Abs(x.Lo).Cmp(new(big.Float).Abs(x.Hi)) > 0 {
		return x.Lo
	}
	return x.Hi
}

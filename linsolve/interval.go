package linsolve

import "math/big"

// exactMul returns x y.
func exactMul(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(1, x.MinPrec()+y.MinPrec())).Mul(x, y)
}

// exactAdd returns x + y.
func exactAdd(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(exactPrec(x, y)).Add(x, y)
}

// exactSub returns x - y.
func exactSub(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(exactPrec(x, y)).Sub(x, y)
}

// lowest returns e for which x is an odd multiple of 2^e, 0 for x = 0.
func lowest(x *big.Float) int64 {
	if x.Sign() == 0 {
		return 0
	}
	return int64(x.MantExp(nil)) - int64(x.MinPrec())
}

// interval is a set of real numbers between two.
type interval struct{ lo, hi *big.Float }

// exactly returns the interval of one number.
func exactly(x *big.Float) interval { return interval{x, x} }

// copied returns an interval whose ends may be changed.
func (x interval) copied() interval {
	return interval{new(big.Float).Copy(x.lo), new(big.Float).Copy(x.hi)}
}

// integer returns the interval of an integer.
func integer(n int) interval { return exactly(new(big.Float).SetInt64(int64(n))) }

// intervals are operations on intervals whose ends have that many bits.
type intervals uint

func (p intervals) down() *big.Float {
	return new(big.Float).SetPrec(uint(p)).SetMode(big.ToNegativeInf)
}

func (p intervals) up() *big.Float {
	return new(big.Float).SetPrec(uint(p)).SetMode(big.ToPositiveInf)
}

// around returns the interval of numbers that are x rounded to nearest in bits bits.
func (p intervals) around(x *big.Float, bits int) interval {
	d := new(big.Float).SetMantExp(x, -bits)
	if d.Signbit() {
		d.Neg(d)
	}
	return interval{p.down().Sub(x, d), p.up().Add(x, d)}
}

func (p intervals) sub(x, y interval) interval {
	return interval{p.difference(p.down(), x.lo, y.hi, -1), p.difference(p.up(), x.hi, y.lo, 1)}
}

// difference stores a bound of x - y in z, which rounds towards the sign. Of two numbers far apart,
// of which the sums of math/big have all bits between them on the way, the smaller one is 0, or if
// the bound has to be on its side a power of two above it.
func (p intervals) difference(z, x, y *big.Float, sign int) *big.Float {
	if x.Sign() == 0 {
		return z.Set(new(big.Float).Neg(y)) // 0 - y of math/big rounds y
	}
	if y.Sign() == 0 {
		return z.Set(x)
	}
	// What takes the place of a number far below one with exponent e, with this sign in the sum.
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

func (p intervals) mul(x, y interval) interval {
	if y.lo.Sign() >= 0 { // mostly
		least, most := y.lo, y.hi // what makes the ends of x smallest and largest
		if x.lo.Sign() < 0 {
			least = y.hi
		}
		if x.hi.Sign() < 0 {
			most = y.lo
		}
		return interval{p.down().Mul(x.lo, least), p.up().Mul(x.hi, most)}
	}
	var z interval
	for _, a := range []*big.Float{x.lo, x.hi} {
		for _, b := range []*big.Float{y.lo, y.hi} {
			if l := p.down().Mul(a, b); z.lo == nil || l.Cmp(z.lo) < 0 {
				z.lo = l
			}
			if h := p.up().Mul(a, b); z.hi == nil || h.Cmp(z.hi) > 0 {
				z.hi = h
			}
		}
	}
	return z
}

// quo returns x/y for y > 0.
func (p intervals) quo(x, y interval) interval {
	least, most := y.hi, y.lo // what makes the ends of x smallest and largest
	if x.lo.Sign() < 0 {
		least = y.lo
	}
	if x.hi.Sign() < 0 {
		most = y.hi
	}
	return interval{p.down().Quo(x.lo, least), p.up().Quo(x.hi, most)}
}

// sqrt returns the roots of what of x is not negative.
func (p intervals) sqrt(x interval) interval {
	lo, _ := p.root(x.lo)
	hi, exact := p.root(x.hi)
	if !exact {
		hi.Add(hi, new(big.Float).SetMantExp(big.NewFloat(1), hi.MantExp(nil)-int(p)))
	}
	return interval{lo, hi}
}

// root returns √x rounded down, 0 for x ≤ 0, and whether that is √x.
func (p intervals) root(x *big.Float) (z *big.Float, exact bool) {
	z = p.up()
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

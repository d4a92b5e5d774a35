package funtest

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/bigfun"
)

// Exact is the sum of x.
func Exact(x []float64) *big.Float {
	z := new(big.Float).SetPrec(4400)
	for _, v := range x {
		z.Add(z, new(big.Float).SetFloat64(v))
	}
	return z
}

// precision is the precision of the oracle, some 100 bits beyond QD.
const precision = 320

// Oracle is f(x, y), where it is finite.
func Oracle(f string, x, y *big.Float) *big.Float {
	const p = precision
	num := func() *big.Float { return new(big.Float).SetPrec(p + 64) }
	// sums and products of arguments are exact
	wide := func() *big.Float { return new(big.Float).SetPrec(6000) }
	one := big.NewFloat(1)
	switch f {
	case "exp":
		return bigfun.Exp(x, p)
	case "expm1":
		return bigfun.Expm1(x, p)
	case "exp2":
		return bigfun.Exp(num().Mul(x, bigfun.Ln2(p+64)), p)
	case "log":
		return bigfun.Log(x, p)
	case "log1p":
		return bigfun.Log1p(x, p)
	case "log2":
		return num().Quo(bigfun.Log(x, p), bigfun.Ln2(p))
	case "log10":
		return num().Quo(bigfun.Log(x, p), bigfun.Log(big.NewFloat(10), p))
	case "pow":
		a := bigfun.Exp(num().Mul(y, bigfun.Log(num().Abs(x), p+64)), p)
		if x.Sign() < 0 {
			if n, _ := y.Int(nil); n.Bit(0) == 1 {
				a.Neg(a)
			}
		}
		return a
	case "cbrt":
		a := bigfun.Exp(num().Quo(bigfun.Log(wide().Abs(x), p+64), big.NewFloat(3)), p)
		if x.Sign() < 0 {
			a.Neg(a)
		}
		return a
	case "hypot":
		s := wide().Mul(x, x)
		return num().Sqrt(s.Add(s, wide().Mul(y, y)))
	case "sin", "cos", "tan":
		s, c := bigfun.SinCos(x, p)
		return map[string]*big.Float{"sin": s, "cos": c, "tan": num().Quo(s, c)}[f]
	case "asin", "acos":
		c := wide().Sub(one, x)
		c.Mul(c, wide().Add(one, x))
		b := num().Sqrt(c)
		if f == "asin" {
			return bigfun.Atan2(x, b, p)
		}
		return bigfun.Atan2(b, x, p)
	case "atan":
		return bigfun.Atan2(x, one, p)
	case "atan2":
		return bigfun.Atan2(x, y, p)
	case "sinh", "cosh": // (u ± u/(1 + u)) / 2, and 1 in cosh
		u := bigfun.Expm1(wide().Abs(x), p+32)
		v := num().Quo(u, num().Add(u, one))
		if f == "sinh" {
			v.Add(u, v)
			v.Mul(v, big.NewFloat(0.5))
			if x.Sign() < 0 {
				v.Neg(v)
			}
			return v
		}
		v.Mul(v, u)
		v.Mul(v, big.NewFloat(0.5))
		return v.Add(v, one)
	case "tanh":
		u := bigfun.Expm1(wide().Mul(x, big.NewFloat(2)), p+1200)
		v := wide().Add(u, big.NewFloat(2))
		return num().Quo(u, v)
	case "asinh": // ln(1 + a + a²/(1 + √(1 + a²)))
		a := wide().Abs(x)
		a2 := wide().Mul(a, a)
		s := num().Sqrt(wide().Add(a2, one))
		s.Add(s, one)
		v := bigfun.Log1p(num().Add(a, num().Quo(a2, s)), p)
		if x.Sign() < 0 {
			v.Neg(v)
		}
		return v
	case "acosh":
		d := wide().Sub(x, one)
		s := num().Sqrt(wide().Mul(d, wide().Add(d, big.NewFloat(2))))
		return bigfun.Log1p(s.Add(s, d), p)
	case "atanh":
		d := num().Quo(x, wide().Sub(one, x))
		v := bigfun.Log1p(d.Mul(d, big.NewFloat(2)), p)
		return v.Mul(v, big.NewFloat(0.5))
	}
	panic("funtest: no function " + f)
}

// Error is the error of z for want = f(x, y) in units of 2^(-53 w) |z|, where a few units of
// the least float64 count as nothing.
func Error(z []float64, want *big.Float) float64 {
	if math.IsInf(z[0], 0) {
		if want.Signbit() == math.Signbit(z[0]) && new(big.Float).Abs(want).Cmp(big.NewFloat(math.MaxFloat64*(1-0x1p-50))) > 0 {
			return 0
		}
		return math.Inf(1)
	}
	if z[0] != z[0] {
		return math.Inf(1)
	}
	d := Exact(z)
	d.Sub(d, want)
	d.Abs(d)
	if d.Cmp(big.NewFloat(16*0x1p-1074)) < 0 {
		return 0
	}
	if want.Sign() == 0 {
		return math.Inf(1)
	}
	d.Quo(d, want)
	e, _ := d.Float64()
	return math.Ldexp(math.Abs(e), 53*len(z))
}

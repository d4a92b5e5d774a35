package expansion

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/bigfun"
)

var functionSweep = flag.Int("expansion.functions", 250, "random arguments a function and format in TestFunctions")

// oraclePrec is the precision of the oracle, some 100 bits beyond QD.
const oraclePrec = 320

// oracle is f(x, y), where it is finite.
func oracle(f Function, x, y *big.Float) *big.Float {
	const p = oraclePrec
	num := func() *big.Float { return new(big.Float).SetPrec(p + 64) }
	wide := func() *big.Float { return new(big.Float).SetPrec(6000) } // sums and products of arguments are exact
	one := big.NewFloat(1)
	switch f {
	case Exp:
		return bigfun.Exp(x, p)
	case Expm1:
		return bigfun.Expm1(x, p)
	case Exp2:
		return bigfun.Exp(num().Mul(x, bigfun.Ln2(p+64)), p)
	case Log:
		return bigfun.Log(x, p)
	case Log1p:
		return bigfun.Log1p(x, p)
	case Log2:
		return num().Quo(bigfun.Log(x, p), bigfun.Ln2(p))
	case Log10:
		return num().Quo(bigfun.Log(x, p), bigfun.Log(big.NewFloat(10), p))
	case Pow:
		a := bigfun.Exp(num().Mul(y, bigfun.Log(num().Abs(x), p+64)), p)
		if x.Sign() < 0 {
			if n, _ := y.Int(nil); n.Bit(0) == 1 {
				a.Neg(a)
			}
		}
		return a
	case Cbrt:
		a := bigfun.Exp(num().Quo(bigfun.Log(wide().Abs(x), p+64), big.NewFloat(3)), p)
		if x.Sign() < 0 {
			a.Neg(a)
		}
		return a
	case Hypot:
		s := wide().Mul(x, x)
		return num().Sqrt(s.Add(s, wide().Mul(y, y)))
	case Sin, Cos, Tan:
		s, c := bigfun.SinCos(x, p)
		return map[Function]*big.Float{Sin: s, Cos: c, Tan: num().Quo(s, c)}[f]
	case Asin, Acos:
		c := wide().Sub(one, x)
		c.Mul(c, wide().Add(one, x))
		b := num().Sqrt(c)
		if f == Asin {
			return bigfun.Atan2(x, b, p)
		}
		return bigfun.Atan2(b, x, p)
	case Atan:
		return bigfun.Atan2(x, one, p)
	case Atan2:
		return bigfun.Atan2(x, y, p)
	case Sinh, Cosh: // (u ± u/(1 + u)) / 2, and 1 in cosh
		u := bigfun.Expm1(wide().Abs(x), p+32)
		v := num().Quo(u, num().Add(u, one))
		if f == Sinh {
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
	case Tanh:
		u := bigfun.Expm1(wide().Mul(x, big.NewFloat(2)), p+1200)
		v := wide().Add(u, big.NewFloat(2))
		return num().Quo(u, v)
	case Asinh: // ln(1 + a + a²/(1 + √(1 + a²)))
		a := wide().Abs(x)
		a2 := wide().Mul(a, a)
		s := num().Sqrt(wide().Add(a2, one))
		s.Add(s, one)
		v := bigfun.Log1p(num().Add(a, num().Quo(a2, s)), p)
		if x.Sign() < 0 {
			v.Neg(v)
		}
		return v
	case Acosh:
		d := wide().Sub(x, one)
		s := num().Sqrt(wide().Mul(d, wide().Add(d, big.NewFloat(2))))
		return bigfun.Log1p(s.Add(s, d), p)
	case Atanh:
		d := num().Quo(x, wide().Sub(one, x))
		v := bigfun.Log1p(d.Mul(d, big.NewFloat(2)), p)
		return v.Mul(v, big.NewFloat(0.5))
	}
	panic(f)
}

// functionBounds are the relative errors of the documentation, in units of 2^(-53 w).
var functionBounds = map[Function]float64{
	Exp: 4, Expm1: 6, Exp2: 4, Log: 4, Log1p: 4, Log2: 8, Log10: 8, Pow: 8, Cbrt: 8, Hypot: 8,
	Sin: 8, Cos: 8, Tan: 20, Asin: 20, Acos: 20, Atan: 12, Atan2: 12, Sinh: 16, Cosh: 12, Tanh: 24,
	Asinh: 24, Acosh: 24, Atanh: 24,
}

// argument is a random argument of f: often near the points where f is small, large or
// steep.
func argument(r *rand.Rand, f Function) float64 {
	x := r.NormFloat64()
	switch r.IntN(8) {
	case 0:
	case 1:
		x = math.Ldexp(x, r.IntN(60)-40)
	case 2:
		x = 1 + math.Ldexp(x, -r.IntN(54))
	case 3:
		x = math.Ldexp(x, r.IntN(2098)-1074)
	case 4:
		x = math.RoundToEven(1000*x) * (math.Pi / 4)
	case 5:
		x = math.RoundToEven(100 * x)
	case 6:
		x = 800 * x
	case 7:
		x = math.Float64frombits(r.Uint64())
	}
	switch f {
	case Exp, Expm1, Sinh, Cosh:
		if r.IntN(2) == 0 {
			x = math.Mod(x, 745)
		}
	case Exp2:
		if r.IntN(2) == 0 {
			x = math.Mod(x, 1074)
		}
	case Log, Log2, Log10, Acosh:
		x = math.Abs(x)
		if f == Acosh && r.IntN(2) == 0 {
			x++
		}
	case Log1p:
		if x < 0 && r.IntN(2) == 0 {
			x = -math.Mod(-x, 1)
		}
	case Asin, Acos, Atanh:
		if !(math.Abs(x) <= 1) {
			x = 1 / x
		}
	}
	return x
}

// arguments are random arguments of f of w words.
func arguments(r *rand.Rand, f Function, w int) (x, y []float64) {
	x = extend(r, argument(r, f), w)
	if f.Arity() == 1 {
		return x, make([]float64, w)
	}
	y = extend(r, argument(r, f), w)
	switch {
	case f == Pow && r.IntN(4) > 0:
		if r.IntN(2) == 0 {
			x[0] = math.Abs(x[0])
			x = extend(r, x[0], w)
		}
		// A result of any size.
		y = extend(r, 1.1*(2*r.Float64()-1)*720/math.Log(math.Abs(x[0])), w)
	case r.IntN(4) == 0:
		y = extend(r, x[0]*math.Ldexp(r.NormFloat64(), r.IntN(120)-60), w)
	}
	return x, y
}

// extend returns a normalised expansion of w words that begins with x.
func extend(r *rand.Rand, x float64, w int) []float64 {
	e := make([]float64, w)
	e[0] = x
	if !ordinary(x) || r.IntN(8) == 0 {
		return e
	}
	for k := 1; k < w; k++ {
		if e[k-1] == 0 {
			break
		}
		e[k] = math.Ldexp(2*r.Float64()-1, int(exponent(e[k-1]))-53-r.IntN(2)*r.IntN(30))
		if e[k-1]+e[k] != e[k-1] {
			e[k] = 0
		}
	}
	return e
}

// call is f(x, y) as a scalar of len(x) words.
func call(f Function, x, y []float64) []float64 {
	switch len(x) {
	case 2:
		z := one(f, DD(x), DD(y))
		return z[:]
	case 3:
		z := one(f, TD(x), TD(y))
		return z[:]
	}
	z := one(f, QD(x), QD(y))
	return z[:]
}

// regular reports whether f(x, y) is to be compared with the oracle: it is neither a special
// value, which TestFunctionSpecials looks at, nor far outside the range of float64.
func regular(f Function, x, y []float64) bool {
	if !ordinary(x[0]) || f.Arity() == 2 && !ordinary(y[0]) {
		return false
	}
	sign := new(big.Float).Sub(exact(x).Abs(exact(x)), big.NewFloat(1)).Sign() // of |x| - 1
	switch f {
	case Exp, Expm1, Sinh, Cosh:
		return math.Abs(x[0]) < 760
	case Exp2:
		return math.Abs(x[0]) < 1100
	case Log, Log2, Log10:
		return x[0] > 0 && (sign != 0 || x[0] < 0)
	case Log1p:
		return x[0] > 0 || sign < 0
	case Asin:
		return sign <= 0
	case Acos:
		return sign < 0 || sign == 0 && x[0] < 0
	case Acosh:
		return x[0] > 0 && sign > 0
	case Atanh:
		return sign < 0
	case Tanh:
		return math.Abs(x[0]) < 300
	case Pow:
		return (x[0] > 0 || exact(y).IsInt()) && math.Abs(y[0]*math.Log(math.Abs(x[0]))) < 760 && math.Abs(y[0]) < 1e300
	}
	return true
}

func TestFunctions(t *testing.T) {
	for _, f := range Functions() {
		for w := 2; w <= 4; w++ {
			r := rand.New(rand.NewPCG(uint64(f), uint64(w)))
			worst := 0.0
			var at []float64
			for range *functionSweep {
				x, y := arguments(r, f, w)
				if !regular(f, x, y) {
					continue
				}
				z := call(f, x, y)
				got := functionError(f, x, y, z)
				if got > worst {
					worst, at = got, append(x[:w:w], y...)
				}
				if !(got <= functionBounds[f]) || !normalised(z) {
					t.Errorf("%v(%x, %x) = %x: error %.3g, bound %g, in units of 2^-%d; normalised %v", f, x, y, z, got, functionBounds[f], 53*w, normalised(z))
				}
			}
			t.Logf("%v in %d words: largest error %.3g of 2^-%d at %x", f, w, worst, 53*w, at)
		}
	}
}

// functionError is the error of z = f(x, y) in units of 2^(-53 w) |z|, where a few units of
// the least float64 count as nothing.
func functionError(f Function, x, y, z []float64) float64 {
	want := oracle(f, exact(x), exact(y))
	limit := new(big.Float).SetMantExp(big.NewFloat(1), 1024)
	limit.Sub(limit, new(big.Float).SetMantExp(big.NewFloat(1), 1024-54))
	if math.IsInf(z[0], 0) {
		near := new(big.Float).Mul(limit, big.NewFloat(1-0x1p-50))
		if want.Signbit() == math.Signbit(z[0]) && want.Abs(want).Cmp(near) > 0 {
			return 0
		}
		return math.Inf(1)
	}
	if z[0] != z[0] {
		return math.Inf(1)
	}
	d := exact(z)
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

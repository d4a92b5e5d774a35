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

// functionLimit is what no error reaches, in units of u^w: well below the bounds proved.
const functionLimit = 12

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
		z := value(f, DD(x), DD(y))
		return z[:]
	case 3:
		z := value(f, TD(x), TD(y))
		return z[:]
	}
	z := value(f, QD(x), QD(y))
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
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			for w := 2; w <= 4; w++ {
				testFunction(t, f, w)
			}
		})
	}
}

func testFunction(t *testing.T, f Function, w int) {
	r := rand.New(rand.NewPCG(uint64(f), uint64(w)))
	worst := 0.0
	var at [2][]float64
	for range *functionSweep {
		x, y := arguments(r, f, w)
		if !regular(f, x, y) {
			continue
		}
		z := call(f, x, y)
		e := functionError(f, x, y, z)
		if e > worst {
			worst, at = e, [2][]float64{x, y}
		}
		if limit := min(functionLimit, f.Bound(w)); !(e <= limit) || !normalised(z) {
			t.Errorf("%v(%x, %x) = %x: error %.3g, want below %g, in units of 2^-%d; normalised %v", f, x, y, z, e, limit, 53*w, normalised(z))
		}
	}
	t.Logf("%v in %d words: largest error %.3g of 2^-%d at %x", f, w, worst, 53*w, at)
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

// mathFunctions are the functions of package math of the same name.
var mathFunctions = map[Function]any{
	Exp: math.Exp, Expm1: math.Expm1, Exp2: math.Exp2, Log: math.Log, Log1p: math.Log1p, Log2: math.Log2, Log10: math.Log10,
	Pow: math.Pow, Cbrt: math.Cbrt, Hypot: math.Hypot, Sin: math.Sin, Cos: math.Cos, Tan: math.Tan, Asin: math.Asin,
	Acos: math.Acos, Atan: math.Atan, Atan2: math.Atan2, Sinh: math.Sinh, Cosh: math.Cosh, Tanh: math.Tanh,
	Asinh: math.Asinh, Acosh: math.Acosh, Atanh: math.Atanh,
}

// TestFunctionSpecials compares with package math at special values, and with the oracle at the
// ends of the range.
func TestFunctionSpecials(t *testing.T) {
	values := []float64{0, 0x1p-1074, 0x1p-1022, 1e-300, 0x1p-60, 0.5, 1 - 0x1p-53, 1, 1 + 0x1p-52, 1.5, 2, 3, 20, 709, 710, 745, 746, 1023, 1024, 1074, 1075, 1e5, 0x1p52, 0x1p52 + 1, 0x1p53, 0x1p53 + 2, 1e300, math.MaxFloat64, math.Inf(1), math.NaN()}
	for _, x := range values {
		values = append(values, -x)
	}
	for _, f := range Functions() {
		for _, x := range values {
			if f.Arity() == 1 {
				checkSpecial(t, f, x, 0, mathFunctions[f].(func(float64) float64)(x))
				continue
			}
			for _, y := range values {
				checkSpecial(t, f, x, y, mathFunctions[f].(func(x, y float64) float64)(x, y))
			}
		}
	}
}

// checkSpecial wants want as f(x, y), if that is a special value or a constant, and else a
// small error.
func checkSpecial(t *testing.T, f Function, x, y, want float64) {
	t.Helper()
	for w := 2; w <= 4; w++ {
		a, b := make([]float64, w), make([]float64, w)
		a[0], b[0] = x, y
		z := call(f, a, b)
		ok := normalised(z)
		switch {
		case regular(f, a, b): // package math can be far off
			ok = ok && functionError(f, a, b, z) <= functionLimit
		case want != want:
			ok = math.Float64bits(z[0]) == math.Float64bits(math.NaN())
		case want == 0 || math.IsInf(want, 0):
			ok = ok && z[0] == want && math.Signbit(z[0]) == math.Signbit(want)
		default:
			ok = ok && math.Abs(z[0]-want) <= 0x1p-50*math.Abs(want)
		}
		for _, v := range z[1:] {
			ok = ok && v == v && (ordinary(z[0]) || math.Float64bits(v) == 0)
		}
		if !ok {
			t.Errorf("%v(%x, %x) in %d words = %x, want %x as package math has it", f, x, y, w, z, want)
		}
	}
}

// TestFunctionsOfWords has arguments whose leading word alone would be special.
func TestFunctionsOfWords(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		f       Function
		x, y, z DD // z to within an ulp of its leading word
	}{
		{Pow, DD{1, 0x1p-60}, DD{inf}, DD{inf}},
		{Pow, DD{1, -0x1p-60}, DD{inf}, DD{0}},
		{Pow, DD{-1, 0x1p-60}, DD{inf}, DD{0}},
		{Pow, DD{-1, -0x1p-60}, DD{-inf}, DD{0}},
		{Pow, DD{-2, 0}, DD{0x1p54, 1}, DD{-inf}},
		{Pow, DD{-2, 0}, DD{-0x1p54, 1}, DD{math.Copysign(0, -1)}},
		{Pow, DD{-1, 0}, DD{0x1p54, 1}, DD{-1}},
		{Pow, DD{-1, 0}, DD{0x1p54, 2}, DD{1}},
		{Pow, DD{-1, 0}, DD{0x1p54, 0.5}, DD{nan}},
		{Pow, DD{1, 0x1p-60}, DD{0x1p60}, DD{math.E}},
		{Log, DD{1, 0x1p-60}, DD{}, DD{0x1p-60}},
		{Log, DD{1, -0x1p-1074}, DD{}, DD{-0x1p-1074}},
		{Log1p, DD{-1, 0x1p-60}, DD{}, DD{-60 * math.Ln2}},
		{Log1p, DD{-1, -0x1p-60}, DD{}, DD{nan}},
		{Asin, DD{1, 0x1p-80}, DD{}, DD{nan}},
		{Acos, DD{-1, -0x1p-80}, DD{}, DD{nan}},
		{Acos, DD{1, -0x1p-61}, DD{}, DD{0x1p-30}},
		{Acosh, DD{1, 0x1p-61}, DD{}, DD{0x1p-30}},
		{Acosh, DD{1, -0x1p-61}, DD{}, DD{nan}},
		{Atanh, DD{1, -0x1p-61}, DD{}, DD{31 * math.Ln2}},
		{Atanh, DD{-1, -0x1p-61}, DD{}, DD{nan}},
	} {
		z := value(c.f, c.x, c.y)
		if same := math.Float64bits(z[0]) == math.Float64bits(c.z[0]); !same && !(math.Abs(z[0]-c.z[0]) <= 0x1p-50*math.Abs(z[0])) {
			t.Errorf("%v(%x, %x) = %x, want %x", c.f, c.x, c.y, z, c.z)
		}
	}
}

// TestCircleNearMultiples takes the expansions nearest to multiples of π/2, up to 2^1023.
func TestCircleNearMultiples(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for w := 2; w <= 4; w++ {
		for i := range 150 {
			k := new(big.Float).SetPrec(3000).SetMantExp(big.NewFloat(float64(1+r.IntN(1<<20))), 0)
			if i > 20 {
				k.SetMantExp(k, r.IntN(1002))
			}
			k.Mul(k, bigfun.Pi(3000))
			k.SetMantExp(k, -1)
			x := make([]float64, w)
			for j := range x {
				x[j], _ = k.Float64()
				k.Sub(k, new(big.Float).SetFloat64(x[j]))
			}
			if !normalised(x) || math.IsInf(x[0], 0) {
				continue
			}
			for _, f := range []Function{Sin, Cos, Tan} {
				z := call(f, x, x)
				if e := functionError(f, x, x, z); !(e <= functionLimit) {
					t.Errorf("%v(%x) = %x: error %.3g of 2^-%d", f, x, z, e, 53*w)
				}
			}
		}
	}
}

// TestFunctionEdges walks along the arguments whose results end the range of float64.
func TestFunctionEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for w := 2; w <= 4; w++ {
		for _, c := range []struct {
			f Function
			x float64
		}{
			{Exp, 709.782712893384}, {Exp, -708.3964185322641}, {Exp, -745.1332191019411}, {Exp2, 1024}, {Exp2, -1022}, {Exp2, -1074},
			{Sinh, 710.4758600739439}, {Cosh, 710.4758600739439}, {Sinh, -710.4758600739439}, {Expm1, 709.782712893384},
			{Tanh, 0x1p-1022}, {Sin, 0x1p-1022}, {Atan, 0x1p-1022}, {Asinh, 0x1p-1022}, {Log1p, 0x1p-1022}, {Expm1, 0x1p-1022}, {Cbrt, 0x1p-1022},
			{Log, 0x1p-1022}, {Log2, 0x1p-1074}, {Cbrt, 0x1p-1074}, {Log, math.MaxFloat64}, {Asinh, math.MaxFloat64}, {Acosh, math.MaxFloat64},
			{Sin, math.MaxFloat64}, {Cos, math.MaxFloat64}, {Tan, 0x1p1000}, {Asinh, hyperbolicLimit}, {Acosh, hyperbolicLimit},
			{Sin, circleLimit}, {Cos, -circleLimit}, {Log, logSplit}, {Log, 0.75}, {Log1p, -0x1p-53}, {Log1p, 0x1p-15},
		} {
			for range 20 {
				x0 := c.x
				for range r.IntN(4) {
					x0 = math.Nextafter(x0, math.Inf(2*r.IntN(2)-1))
				}
				x := extend(r, x0, w)
				if !regular(c.f, x, x) {
					continue
				}
				z := call(c.f, x, x)
				if e := functionError(c.f, x, x, z); !(e <= functionLimit) || !normalised(z) {
					t.Errorf("%v(%x) = %x: error %.3g of 2^-%d; normalised %v", c.f, x, z, e, 53*w, normalised(z))
				}
			}
		}
	}
}

// TestFunctionBlocks wants a lane's result to be the scalar's, whatever its neighbours are.
func TestFunctionBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range Functions() {
		for w := 2; w <= 4; w++ {
			for _, n := range []int{lanes, 1, 13} {
				e := &evaluator{a: &portable, w: w, n: n}
				b := e.take(3)
				var x, y [lanes][]float64
				for i := range n {
					x[i], y[i] = arguments(r, f, w)
					if r.IntN(8) == 0 {
						x[i] = extend(r, []float64{math.Inf(1), math.NaN(), 0, math.Inf(-1)}[r.IntN(4)], w)
					}
					for k := range w {
						b[1][k][i], b[2][k][i] = x[i][k], y[i][k]
					}
				}
				e.apply(f, &b[0], &b[1], &b[2])
				if e.give(3); e.used != 0 {
					t.Fatalf("%v: %d blocks of scratch are not given back", f, e.used)
				}
				for i := range n {
					z := call(f, x[i], y[i])
					for k := range w {
						if math.Float64bits(z[k]) != math.Float64bits(b[0][k][i]) {
							t.Fatalf("%v(%x, %x) = %x, word %d of lane %d of %d is %x", f, x[i], y[i], z, k, i, n, b[0][k][i])
						}
						if b[1][k][i] != x[i][k] && x[i][k] == x[i][k] {
							t.Fatalf("%v changes its argument", f)
						}
					}
				}
			}
		}
	}
}

func TestSinCos(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		x := QD(extend(r, argument(r, Sin), 4))
		s, c := x.SinCos()
		if ws, wc := x.Sin(), x.Cos(); ws != s && s[0] == s[0] || wc != c && c[0] == c[0] {
			t.Errorf("%x.SinCos() = %x, %x, want %x, %x", x, s, c, ws, wc)
		}
	}
}

func TestFunctionsDoNotAllocate(t *testing.T) {
	x := QD{1.5}
	if n := testing.AllocsPerRun(100, func() { x = x.Sin().Add(x.Exp()).Pow(x).Log() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFunctionNames(t *testing.T) {
	for _, f := range Functions() {
		if g, err := ParseFunction(f.String()); g != f || err != nil {
			t.Errorf("ParseFunction(%q) = %v, %v", f, g, err)
		}
	}
	for _, name := range []string{"", "Exp", "exp ", "sincos"} {
		if _, err := ParseFunction(name); err == nil {
			t.Errorf("ParseFunction(%q): no error", name)
		}
	}
	if s := Function(99).String(); s != "Function(99)" {
		t.Errorf("Function(99).String() = %q", s)
	}
}

package expansion

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/funtest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

var functionSweep = flag.Int("expansion.functions", 0, "random arguments a function and format in TestFunctions, 0: by the length of tests")

// functionLimit exceeds every error found, in units of u^w, and is well below the proved bounds.
const functionLimit = 24

// call is f(x, y) as a scalar of len(x) words.
func call(f Function, x, y []float64) []float64 {
	switch len(x) {
	case 2:
		z := applyOne(f, DD(x), DD(y))
		return z[:]
	case 3:
		z := applyOne(f, TD(x), TD(y))
		return z[:]
	}
	z := applyOne(f, QD(x), QD(y))
	return z[:]
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
	r := testseed.Rand(t, uint64(f), uint64(w))
	worst := 0.0
	var at [2][]float64
	for range cmp.Or(*functionSweep, testlength.Of(60, 120, 250)) {
		x, y := funtest.Arguments(r, f.String(), w)
		if !funtest.Regular(f.String(), x, y) {
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

// functionError is the error of z = f(x, y) in units of u^w |z|.
func functionError(f Function, x, y, z []float64) float64 {
	return funtest.Error(z, funtest.Oracle(f.String(), funtest.Exact(x), funtest.Exact(y)))
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
	both := func(values []float64) []float64 {
		for _, x := range values {
			values = append(values, -x)
		}
		return values
	}
	inf, nan := math.Inf(1), math.Float64frombits(0x7ff34dfe665a9439)
	values := both([]float64{
		0, 0x1p-1074, 0x1p-1022, 1e-300, 0x1p-60, 0.5, 1 - 0x1p-53, 1, 1 + 0x1p-52, 1.5, 2, 3, 20, 709, 710, 745, 746, 1023, 1024, 1074, 1075,
		1e5, 0x1p52, 0x1p52 + 1, 0x1p53, 0x1p53 + 2, 1e300, math.MaxFloat64, inf, math.NaN(), nan,
	})
	pairs := both([]float64{0, 0x1p-1074, 0.5, 1 - 0x1p-53, 1, 1.5, 2, 3, 1074, 0x1p52 + 1, 0x1p53, 1e300, inf, nan})
	for _, f := range Functions() {
		switch g := mathFunctions[f].(type) {
		case func(float64) float64:
			for _, x := range values {
				checkSpecial(t, f, x, 0, g(x))
			}
		case func(x, y float64) float64:
			for _, x := range pairs {
				for _, y := range pairs {
					checkSpecial(t, f, x, y, g(x, y))
				}
			}
		}
	}
}

// checkSpecial checks that f(x, y) is want, if want is a special value or a constant, and else that
// its error is small.
func checkSpecial(t *testing.T, f Function, x, y, want float64) {
	t.Helper()
	for w := 2; w <= 4; w++ {
		a, b := make([]float64, w), make([]float64, w)
		a[0], b[0] = x, y
		z := call(f, a, b)
		ok := normalised(z)
		switch {
		case funtest.Regular(f.String(), a, b): // package math can be far off
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
		z := applyOne(c.f, c.x, c.y)
		if same := math.Float64bits(z[0]) == math.Float64bits(c.z[0]); !same && !(math.Abs(z[0]-c.z[0]) <= 0x1p-50*math.Abs(z[0])) {
			t.Errorf("%v(%x, %x) = %x, want %x", c.f, c.x, c.y, z, c.z)
		}
	}
}

// TestCircleNearMultiples takes the expansions nearest to multiples of π/2, up to 2^1023.
func TestCircleNearMultiples(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
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
	r := testseed.Rand(t, 3, 4)
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
			{Sin, circleLimit}, {Cos, -circleLimit}, {Log, math.Sqrt2}, {Log, 0.75}, {Log1p, -0x1p-53}, {Log1p, 0x1p-15},
		} {
			for range 20 {
				x0 := c.x
				for range r.IntN(4) {
					x0 = math.Nextafter(x0, math.Inf(2*r.IntN(2)-1))
				}
				x := funtest.Extend(r, x0, w)
				if !funtest.Regular(c.f.String(), x, x) {
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

// TestFunctionBlocks checks that a lane's result equals the scalar's, with any neighbours.
func TestFunctionBlocks(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	for _, f := range Functions() {
		for w := 2; w <= 4; w++ {
			for _, n := range []int{lanes, 1, 13} {
				e := &evaluator{a: &portable, w: w, n: n}
				b := e.take(3)
				var x, y [lanes][]float64
				for i := range n {
					x[i], y[i] = funtest.Arguments(r, f.String(), w)
					if r.IntN(8) == 0 {
						x[i] = funtest.Extend(r, []float64{math.Inf(1), math.NaN(), 0, math.Inf(-1)}[r.IntN(4)], w)
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
						if k > 0 {
							b[0][k][i] += 0 // the sign of zeros is not settled yet
						}
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
	r := testseed.Rand(t, 7, 8)
	for range 200 {
		x := QD(funtest.Extend(r, r.NormFloat64()*1e5, 4))
		s, c := x.SinCos()
		if ws, wc := x.Sin(), x.Cos(); ws != s && s[0] == s[0] || wc != c && c[0] == c[0] {
			t.Errorf("%x.SinCos() = %x, %x, want %x, %x", x, s, c, ws, wc)
		}
	}
}

func TestFunctionsDoNotAllocate(t *testing.T) {
	if testlength.Race {
		t.Skip("the race detector makes pools drop what they keep")
	}
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

// TestFunctionBounds derives the bounds of functions from the bounds of operations, as the table of
// functions does, and checks that the documentation of methods has them.
func TestFunctionBounds(t *testing.T) {
	text, err := os.ReadFile("functions.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.ReplaceAll(string(text), "\n// ", " ") // each comment in one line
	for w := 2; w <= 4; w++ {
		o := struct{ A, M, D, S, F, G float64 }{
			Bound("add", w), Bound("mul", w), Bound("div", w), Bound("sqrt", w), Bound("addF", w), Bound("mulF", w),
		}
		exp := o.F + 0.42*(o.A+1)
		expm1 := max(2*o.F+1.4*(o.A+1), 3*o.A+2)
		sin := 3*o.A + o.M + o.F + 3 + (o.A+o.G+1)/6
		atan := 2*o.G + 5*o.A + o.D + 4
		asin := atan + o.S + o.F + o.M/2
		cosh := expm1 + 2*o.F + o.M + o.D
		least := map[Function]float64{
			Exp: exp, Exp2: exp, Expm1: expm1, Log: o.F + 0.5, Log1p: o.F + 0.5, Log2: 2*o.F + o.M + 1, Log10: o.F + o.M + 2,
			Pow: exp + 745*0x1p-14*(4*o.A+2*o.M) + 1, Cbrt: o.A + 4.0/3*o.G, Hypot: o.S + (o.A+o.M)/2,
			Sin: sin, Cos: sin, Tan: 2*sin + o.D, Atan: atan, Atan2: atan, Asin: asin, Acos: asin,
			Sinh: expm1 + o.A + (o.D+o.F)/2, Cosh: cosh, Tanh: cosh,
			Asinh: o.F + o.A + (2*o.M+2*o.D+3*o.F+o.S)/4 + o.F + 1, Acosh: o.A + o.S + (o.M+o.F)/2 + 2*o.F + 1, Atanh: o.D + 2*o.F + 1,
		}
		for _, f := range Functions() {
			if b := f.Bound(w); !(b >= least[f]) {
				t.Errorf("%v in %d words: bound %g, operations add up to %g", f, w, b, least[f])
			}
			name := strings.ToUpper(f.String()[:1]) + f.String()[1:]
			says := fmt.Sprintf("error of at most %gu%c: see [%s].\nfunc (a %s) %s(", f.Bound(w), []rune("²³⁴")[w-2], name, []string{"DD", "TD", "QD"}[w-2], name)
			if !strings.Contains(lines, says) {
				t.Errorf("functions.go does not say %q", says)
			}
		}
	}
}

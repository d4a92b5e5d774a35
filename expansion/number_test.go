package expansion

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
)

// number has the common methods of DD, TD and QD outside their arithmetic.
type number[T any] interface {
	DD | TD | QD
	Cmp(T) int
	Equal(T) bool
	Less(T) bool
	Floor() T
	Ceil() T
	Trunc() T
	Round() T
	RoundToEven() T
	Mod(T) T
	Ldexp(int) T
	Frexp() (T, int)
	Big() *big.Float
	Float64() float64
	Int64() (int64, bool)
	Canonical() T
	Scalar() halfulp.Scalar
	DD() DD
	TD() TD
	QD() QD
	Text(int) string
	IsNaN() bool
	fmt.Formatter
	fmt.Stringer
}

// Conversions between equal formats, for the tests.
func (a DD) DD() DD { return a.Canonical() }
func (a TD) TD() TD { return a.Canonical() }
func (a QD) QD() QD { return a.Canonical() }

func TestNumbers(t *testing.T) {
	t.Run("DD", func(t *testing.T) {
		testNumbers(t, halfulp.DD, func(x []float64) DD { return DD(x) }, func(a DD) []float64 { return a[:] }, DDFromBig, DDFromScalar, ParseDD)
	})
	t.Run("TD", func(t *testing.T) {
		testNumbers(t, halfulp.TD, func(x []float64) TD { return TD(x) }, func(a TD) []float64 { return a[:] }, TDFromBig, TDFromScalar, ParseTD)
	})
	t.Run("QD", func(t *testing.T) {
		testNumbers(t, halfulp.QD, func(x []float64) QD { return QD(x) }, func(a QD) []float64 { return a[:] }, QDFromBig, QDFromScalar, ParseQD)
	})
}

func sameWords(x, y []float64) bool {
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
			return false
		}
	}
	return len(x) == len(y)
}

func testNumbers[T number[T]](t *testing.T, f halfulp.Format, of func([]float64) T, words func(T) []float64,
	fromBig func(*big.Float) T, fromScalar func(halfulp.Scalar) T, parse func(string) (T, error)) {
	w := len(words(*new(T)))
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	integers := func(x *big.Float, up bool) *big.Float { // the integer at or below (above) x
		n, _ := x.Int(nil)
		z := new(big.Float).SetPrec(x.Prec()).SetInt(n)
		if c := z.Cmp(x); c > 0 && !up {
			z.Sub(z, big.NewFloat(1))
		} else if c < 0 && up {
			z.Add(z, big.NewFloat(1))
		}
		return z
	}
	for range 2000 {
		var x []float64
		switch r.IntN(5) {
		case 0:
			x = operand(r, w, -1074, 1020)
		case 1: // halves and integers in every word
			x = operand(r, w, -3, 200)
			if i := 1 + r.IntN(w-1); x[i-1] != 0 {
				for j := i; j < w; j++ {
					x[j] = 0
				}
				x[i] = float64(r.IntN(9)-4) / 2
				if i+1 < w && x[i] != 0 {
					x[i+1] = word(r, -300, -60)
				}
				if !normalised(x) {
					continue
				}
			}
		default:
			x = operand(r, w, -200, 250)
		}
		for i := range x {
			if math.IsInf(x[i], 0) {
				t.Fatal(x)
			}
		}
		if !nonoverlapping(x) { // underflowed tails
			continue
		}
		a := of(x)
		y := operand(r, w, -200, 250)
		switch r.IntN(4) {
		case 0:
			y = near(r, x)
		case 1:
			y = append([]float64(nil), words(a.Canonical())...)
		}
		if !nonoverlapping(y) {
			continue
		}
		b := of(y)
		fail := func(op string, got, want any) {
			t.Helper()
			t.Fatalf("seed %d: %s of %x and %x: %v, want %v", seed, op, x, y, got, want)
		}
		A, B := exact(x), exact(y)

		// Order.
		c := A.Cmp(B)
		if a.Cmp(b) != c || b.Cmp(a) != -c || a.Equal(b) != (c == 0) || a.Less(b) != (c < 0) {
			fail("Cmp", a.Cmp(b), c)
		}

		// Conversions; the root package's are the oracle.
		if a.Big().Cmp(A) != 0 {
			fail("Big", a.Big(), A)
		}
		if g, _ := A.Float64(); a.Float64() != g {
			fail("Float64", a.Float64(), g)
		}
		s := halfulp.NewScalar(f, A)
		if z := a.Canonical(); !sameWords(words(z), words(fromScalar(s))) || exact(words(z)).Cmp(A) != 0 || !a.Scalar().Same(s) {
			fail("Canonical", words(z), s)
		}
		long := new(big.Float).SetPrec(2000).Mul(A, B)
		if r.IntN(2) == 0 {
			long = long.SetPrec(0).Set(A)
			long.SetPrec(3000).Add(long, new(big.Float).SetMantExp(big.NewFloat(float64(r.IntN(3)-1)), A.MantExp(nil)-54*w-r.IntN(3)))
		}
		if got, want := words(fromBig(long)), words(fromScalar(halfulp.NewScalar(f, long))); !sameWords(got, want) || !nonoverlapping(got) {
			fail("FromBig", got, want)
		}
		if d := a.DD(); !d.Scalar().Same(halfulp.NewScalar(halfulp.DD, A)) || !sameWords(d[:], words2(d.Scalar())) {
			fail("DD", d, A)
		}
		if d := a.TD(); !d.Scalar().Same(halfulp.NewScalar(halfulp.TD, A)) {
			fail("TD", d, A)
		}
		if d := a.QD(); !d.Scalar().Same(halfulp.NewScalar(halfulp.QD, A)) {
			fail("QD", d, A)
		}
		wantInt, acc := A.Int64()
		if i, ok := a.Int64(); i != wantInt || ok != (acc == big.Exact) {
			fail("Int64", i, wantInt)
		}

		// Text.
		if z, err := parse(a.String()); err != nil || z != a.Canonical() {
			fail("String", a, z)
		}
		if r.IntN(8) == 0 {
			for _, verb := range []string{"%.5e", "%+.40g", "%-90.70e|", "% 90.60g", "%090.3E", "%.12f", "%e", "%.30v"} {
				if got, want := fmt.Sprintf(verb, a), fmt.Sprintf(verb, A); got != want {
					fail(verb, got, want)
				}
			}
		}

		// Integers.
		floor, ceil := integers(A, false), integers(A, true)
		round, even := new(big.Float).Set(floor), new(big.Float).Set(floor)
		half := new(big.Float).SetPrec(A.Prec()).Sub(A, floor)
		switch h := half.Cmp(big.NewFloat(0.5)); {
		case h > 0:
			round, even = ceil, ceil
		case h == 0:
			if n, _ := floor.Int(nil); n.Bit(0) == 1 {
				even = ceil
			}
			if A.Sign() > 0 {
				round = ceil
			}
		}
		trunc := floor
		if A.Sign() < 0 {
			trunc = ceil
		}
		for _, c := range []struct {
			op   string
			got  T
			want *big.Float
			ref  func(float64) float64
		}{
			{"Floor", a.Floor(), floor, math.Floor},
			{"Ceil", a.Ceil(), ceil, math.Ceil},
			{"Trunc", a.Trunc(), trunc, math.Trunc},
			{"Round", a.Round(), round, math.Round},
			{"RoundToEven", a.RoundToEven(), even, math.RoundToEven},
		} {
			z := words(c.got)
			if exact(z).Cmp(c.want) != 0 || !nonoverlapping(z) || z[0] == 0 && math.Signbit(z[0]) != math.Signbit(x[0]) {
				// Floor of numbers in (0, 1) is +0, Ceil of those in (-1, 0) is -0.
				fail(c.op, z, c.want)
			}
		}

		// Remainder.
		if B.Sign() != 0 {
			q := new(big.Float).SetPrec(4*prec).Quo(A, B)
			n, _ := q.Int(nil)
			rem := new(big.Float).SetPrec(8 * prec)
			rem.Sub(A, rem.Mul(new(big.Float).SetPrec(8*prec).SetInt(n), B))
			// A quotient within 2^-4000 of an integer is that integer.
			if z := a.Mod(b); !sameWords(words(z)[:1], words(fromBig(rem))[:1]) && rem.Sign() != 0 || rem.Sign() != 0 && z != fromBig(rem) {
				fail("Mod", words(z), words(fromBig(rem)))
			}
		}

		// Scaling.
		e := r.IntN(5000) - 2500
		scaled := new(big.Float).SetMantExp(A, e)
		if z := a.Ldexp(e); z.Canonical() != fromBig(scaled) {
			fail(fmt.Sprintf("Ldexp %d", e), words(z), words(fromBig(scaled)))
		}
		if x[0] != 0 {
			m := new(big.Float)
			e := A.MantExp(m)
			if z, got := a.Frexp(); got != e || z.Canonical() != fromBig(m) {
				fail("Frexp", got, e)
			}
		}
	}
}

// words2 returns the words of a DD scalar.
func words2(s halfulp.Scalar) []float64 { z := DDFromScalar(s); return z[:] }

func TestNumbersSpecial(t *testing.T) {
	inf, negZero := math.Inf(1), math.Copysign(0, -1)
	values := []float64{0, negZero, inf, -inf, math.NaN(), 1, -2.5, 0.5, -0.5, 0.25, -0.25, math.MaxFloat64, 5e-324}
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y }
	for _, x := range values {
		a := QDOf(x)
		for op, c := range map[string]struct {
			got  QD
			want float64
		}{
			"Floor": {a.Floor(), math.Floor(x)}, "Ceil": {a.Ceil(), math.Ceil(x)}, "Trunc": {a.Trunc(), math.Trunc(x)},
			"Round": {a.Round(), math.Round(x)}, "RoundToEven": {a.RoundToEven(), math.RoundToEven(x)},
			"Ldexp": {a.Ldexp(-3), math.Ldexp(x, -3)}, "Neg": {a.Neg(), -x}, "Abs": {a.Abs(), math.Abs(x)},
			"Scalar": {QDFromScalar(a.Scalar()), x}, "Canonical": {a.Canonical(), x}, "DD": {a.DD().QD(), x}, "TD": {a.TD().QD(), x},
			"DDOf": {DDOf(x).QD(), x}, "TDOf": {TDOf(x).QD(), x},
			"Float64": {QDOf(a.Float64()), x},
		} {
			if !same(c.got[0], c.want) || !sameWords(c.got[1:], make([]float64, 3)) {
				t.Errorf("%s(%v) = %v, want %v", op, x, c.got, c.want)
			}
		}
		for _, y := range values {
			b := QDOf(y)
			if z := a.Mod(b); !same(z[0], math.Mod(x, y)) || !sameWords(z[1:], make([]float64, 3)) {
				t.Errorf("Mod(%v, %v) = %v, want %v", x, y, z, math.Mod(x, y))
			}
			if a.Less(b) != (x < y) || a.Equal(b) != (x == y) {
				t.Errorf("Less, Equal(%v, %v) = %v, %v", x, y, a.Less(b), a.Equal(b))
			}
			if DDOf(x).Less(DDOf(y)) != (x < y) || DDOf(x).Equal(DDOf(y)) != (x == y) {
				t.Errorf("DD: Less, Equal(%v, %v)", x, y)
			}
		}
		for _, verb := range []string{"%v", "%8.3g", "%+g", "%-9.2e|", "%012.4f", "% g", "%s"} {
			want := fmt.Sprintf(strings.Replace(verb, "s", "v", 1), x)
			if math.Abs(x) > 1e20 && x-x == 0 || x == 5e-324 {
				continue // its decimals beyond a float64's
			}
			if got := fmt.Sprintf(verb, a); got != want {
				t.Errorf("Sprintf(%q, %v) = %q, want %q", verb, x, got, want)
			}
		}
		if i, ok := a.Int64(); ok != (x == math.Trunc(x) && math.Abs(x) < 1<<63) || ok && float64(i) != x {
			t.Errorf("Int64(%v) = %d, %v", x, i, ok)
		}
	}
	for _, i := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1<<53 + 1, 1<<62 + 255} {
		a := DDFromInt64(i)
		if j, ok := a.Int64(); j != i || !ok || !normalised(a[:]) {
			t.Errorf("DDFromInt64(%d) = %v", i, a)
		}
		if TDFromInt64(i).DD() != a || QDFromInt64(i).DD() != a {
			t.Errorf("FromInt64(%d)", i)
		}
	}
}

func TestText(t *testing.T) {
	a, err := ParseQD("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"%v":       a.String(),
		"%+v":      "+" + a.String(),
		"%-80v|":   a.String() + strings.Repeat(" ", 80-len(a.String())) + "|",
		"%080v":    strings.Repeat("0", 80-len(a.String())) + a.String(),
		"% 80s":    strings.Repeat(" ", 80-len(a.String())) + a.String(),
		"%.60f":    "3.141592653589793238462643383279502884197169399375105820974945",
		"%.40e":    "3.1415926535897932384626433832795028841972e+00",
		"%10.3g":   "      3.14",
		"%d":       "%!d(*big.Float=3.141592654)",
		"%+010.2f": "+000003.14",
	} {
		if format == "%d" {
			if got := fmt.Sprintf(format, a); !strings.HasPrefix(got, "%!d(") {
				t.Errorf("%s: %q", format, got)
			}
			continue
		}
		if got := fmt.Sprintf(format, a); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	text, err := json.Marshal(map[string]QD{"pi": a})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]QD
	if err := json.Unmarshal(text, &back); err != nil || back["pi"] != a {
		t.Errorf("%s: %v, %v", text, back, err)
	}
	for _, s := range []string{"", "x", "1e", "0x", "1..2", "--1", "nanx"} {
		if _, err := ParseDD(s); err == nil {
			t.Errorf("ParseDD(%q) gives no error", s)
		}
		z := DDOf(7)
		if err := z.UnmarshalText([]byte(s)); err == nil || z != DDOf(7) {
			t.Errorf("UnmarshalText(%q) = %v, %v", s, z, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-0", "1e-324", "1.7976931348623157e308", "1e400", "0x1.8p+3", "inf", "nan", "-1.5d-3",
		"1.0000000000000001110223024625156540423631668090820312500001", "9007199254740993.00000000000000000000001", "2.5e-310"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseQD(s)
		d, err2 := ParseDD(s)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%q: %v, %v", s, err, err2)
		}
		if err != nil {
			return
		}
		if !a.IsNaN() && (!nonoverlapping(a[:]) || !normalised(d[:])) {
			t.Fatalf("%q: %x, %x", s, a, d)
		}
		if b, err := ParseQD(a.String()); err != nil || b != a && !a.IsNaN() {
			t.Fatalf("%q: %v, then %v, %v", s, a, b, err)
		}
		if r, ok := new(big.Rat).SetString(s); ok && len(s) < 100 {
			if x, _ := r.Float64(); math.Float64bits(x) != math.Float64bits(a[0]) && x != 0 {
				t.Fatalf("%q: leading word %v, want %v", s, a[0], x)
			}
		}
	})
}

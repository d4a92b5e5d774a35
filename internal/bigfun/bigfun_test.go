package bigfun

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// agree fails unless |a - b| <= 2^-prec |b|.
func agree(t *testing.T, what string, a, b *big.Float, prec int) {
	t.Helper()
	d := new(big.Float).SetPrec(4000).Sub(a, b)
	if d.Sign() != 0 && (b.Sign() == 0 || d.MantExp(nil)-b.MantExp(nil) > -prec) {
		t.Errorf("%s: %.50g and %.50g differ", what, a, b)
	}
}

// TestConstants compares with the digits in Abramowitz and Stegun, Handbook of Mathematical
// Functions, table 1.1, and in OEIS A000796, A002162.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		name   string
		got    *big.Float
		digits string
	}{
		{"π", Pi(300), "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"},
		{"ln 2", Ln2(300), "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754"},
		{"e", Exp(big.NewFloat(1), 300), "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138217852516642743"},
	} {
		want, _, err := big.ParseFloat(c.digits, 10, 400, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, c.name, c.got, want, 330)
	}
}

// TestIdentities checks identities to nearly all bits, and compares with package math to most of
// its bits.
func TestIdentities(t *testing.T) {
	const p = 400
	r := testseed.Rand(t, 1, 2)
	one := big.NewFloat(1)
	sum := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(p+64).Add(a, b) }
	product := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(p+64).Mul(a, b) }
	for range 200 {
		f := math.Ldexp(r.NormFloat64(), r.IntN(24)-18)
		x := big.NewFloat(f)
		e := Exp(x, p)
		near := func(what string, a *big.Float, want float64) {
			t.Helper()
			agree(t, what, a, big.NewFloat(want), 40)
		}
		agree(t, "ln e^x", Log(e, p), x, p-30) // ln e^x loses bits near x = 0
		agree(t, "ln(1 + (e^x - 1))", Log1p(Expm1(x, p), p), x, p)
		agree(t, "e^x - 1", sum(Expm1(x, p), one), e, p)
		s, c := SinCos(x, p)
		agree(t, "sin² + cos²", sum(product(s, s), product(c, c)), one, p)
		s2, c2 := SinCos(product(x, big.NewFloat(2)), p)
		agree(t, "sin 2x", s2, product(big.NewFloat(2), product(s, c)), p-8)
		y, k := Atan2(s, c, p), math.Floor((f+math.Pi)/(2*math.Pi))
		agree(t, "atan2(sin x, cos x)", sum(y, product(big.NewFloat(2*k), Pi(p))), x, p-30)
		if math.Abs(f) < 700 {
			near("exp", e, math.Exp(f))
		}
		near("sin", s, math.Sin(f))
		near("cos", c, math.Cos(f))
		near("cos 2x", c2, math.Cos(2*f))
		near("log1p", Log1p(new(big.Float).Abs(x), p), math.Log1p(math.Abs(f)))
		near("atan", Atan2(x, one, p), math.Atan(f))
	}
}

// TestHugeArgument compares the sine of 10^22 with Ng, Argument reduction for huge arguments: good
// to the last bit, 1992, and compares two precisions of the reduction at 2^1000.
func TestHugeArgument(t *testing.T) {
	s, _ := SinCos(big.NewFloat(1e22), 100)
	agree(t, "sin 1e22", s, big.NewFloat(-0.8522008497671888), 50)
	x := new(big.Float).SetMantExp(big.NewFloat(1), 1000)
	a, b := SinCos(x, 100)
	c, d := SinCos(x, 700)
	agree(t, "sin 2^1000", a, c, 100)
	agree(t, "cos 2^1000", b, d, 100)
}

// TestLogWide takes arguments far from 1, and arguments so near to 1 that a fixed precision would
// not suffice.
func TestLogWide(t *testing.T) {
	x := new(big.Float).SetMantExp(big.NewFloat(1.25), -20000)
	want := new(big.Float).SetPrec(500).Mul(Ln2(500), big.NewFloat(-20000))
	agree(t, "ln 1.25 2^-20000", Log(x, 400), want.Add(want, Log(big.NewFloat(1.25), 480)), 400)
	tiny := new(big.Float).SetMantExp(big.NewFloat(1), -5000)
	x = new(big.Float).SetPrec(6000).Add(big.NewFloat(1), tiny)
	agree(t, "ln(1 + 2^-5000)", Log(x, 400), tiny, 400)
	x = new(big.Float).SetPrec(6000).Quo(big.NewFloat(1), big.NewFloat(3))
	agree(t, "e^ln(1/3)", Exp(Log(x, 5500), 5500), x, 5490)
}

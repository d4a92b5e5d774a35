package bigfun

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestGamma compares with digits from mpmath 1.3, with factorials, and checks the reflection and
// duplication formulas.
func TestGamma(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits string
	}{
		{0.1, "9.5135076986687312858079798958252325009137161063903082657021003535778921249451966586774428938154893110073171592"},
		{0.5, "1.7724538509055160272981674833411451827975494561223871282138077898529112845910321813749506567385446654162268236"},
		{1.25, "0.90640247705547707798267128896691800074879192072001636685834449989247981088468228040459003418084607509036793785"},
		{1.9, "0.96176583190738738898162361479005051846865540801591807591060509659002203890415142892092303679439982675255714693"},
		{7.3, "1271.4236336639088399178743261418737771201939999686147192599940259312420269448000206047032534816151663482226824"},
		{100.75, "2.9484708887489540532135272056483773558122503262357466747998804112843798672002000555685709709097403143292598069e+157"},
	} {
		want, _, err := big.ParseFloat(c.digits, 10, 500, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, "Γ", Gamma(big.NewFloat(c.x), 300), want, 300)
	}
	factorial := new(big.Float).SetPrec(3000).SetInt(new(big.Int).MulRange(1, 200))
	agree(t, "Γ(201)", Gamma(big.NewFloat(201), 300), factorial, 300)
	rng := testseed.Rand(t, 3, 4)
	for range 40 {
		prec := uint(50 + rng.IntN(400))
		x := big.NewFloat(math.Ldexp(0.5+rng.Float64()/2, rng.IntN(12)-8))
		wide := func() *big.Float { return new(big.Float).SetPrec(5000) }
		next := wide().Add(x, big.NewFloat(1))
		agree(t, "Γ(x + 1)", wide().Mul(Gamma(x, prec), x), Gamma(next, prec), int(prec)-1)
		// Γ(x) Γ(x + 1/2) = 2^(1 - 2x) √π Γ(2x)
		half, twice := wide().Add(x, big.NewFloat(0.5)), wide().Add(x, x)
		power := Exp(wide().Mul(wide().Sub(big.NewFloat(1), twice), Ln2(5000)), 600)
		right := wide().Mul(wide().Mul(power, wide().Sqrt(Pi(5000))), Gamma(twice, prec))
		agree(t, "Γ(x) Γ(x + 1/2)", wide().Mul(Gamma(x, prec), Gamma(half, prec)), right, int(prec)-2)
		if v, _ := Gamma(x, prec).Float64(); math.Abs(v/math.Gamma(mustFloat(x))-1) > 1e-12 {
			t.Errorf("Γ(%v) is %v", x, v)
		}
	}
}

func mustFloat(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

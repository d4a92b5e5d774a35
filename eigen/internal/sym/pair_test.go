package sym

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPair compares pairs with math/big.
func TestPair(t *testing.T) {
	rng := testseed.Rand(t, 5, 9)
	number := func() *big.Float {
		x := new(big.Float).SetPrec(200).SetInt64(rng.Int64N(1<<62) - 1<<61)
		y := new(big.Float).SetPrec(200).SetInt64(rng.Int64N(1<<62) - 1<<61)
		y.SetMantExp(y, -rng.IntN(70)-30)
		x.Add(x, y)
		return x.SetMantExp(x, rng.IntN(80)-40)
	}
	back := func(x pair) *big.Float {
		a := num.New(num.NewMat(num.Precision(128), 0, 0).Arr.Format, 1)
		x.store(a, 0)
		return a.Big(0)
	}
	for trial := range 20000 {
		x, y := number(), number()
		if trial%5 == 0 { // cancellation
			y = new(big.Float).SetPrec(200).Neg(x)
			y.Add(y, new(big.Float).SetMantExp(number(), -rng.IntN(90)))
		}
		p, q := pairOfBig(x), pairOfBig(y)
		close := func(name string, got pair, want, scale *big.Float) {
			d := new(big.Float).SetPrec(300).Sub(back(got), want)
			if d.Sign() != 0 && d.MantExp(nil) > scale.MantExp(nil)-97 {
				t.Fatalf("%s of %v and %v is %v, want %v", name, x, y, back(got), want)
			}
		}
		terms := new(big.Float).SetPrec(200).Add(new(big.Float).Abs(x), new(big.Float).Abs(y))
		close("sum", p.add(q), new(big.Float).SetPrec(300).Add(x, y), terms)
		product := new(big.Float).SetPrec(400).Mul(x, y)
		close("product", p.mul(q), product, product)
		if y.Sign() != 0 {
			quotient := new(big.Float).SetPrec(300).Quo(x, y)
			close("quotient", p.over(q), quotient, quotient)
		}
		m := num.NewMat(num.Precision(192), 1, 1)
		m.SetBig(0, 0, x)
		close("number", pairOf(m.Arr, 0), x, x)
	}
}

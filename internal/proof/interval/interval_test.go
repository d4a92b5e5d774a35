package interval_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func TestDifference(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(300, 900, 30000) {
		p := interval.Prec(2 + r.IntN(90))
		number := func() *big.Float {
			if r.IntN(9) == 0 {
				return new(big.Float)
			}
			x := new(big.Float).SetInt64(r.Int64N(1<<20) - 1<<19)
			return x.SetMantExp(x, r.IntN(400)-200)
		}
		x, y := number(), number()
		exact := interval.ExactSub(x, y)
		lo, hi := p.Difference(p.Down(), x, y, -1), p.Difference(p.Up(), x, y, 1)
		if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 {
			t.Fatalf("seed %d, trial %d: %g - %g is not between %g and %g", seed, trial, x, y, lo, hi)
		}
		width := interval.ExactSub(hi, lo)
		if most := max(x.MantExp(nil), y.MantExp(nil)) + 3 - int(p); width.Sign() > 0 && width.MantExp(nil) > most+1 {
			t.Fatalf("seed %d, trial %d: %g - %g in %d bits is between %g and %g", seed, trial, x, y, p, lo, hi)
		}
	}
}

// TestInvertBlock inverts a block whose inverse leaves the range of exponents in which products are
// safe.
func TestInvertBlock(t *testing.T) {
	p := interval.Prec(64)
	power := func(x float64, e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(x), e) }
	block := func(x, y float64, e int) [][]interval.Interval {
		off := interval.Of(power(x, e))
		return [][]interval.Interval{{interval.Of(power(y, -e)), off}, {off, interval.Of(power(y, -e))}}
	}
	if p.InvertBlock(block(1, 1, 1<<28), 0, 2) == nil {
		t.Error("no inverse")
	}
	if z := p.InvertBlock(block(1, 1, 1<<29-64), 0, 2); z != nil {
		t.Errorf("an entry of the inverse has exponent %d", z[0][0].Hi.MantExp(nil))
	}
}

package solve_test

import (
	"math/big"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// TestBlockInverse compares the proved bound of ‖I - R A‖ with the exact norm, also where R is not
// quite the inverse.
func TestBlockInverse(t *testing.T) {
	r := testseed.Rand(t, 5, 4)
	const n = 30
	for name, a := range lintest.IllConditioned(r, n) {
		s := prooftest.Run(t, runtime.GOMAXPROCS(0))
		f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := solve.InvertByBlocks(s, a.View(), f)
		if err != nil || p == nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, off := range []int{0, -3, 5} { // a number of R is off by 2^off of itself
			if off != 0 {
				x := p.R.Big(n/2, n/3)
				d := new(big.Float).SetMantExp(x, off)
				p.R.SetBig(n/2, n/3, x.Add(x, d))
			}
			if _, err := seed.Distance(s, p, a.View()); err != nil {
				t.Fatal(err)
			}
			exact := new(big.Float)
			for i := range n {
				sum := new(big.Float).SetPrec(3000)
				for j := range n {
					e := new(big.Float).SetPrec(5000)
					if i == j {
						e.SetInt64(-1)
					}
					for h := range n {
						e.Add(e, interval.ExactMul(p.R.Big(i, h), a.Big(h, j)))
					}
					sum.Add(sum, e.Abs(e).SetMantExp(e, int(p.Weights[j]-p.Weights[i])))
				}
				if sum.Cmp(exact) > 0 {
					exact = sum
				}
			}
			most := new(big.Float).SetPrec(64).Add(exact, new(big.Float).SetMantExp(exact, -20))
			if p.Rho.Cmp(exact) < 0 || p.Rho.Cmp(most.Add(most, bound.Exp2(-40))) > 0 {
				t.Errorf("%s, off by 2^%d: a norm of %.6g, told %.6g", name, off, exact, p.Rho)
			}
		}
	}
}

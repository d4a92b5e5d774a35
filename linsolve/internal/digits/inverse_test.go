package digits_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestDigitColumns compares columns of F^-1 and their error bounds with exact columns, for orders
// below and above the number of lanes.
func TestDigitColumns(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, none, near, cut := 0, 0, 0, 0
	enough := func() bool { return good > 0 && none > 0 && near >= good/2 && cut > 0 }
	for trial := range testlength.Until(testlength.Of(30, 60, 5000), enough) {
		n := 1 + r.IntN(6)
		a := lintest.Hard(r, n)
		if trial%8 == 0 { // more than one panel
			n = 9 + r.IntN(9)
			a = lintest.Ill(r, halfulp.MP(53), n, 30)
		}
		bits := 90 + r.IntN(700)
		if bound.Far(a.View(), 1<<20) {
			continue
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", draw, trial, n, bits)
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		z := digitsOf(t, s, a, lu, bits)
		if z == nil {
			none++
			continue
		}
		inverse := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols).Solve(lintest.Identity(n))
		c, err := z.Columns()
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		if c.Cut > 0 {
			cut++
		}
		w := c.Worker(num.Float64)
		for first := 0; first < n; first += z.Count() {
			if !w.SolveLower(first) || !w.SolveUpper(first) {
				none++
				continue
			}
			for k, j := range z.Order[first:min(n, first+z.Count())] {
				for i := range n {
					v := w.Enclosed(i, k)
					x := numtest.Scaled(new(big.Int).Abs(numtest.Signed(append(slices.Clone(v.Mag), 0))), int(v.Exp))
					if v.Neg {
						x.Neg(x)
					}
					err := numtest.Scaled(new(big.Int).SetUint64(v.Err), int(v.Exp))
					if x.Sub(x, inverse[i][j]); x.Abs(x).Cmp(err) > 0 {
						t.Fatalf("%s: entry %d, %d is off by %s, bound %s", name, i, j, x.FloatString(60), err.FloatString(60))
					}
					good++
					if err.Mul(err, numtest.Exact(0x1p40)).Cmp(inverse[i][j].Abs(inverse[i][j])) < 0 {
						near++
					}
				}
			}
		}
	}
	if !enough() {
		t.Fatalf("%d entries, %d none, %d known to 2^-40 of themselves, %d cut", good, none, near, cut)
	}
}

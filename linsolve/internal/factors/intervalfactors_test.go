package factors_test

import (
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestEliminateIntervals compares intervals with exact factors.
func TestEliminateIntervals(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := prooftest.Run(t, 2)
	narrow := 0
	for trial := range testlength.Of(10, 20, 600) {
		n := 1 + r.IntN(8)
		a := lintest.FarApart(r, halfulp.MP(64), n, []int{0, 40, 3000}[r.IntN(3)], false)
		g, err := factors.EliminateIntervals(s, a.View(), ziv.Ones(n), 150, true)
		if err != nil {
			t.Fatal(err)
		}
		x, ok := lintest.Of(a).Rows(g.Order).LU(n)
		if !ok && g.Bad < 0 {
			t.Fatalf("seed %d, trial %d: factors of a singular matrix", seed, trial)
		}
		if g.Bad >= 0 {
			continue
		}
		for i := range n {
			for j := range n {
				v := g.X[i][j]
				lo, _ := v.Lo.Rat(nil)
				hi, _ := v.Hi.Rat(nil)
				if lo.Cmp(x[i][j]) > 0 || hi.Cmp(x[i][j]) < 0 {
					t.Fatalf("seed %d, trial %d: entry %d, %d is not between %g and %g", seed, trial, i, j, v.Lo, v.Hi)
				}
				if !v.HasZero() && ziv.BitsMissing(v, 53) == 0 {
					narrow++
				}
			}
		}
	}
	if narrow == 0 {
		t.Fatal("no interval tells an entry")
	}
}

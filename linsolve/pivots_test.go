package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// exactPivots returns the order of rows by exact partial pivoting, which takes the first of equal
// pivots and exchanges two rows at each step.
func exactPivots(a *halfulp.Matrix) (order []int, regular bool) {
	n := a.Rows()
	x := make([][]*big.Rat, n)
	for i := range x {
		x[i] = make([]*big.Rat, n)
		for j := range n {
			x[i][j], _ = a.Big(i, j).Rat(nil)
		}
	}
	order = call.All(n)
	for k := range n {
		p := k
		for i := k; i < n; i++ {
			if new(big.Rat).Abs(x[i][k]).Cmp(new(big.Rat).Abs(x[p][k])) > 0 {
				p = i
			}
		}
		if x[p][k].Sign() == 0 {
			return nil, false
		}
		x[k], x[p] = x[p], x[k]
		order[k], order[p] = order[p], order[k]
		for i := k + 1; i < n; i++ {
			l := new(big.Rat).Quo(x[i][k], x[k][k])
			for j := k + 1; j < n && l.Sign() != 0; j++ {
				x[i][j].Sub(x[i][j], new(big.Rat).Mul(l, x[k][j]))
			}
		}
	}
	return order, true
}

// TestEqualPivots uses matrices of small integers, where many entries are as large as the pivot,
// and Hilbert matrices, which are also ill-conditioned.
func TestEqualPivots(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	check := func(name string, a *halfulp.Matrix) {
		want, regular := exactPivots(a)
		if !regular {
			return
		}
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(300)} {
			z, err := LU(a, f, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !slices.Equal(z.P, want) {
				t.Fatalf("%s: P = %v, want %v", name, z.P, want)
			}
		}
	}
	for trial := range testlength.Of(2, 4, 40) {
		n := seed.Fewest + r.IntN(12)
		check(fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n), lintest.Integers(r, n, n, 1+trial%3))
	}
	check("Hilbert", gallery.Hilbert(halfulp.MP(200), seed.Fewest+4))
}

// TestPivotsAreFirst checks the order that takes the first of equal pivots, and orders that take
// another of the equal pivots.
func TestPivotsAreFirst(t *testing.T) {
	const n = 9
	r := testseed.Rand(t, 5, 6)
	s := prooftest.Run(t, 1)
	refused := 0
	for range 60 {
		a := lintest.Integers(r, n, n, 1)
		right, regular := exactPivots(a)
		if !regular {
			continue
		}
		for _, by := range []int{0, 1, 3} {
			order := slices.Clone(right)
			order[0], order[by] = order[by], order[0]
			g, err := seed.Eliminate(s, modular.Chosen(a.View(), order, call.All(n)), n, 200, false)
			if err != nil {
				t.Fatal(err)
			}
			if g.Zero >= 0 {
				continue
			}
			li, ui, err := seed.TriangleInverses(s, g.LU, n)
			if err != nil {
				t.Fatal(err)
			}
			z := &LUFactors{P: order, L: halfulp.NewMatrix(halfulp.Float64, n, n), U: halfulp.NewMatrix(halfulp.Float64, n, n)}
			u := (&factors.LUFactors{L: z.L.View(), U: z.U.View()}).Unknown(modular.Chosen(a.View(), order, call.All(n)))
			e, err := ziv.Enclose(s, u.C, li, ui, 200)
			if err != nil || e == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			ok, err := factors.PivotsAreFirst(s, u, e, order)
			if err != nil || ok != (by == 0) {
				t.Fatalf("order %v, not %v: %v, error %v", order, right, ok, err)
			}
			if at, _ := factors.BelowLimit(s, u, e, seed.Slack); at && by > 0 {
				refused++ // because of equal pivots alone
			}
		}
	}
	if refused == 0 {
		t.Error("no order of equal pivots")
	}
}

package blocks_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
)

// TestBlocks compares the bound of |F^-1| with F^-1, computed exactly, for blocks of all sizes, and
// for more or fewer bits than the elimination takes.
func TestBlocks(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, noise, many, close := 0, 0, 0, 0
	enough := func() bool { return good > 0 && noise > 0 && many > 0 && close > 0 }
	for trial := range testlength.Until(testlength.Of(25, 50, 10000), enough) {
		n := 2 + r.IntN(10)
		a := lintest.Hard(r, n)
		if bound.Far(a.View(), 1<<20) {
			continue
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n)
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		bits := 70 + r.IntN(600)
		z, more, err := blocks.Eliminate(s, a.View(), lu, bits, 1+r.IntN(1+5*(trial%2)))
		switch {
		case errors.Is(err, seed.ErrNoise) || errors.Is(err, seed.ErrProof) || errors.Is(err, call.ErrRange):
			noise++
			if errors.Is(err, seed.ErrProof) && more <= 0 {
				t.Fatalf("%s: %d more bits than %d", name, more, bits)
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		inverse := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols).Solve(lintest.Identity(n))
		if inverse == nil {
			t.Fatalf("%s: a singular matrix is proved to be regular", name)
		}
		good++
		if z.First.Rest != nil && z.First.Rest.Rest != nil {
			many++
		}
		for i := range n {
			sum := new(big.Rat)
			for j := range n {
				sum.Add(sum, new(big.Rat).Abs(inverse[i][j]))
			}
			h := numtest.Exact(z.H[i])
			if sum.Cmp(h) > 0 {
				t.Fatalf("%s, %d bits: row %d of |F^-1| has the sum %s, bound %g", name, bits, i, sum.FloatString(20), z.H[i])
			}
			if h.Quo(h, sum).Cmp(numtest.Exact(0x1p20)) < 0 {
				close++
			}
		}
	}
	if !enough() {
		t.Fatalf("%d inverses, %d of them of more than two blocks, %d bounds within 2^20, %d failures", good, many, close, noise)
	}
}

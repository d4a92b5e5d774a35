package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSolveSpread uses exponents that scaling by largest entries does not bring together.
func TestSolveSpread(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(20, 40, 400) {
		n := 2 + r.IntN(6)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		a := gallery.Random(halfulp.MP(60), n, n, 2000, r.Uint64())
		if trial%2 == 0 {
			h := gallery.Hilbert(halfulp.MP(60), n)
			left, right := make([]int, n), make([]int, n)
			for i := range n {
				left[i], right[i] = r.IntN(1000)-500, r.IntN(1000)-500
			}
			for i := range n {
				for j := range n {
					e := left[i] + right[j]
					if r.IntN(10) == 0 {
						e -= r.IntN(300)
					}
					a.SetBig(i, j, new(big.Float).SetMantExp(h.Big(i, j), e))
				}
			}
		}
		for range r.IntN(n) {
			a.SetFloat64(r.IntN(n), r.IntN(n), 0)
		}
		name := fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n)
		stats := check(t, name, a, gallery.Random(halfulp.Float64, n, 1, 0, r.Uint64()), f)
		if stats.Rounds > 5 {
			t.Errorf("%s: %d decompositions", name, stats.Rounds)
		}
	}
}

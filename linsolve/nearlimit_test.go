package linsolve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSolveNearLimit solves systems with condition numbers around the limit up to which float64
// inverses are proved, and singular systems.
func TestSolveNearLimit(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(30, 60, 3000) {
		n := 2 + r.IntN(12)
		f := halfulp.MP(uint([]int{53, 106, 200}[r.IntN(3)]))
		a := lintest.Ill(r, f, n, 25+r.IntN(28))
		b := gallery.Random(f, n, 1, r.IntN(30), r.Uint64())
		switch trial % 3 {
		case 1:
			lintest.Spread(r, a, 500)
		case 2:
			for j := range n {
				a.Set(0, j, a.At(1, j))
			}
			var singular *SingularError
			if err := lintest.ErrorOf(Solve(a, b, f, nil)); !errors.As(err, &singular) || singular.Rank != n-1 {
				t.Fatalf("seed %d, trial %d, n = %d: %v, want a matrix of rank %d", seed, trial, n, err, n-1)
			}
			continue
		}
		check(t, fmt.Sprintf("seed %d, trial %d, n = %d", seed, trial, n), a, b, f)
	}
}

package linsolve

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSolveIll uses condition numbers up to 2^400 and right-hand sides of several columns.
func TestSolveIll(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(10, 20, 3000) {
		n, k := 2+r.IntN(12), 1+r.IntN(3)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		a := lintest.Ill(r, halfulp.MP(uint(60+r.IntN(400))), n, r.IntN(400))
		b := gallery.Random(lintest.Formats[r.IntN(len(lintest.Formats))], n, k, r.IntN(100), r.Uint64())
		if r.IntN(4) == 0 { // an entry far below the others
			b = halfulp.NewMatrix(halfulp.Float64, n, k)
			b.SetFloat64(r.IntN(n), 0, 1)
		}
		check(t, fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n), a, b, f)
	}
}

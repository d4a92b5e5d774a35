package linsolve

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestLDLTSame compares all results of LDLT by digits with the results by products.
func TestLDLTSame(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	formats := []halfulp.Format{halfulp.Float64, halfulp.MP(100), halfulp.DD, halfulp.MP(300)}
	for trial := range testlength.Of(1, 1, 40) {
		n := seed.Fewest + r.IntN(12)
		f := formats[trial%len(formats)]
		for name, a := range map[string]*halfulp.Matrix{
			"random":    gallery.Random(halfulp.Float64, n, n, 0, r.Uint64()),
			"spread":    gallery.Random(halfulp.Float64, n, n, 40, r.Uint64()),
			"far":       gallery.Random(halfulp.MP(60), n, n, 1500, r.Uint64()),
			"ties":      lintest.Integers(r, n, n, 1),
			"integers":  lintest.Integers(r, n, n, 1<<20),
			"ill":       lintest.Gram(lintest.Ill(r, halfulp.Float64, n, 45)),
			"very ill":  lintest.Gram(lintest.Ill(r, halfulp.MP(200), n, 150)),
			"Hilbert":   gallery.Hilbert(halfulp.MP(200), n),
			"wide rows": lintest.Gram(scaledRows(r, n, 100)),
			"beyond":    movedBy(gallery.Random(halfulp.MP(60), n, n, 0, r.Uint64()), call.MostExponent+100),
		} {
			lintest.Mirrored(a)
			name := fmt.Sprintf("seed %d, trial %d, %s, %v, n = %d", draw, trial, name, f, n)
			var st halfulp.Stats
			x, err := LDLT(a, f, &halfulp.Options{Stats: &st})
			var other halfulp.Stats
			y, failed := LDLT(a, f, &halfulp.Options{Check: true, Stats: &other})
			if (err == nil) != (failed == nil) {
				t.Fatalf("%s: %v, by products %v", name, err, failed)
			}
			if err != nil {
				continue
			}
			if !slices.Equal(x.P, y.P) || !slices.Equal(x.Blocks, y.Blocks) {
				t.Fatalf("%s: pivots differ: %+v, %+v", name, st, other)
			}
			for i := range n {
				for j := range n {
					if !x.L.At(i, j).Same(y.L.At(i, j)) || !x.D.At(i, j).Same(y.D.At(i, j)) {
						t.Fatalf("%s: entries (%d, %d) differ", name, i, j)
					}
				}
			}
		}
	}
}

// movedBy multiplies a matrix by 2^e.
func movedBy(a *halfulp.Matrix, e int) *halfulp.Matrix {
	for i := range a.Rows() {
		for j := range a.Cols() {
			x := a.Big(i, j)
			a.SetBig(i, j, x.SetMantExp(x, e))
		}
	}
	return a
}

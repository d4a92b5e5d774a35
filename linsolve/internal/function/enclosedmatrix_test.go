package function_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/function"
)

// The radii of a product bound the products of matrices within the factors' radii.
func TestEnclosedProduct(t *testing.T) {
	r := testseed.Rand(t, 31, 111)
	s := prooftest.Run(t, runtime.GOMAXPROCS(0))
	for range testlength.Of(30, 60, 1000) {
		n := 1 + r.IntN(4)
		p := gallery.Random(halfulp.MP(100), n, n, r.IntN(900), r.Uint64())
		q := gallery.Random(halfulp.MP(100), n, n, r.IntN(900), r.Uint64())
		bits := 20 + r.IntN(120)
		x, err := function.EncloseMatrix(s, p.View(), bits)
		if err != nil {
			t.Fatal(err)
		}
		y, err := function.EncloseMatrix(s, q.View(), bits)
		if err != nil {
			t.Fatal(err)
		}
		z, err := function.EnclosedProduct(s, x, y, 20+r.IntN(120))
		if err != nil {
			t.Fatal(err)
		}
		want := lintest.Of(p).Times(lintest.Of(q), n)
		for i := range n {
			for j := range n {
				lo, hi := z.Ends(i, j)
				l, _ := function.ScaledBy(lo, z.Exp).Rat(nil)
				h, _ := function.ScaledBy(hi, z.Exp).Rat(nil)
				if l.Cmp(want[i][j]) > 0 || h.Cmp(want[i][j]) < 0 {
					t.Fatal(fmt.Sprint(lintest.Of(p), lintest.Of(q)), i, j, l, h)
				}
			}
		}
	}
}

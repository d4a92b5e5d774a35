package det_test

import (
	"math"
	"math/big"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// TestLongDeterminant compares enclosures, by blocks and by the method that Long chooses, with
// determinants modulo primes.
func TestLongDeterminant(t *testing.T) {
	r := testseed.Rand(t, 4, 4)
	var found [2]int
	for _, n := range []int{24, 33, 50} {
		for name, a := range lintest.IllConditioned(r, n) {
			s := prooftest.Run(t, runtime.GOMAXPROCS(0))
			want, shift, err := det.Exact(s, a.View())
			if err != nil {
				t.Fatal(err)
			}
			for _, places := range []int{30, 150, 1100} {
				f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
				if err != nil {
					t.Fatal(err)
				}
				long, err := det.Long(s, a.View(), f, places, func() float64 { return math.Inf(1) })
				if err != nil {
					t.Fatal(err)
				}
				byBlocks, _, err := blocks.LongDeterminant(s, a.View(), f, 700+places, places)
				if seed.UnlessShort(err) != nil {
					t.Fatal(err)
				}
				for k, d := range []*seed.Determinant{long, byBlocks} {
					if d == nil {
						continue
					}
					found[k]++
					// |want/mid - 1| ≤ 2 log
					x := new(big.Float).SetPrec(20000).SetMantExp(want, int(shift-d.Shift))
					x.Sub(x.Quo(x, d.Mid), big.NewFloat(1))
					if most := bound.Upper().Add(d.Log, d.Log); x.Abs(x).Cmp(most) > 0 || most.MantExp(nil) > 4-places {
						t.Errorf("%s %d, %d places: off by %.3g, told %.3g", name, n, places, x, most)
					}
				}
			}
		}
	}
	if min(found[0], found[1]) < 20 {
		t.Errorf("%d determinants, %d by blocks", found[0], found[1])
	}
}

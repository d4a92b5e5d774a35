package newton_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFloatSquare compares squares by float64 arithmetic with exact squares, also where some
// numbers are far below others.
func TestFloatSquare(t *testing.T) {
	r := testseed.Rand(t, 9, 9)
	s := prooftest.Run(t, 2)
	for trial := range testlength.Of(4, 8, 60) {
		n := 1 + r.IntN(40)
		e := gallery.Random(halfulp.MP(uint(53+r.IntN(150))), n, n, 0, r.Uint64())
		for k := range trial % 4 { // down to what float64 does not hold
			x := e.Big(r.IntN(n), r.IntN(n))
			e.SetBig(r.IntN(n), r.IntN(n), x.SetMantExp(x, -700*k))
		}
		near := call.RowNorm64(e.View())
		v := &newton.Iteration{S: s, F: e.View()}
		exact := lintest.Of(e).Times(lintest.Of(e), n)
		for _, places := range []int{24, newton.FloatPlaces, newton.FloatPlaces + 1} {
			square, lost, err := v.Square(e.View(), near, places)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				sum := new(big.Rat)
				for j, x := range lintest.Of(halfulp.MatrixOf(square))[i] {
					x.Sub(x, exact[i][j])
					sum.Add(sum, x.Abs(x))
				}
				if bound, _ := lost.Rat(nil); sum.Cmp(bound) > 0 {
					t.Fatalf("trial %d, %d places: row %d is off by %s, bound %g", trial, places, i, sum.FloatString(30), lost)
				}
			}
			size, _ := bound.Upper().Mul(near, near).Float64()
			if off, _ := lost.Float64(); off > math.Ldexp(size, 2-places) {
				t.Fatalf("trial %d: %d places are %g of %g", trial, places, off, size)
			}
		}
	}
	s.Release()
}

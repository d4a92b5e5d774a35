package linsolve

import (
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestPivots64 compares orders of columns whose lengths float64 numbers distinguish, and of columns
// that only LongestColumns distinguishes.
func TestPivots64(t *testing.T) {
	const n, first, second = seed.Fewest + 6, 3, 9
	random := gallery.Random(halfulp.Float64, n+2, n, 4, 1)
	a := halfulp.NewMatrix(halfulp.MP(200), n+2, n)
	for i := range a.Rows() {
		for j := range n {
			a.SetBig(i, j, random.Big(i, j))
		}
		a.SetFloat64(i, first, float64(64+i)) // the longest one
	}
	for _, x := range []struct {
		longer int // by 2^-longer is the second one
		quick  bool
		pivot  int
	}{{10, true, second}, {60, false, second}, {100, false, first}} {
		for i := range a.Rows() {
			v := big.NewFloat(float64(64 + (i+1)%a.Rows()))
			d := new(big.Float).SetMantExp(v, -x.longer)
			a.SetBig(i, second, v.SetPrec(200).Add(v, d))
		}
		s := prooftest.Run(t, 2)
		normal, err := factors.Normal(s, a.View())
		if err != nil {
			t.Fatal(err)
		}
		want, err := seed.LongestColumns(s, normal, 164)
		if err != nil || want[0] != x.pivot {
			t.Fatalf("2^-%d: pivots %v, error %v", x.longer, want, err)
		}
		guess, err := seed.Pivots64(s, normal)
		if err != nil {
			t.Fatal(err)
		}
		d, err := factors.NewCholeskyNewton(s, factors.Stacked(normal, a.View(), guess), n, bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.Enclosure(164)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := d.PivotsKept(1, 164)
		if err != nil {
			t.Fatal(err)
		}
		sure, err := seed.LongestBy(s, big.NewFloat(seed.Clearly), e, n)
		if err != nil {
			t.Fatal(err)
		}
		if quick := kept && sure; quick != x.quick || quick && !slices.Equal(guess, want) {
			t.Errorf("2^-%d: the order of float64 numbers passes: %t, %t; %v", x.longer, kept, sure, guess)
		}
		q, err := QRPivoted(a, halfulp.MP(100), nil)
		if err != nil || !slices.Equal(q.P, want) {
			t.Errorf("2^-%d: columns %v, want %v, error %v", x.longer, q.P, want, err)
		}
	}
}

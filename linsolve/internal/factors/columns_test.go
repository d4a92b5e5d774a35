package factors_test

import (
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestLongest checks that enclosed factors of both kinds prove the order of columns, and no other
// order.
func TestLongest(t *testing.T) {
	s := prooftest.Run(t, 2)
	n := seed.Fewest + 6
	a := gallery.Random(halfulp.Float64, n+3, n, 4, 1)
	normal, err := factors.Normal(s, a.View())
	if err != nil {
		t.Fatal(err)
	}
	const bits = 140
	right, err := seed.LongestColumns(s, normal, bits)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, n / 2, n - 2} {
		for _, wrong := range []bool{false, true} {
			order := slices.Clone(right)
			if wrong {
				order[at], order[at+1] = order[at+1], order[at]
			}
			c := factors.Stacked(normal, a.View(), order)
			d, err := factors.NewCholeskyNewton(s, c, n, factors.MostBits(normal.Format()))
			if err != nil {
				t.Fatal(err)
			}
			product, err := d.Enclosure(bits)
			if err != nil || product == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			eliminated, _, err := factors.Positive(s, c, n, bits)
			if err != nil || eliminated == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			for name, e := range map[string]*ziv.Enclosure{"by products": product, "by elimination": eliminated} {
				if ok, err := seed.Longest(s, e, n); err != nil || ok == wrong {
					t.Errorf("%s, columns %d and %d exchanged %v: proved is %v, error %v", name, at, at+1, wrong, ok, err)
				}
			}
		}
	}
}

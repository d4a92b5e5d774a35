package linsolve

import (
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestLongest proves the order of columns from the enclosed factors of both kinds, and not another
// order.
func TestLongest(t *testing.T) {
	s := testSolver(t, 2)
	n := fewest + 6
	a := halfulp.Random(halfulp.Float64, n+3, n, 4, 1)
	normal, err := s.normal(a)
	if err != nil {
		t.Fatal(err)
	}
	const bits = 140
	right, err := s.longestColumns(normal, bits)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, n / 2, n - 2} {
		for _, wrong := range []bool{false, true} {
			order := slices.Clone(right)
			if wrong {
				order[at], order[at+1] = order[at+1], order[at]
			}
			c := stacked(normal, a, order)
			d, err := s.newDoubling(c, n, mostBits(normal.Format()))
			if err != nil {
				t.Fatal(err)
			}
			product, err := d.enclosure(bits)
			if err != nil || product == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			eliminated, _, err := s.positive(c, n, bits)
			if err != nil || eliminated == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			for name, e := range map[string]*enclosure{"by products": product, "by elimination": eliminated} {
				if ok, err := s.longest(e, n); err != nil || ok == wrong {
					t.Errorf("%s, columns %d and %d exchanged %v: proved is %v, error %v", name, at, at+1, wrong, ok, err)
				}
			}
		}
	}
}

package num

import (
	"cmp"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSortExtents compares with package slices.
func TestSortExtents(t *testing.T) {
	r := testseed.Rand(t, 8, 1)
	for _, n := range []int{0, 1, 2, 200, 255, 256, 257, 3000} {
		for _, bits := range []int{3, 11, 20, 31} {
			var z, want []Extent
			for i := range n {
				z = append(z, Extent{First: 77 + uintptr(r.Uint32())>>(32-bits), Owner: i})
			}
			want = append(want, z...)
			slices.SortStableFunc(want, func(x, y Extent) int { return cmp.Compare(x.First, y.First) })
			z = SortExtents(z)
			// Short lists may be sorted in another order of equal addresses.
			if !slices.EqualFunc(z, want, func(x, y Extent) bool { return x.First == y.First && (n < 256 || x.Owner == y.Owner) }) {
				t.Errorf("%d extents of %d bits are not sorted", n, bits)
			}
		}
	}
}

package sym

import (
	"fmt"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
)

// TestBytes compares the memory of matrices that rounds take with the bound that is checked before
// they begin.
func TestBytes(t *testing.T) {
	const n = 40
	defer func(most int) { quickWork = most }(quickWork)
	quickWork = 0 // only the rounds of run count their memory
	for _, bits := range []int{53, 300, 1000} {
		for _, vectors := range []bool{false, true} {
			for _, m := range []int{0, n, 3 * n} { // 0: a symmetric matrix
				f := call.MP(bits)
				want := Wanted{Vectors: vectors, Last: n - 1}
				s := prooftest.Run(t, 1)
				s.Reuse = true
				a := gallery.Random(halfulp.Float64, max(m, n), n, 8, 3).View()
				p := &problem{a: a, gram: m > 0}
				var err error
				if m > 0 {
					_, err = SVD(s, a, f, want, false)
				} else {
					for i := range n {
						for j := range i {
							a.SetEntry(i, j, a.Entry(j, i))
						}
					}
					_, err = Sym(s, a, f, want)
				}
				if err != nil {
					t.Fatal(err)
				}
				e := newSolver(s, p, f, want)
				if m > 0 && vectors {
					e.left = &left{}
				}
				most := e.work().most(first(53))
				// Entries of vectors that take more bits than the others are checked when they are
				// found; they take up to the double.
				name := fmt.Sprintf("%d bits, vectors %v, %d rows", bits, vectors, m)
				if got := float64(s.Budget.Most()); got > 2*most || got < most/4 || !vectors && got > most {
					t.Errorf("%s: %.0f bytes, expected %.0f", name, got, most)
				}
				s.Release()
			}
		}
	}
}

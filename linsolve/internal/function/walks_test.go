package function_test

import (
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/function"
)

// Powers of matrices of zeros and ones count walks.
func TestWalks(t *testing.T) {
	r := testseed.Rand(t, 31, 10)
	for trial := range 60 {
		n := r.IntN(8)
		if trial == 0 {
			n = 65 // two words
		}
		a := lintest.Integers(r, n, n, 1)
		for i := range n {
			for j := range n {
				if r.IntN(3) > 0 {
					a.SetFloat64(i, j, 0)
				} else if a.Float64(i, j) < 0 {
					a.SetFloat64(i, j, 1)
				}
			}
		}
		power := lintest.Identity(n)
		for e := range 6 {
			w := function.Walks(a.View(), e)
			for i := range n {
				for j := range n {
					if w[i].Has(j) != (power[i][j].Sign() != 0) {
						t.Fatalf("n = %d, e = %d: entry %d, %d of A^e is %v: %v", n, e, i, j, power[i][j], lintest.Of(a))
					}
				}
			}
			power = power.Times(lintest.Of(a), n)
		}
	}
	// A cycle of three edges and a cycle of two edges that meet in node 0: there are closed walks
	// of every length except one edge.
	a := lintest.Integers(r, 4, 4, 0)
	for _, edge := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 0}} {
		a.SetFloat64(edge[0], edge[1], -1)
	}
	for e, want := range map[int]bool{0: true, 1: false, 2: true, 3: true, 1 << 30: true, 1<<30 - 1: true} {
		if w := function.Walks(a.View(), e); w[0].Has(0) != want {
			t.Errorf("e = %d: %v, want %v", e, w[0].Has(0), want)
		}
	}
}

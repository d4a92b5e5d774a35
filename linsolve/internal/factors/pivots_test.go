package factors_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestInFront compares InFront with the exchanges of an elimination, step by step.
func TestInFront(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		n := 1 + r.IntN(90)
		k := 1 + r.IntN(n)
		order := call.All(n)
		front := make([][]int, k) // rows of the matrix
		for j := range k {
			p := j + r.IntN(n-j)
			front[j] = slices.Clone(order[j:p])
			order[j], order[p] = order[p], order[j]
		}
		for j, f := range factors.InFront(order, k) {
			for i, row := range order {
				is := f != nil && f[i/64]>>(i%64)&1 != 0
				if is != slices.Contains(front[j], row) {
					t.Fatalf("seed %d: n = %d, step %d, row %d of %v: %v", seed, n, j, i, order, is)
				}
			}
		}
	}
}

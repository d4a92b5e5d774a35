package ziv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPattern compares patterns with the inverses of random matrices modulo a prime: these are
// nonzero exactly where the pattern allows.
func TestPattern(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f := modular.New(modular.Primes()())
	s := prooftest.Run(t, 1)
	patterns := 0
	for range testlength.Of(100, 300, 3000) {
		n := 1 + r.IntN(80)
		a := lintest.Sparse(r, halfulp.Float64, n, r.Float64())
		if r.IntN(4) == 0 { // any places
			i := r.IntN(n)
			for j := range n {
				if r.IntN(8) > 0 {
					a.SetFloat64(i, j, 0)
				}
			}
		}
		l, err := modular.NewLifting(s, a.View(), modular.ToIntegers(a.View()), f)
		if err != nil {
			t.Fatal(err)
		}
		zeros := false
		for i := range n {
			for j := range n {
				zeros = zeros || a.At(i, j).Sign() == 0
			}
		}
		p := ziv.NewPattern(a.View())
		if (p != nil) != (zeros && l != nil) {
			t.Fatalf("seed %d, n = %d: a pattern is %t, zeros %t, a regular matrix %t\n%v", seed, n, p != nil, zeros, l != nil, a)
		}
		if p == nil {
			continue
		}
		patterns++
		for j := range n {
			in := p.Reached(halfulp.Identity(halfulp.Float64, n).View(), j)
			for i := range n {
				if got, want := in[i/64]>>(i%64)&1 != 0, l.Inverse[i][j] != 0; got != want {
					t.Fatalf("seed %d, n = %d: entry %d, %d of the inverse is not 0: %t, want %t\n%v", seed, n, i, j, got, want, a)
				}
			}
		}
	}
	if patterns == 0 {
		t.Fatal("no pattern was looked at")
	}
}

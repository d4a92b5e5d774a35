package seed_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTriangles compares rho and the bound of ‖R‖ with I - F R and R, computed exactly, at every
// level.
func TestTriangles(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, bad := 0, 0
	enough := func() bool { return good > 0 && bad > 0 }
	for trial := range testlength.Until(testlength.Of(30, 30, 2000), enough) {
		n := 1 + r.IntN(30)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		a := lintest.Ill(r, f, n, r.IntN(50))
		level := isa.Portable
		if trial%2 == 0 {
			level = isa.Best()
		}
		restore := isa.Force(level)
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		cut := 1 + r.IntN(n)
		v, err := seed.TrianglesOf(s, lu, cut)
		if err == nil && v != nil && trial%3 == 0 {
			err = v.InvertUpper(s, n)
		}
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if v == nil || !(v.Rho <= seed.MostRho) {
			bad++
			continue
		}
		good++
		inverse := make([][]*big.Rat, n)
		for i := range inverse {
			inverse[i] = make([]*big.Rat, n)
		}
		for j := range n { // R = Z X P
			x := make([]*big.Rat, n)
			for k := range x {
				if x[k] = new(big.Rat); k >= j {
					x[k] = numtest.Exact(v.X[k+j*n])
				}
			}
			for i, z := range upperInverse(v, x) {
				inverse[i][v.Perm[j]] = z
			}
		}
		prooftest.CheckInverse(t, fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n), lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols), inverse, v.Rho, v.Norm)
	}
	if !enough() {
		t.Fatalf("%d good and %d bad inverses", good, bad)
	}
}

// upperInverse returns Z x.
func upperInverse(t *seed.Triangles, x []*big.Rat) []*big.Rat {
	n, z := t.N, make([]*big.Rat, t.N)
	first, second := t.Blocks()
	sum := func(y []float64, ld, i int, x []*big.Rat) *big.Rat {
		z := new(big.Rat)
		for k := i; k < len(x); k++ {
			z.Add(z, new(big.Rat).Mul(numtest.Exact(y[i+k*ld]), x[k]))
		}
		return z
	}
	for i := t.Cut; i < n; i++ {
		z[i] = sum(second, n-t.Cut, i-t.Cut, x[t.Cut:])
	}
	above := make([]*big.Rat, t.Cut)
	for i := range above {
		above[i] = new(big.Rat).Set(x[i])
		for k := t.Cut; k < n; k++ {
			above[i].Sub(above[i], new(big.Rat).Mul(numtest.Exact(t.LU[i+k*n]), z[k]))
		}
	}
	for i := range t.Cut {
		z[i] = sum(first, t.Cut, i, above)
	}
	return z
}

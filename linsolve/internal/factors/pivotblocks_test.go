package factors_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestByElimination compares enclosures of factors of matrices too ill-conditioned for float64 with
// factors computed in many bits.
func TestByElimination(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	s := prooftest.Run(t, 2)
	regular := func() error { return nil }
	for trial := range testlength.Of(2, 2, 12) {
		n := seed.Fewest + 8 + r.IntN(30)
		a := gallery.Random(halfulp.MP(300), n+2, n+2, 0, r.Uint64())
		graded := a.T().Clone()
		for j := range n + 2 {
			for i := range n + 2 {
				graded.SetBig(i, j, new(big.Float).SetMantExp(graded.Big(i, j), -3*j))
			}
		}
		one := halfulp.Float(1)
		if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, one, graded, a.Clone(), halfulp.Float(0), nil, a, nil); err != nil {
			t.Fatal(err)
		}
		if trial%2 == 1 { // a Vandermonde matrix
			for i := range n + 2 {
				x, power := big.NewFloat(r.Float64()), new(big.Float).SetPrec(300).SetInt64(1)
				for j := range n + 2 {
					a.SetBig(i, j, power)
					power.Mul(power, x)
				}
			}
		}
		a = a.Slice(0, n+r.IntN(3), 0, n+r.IntN(3)).Clone()
		order, lu := lintest.ByPivots(a)
		for bits := 40; bits < 900; bits += 1 + r.IntN(bits) {
			name := fmt.Sprintf("seed %d, trial %d, %d x %d, %d bits", draw, trial, a.Rows(), a.Cols(), bits)
			p, e, err := factors.LUByElimination(s, a.View(), bound.MaxBits, bits, regular)
			if err != nil || e == nil || !slices.Equal(p.Order, order) {
				t.Fatalf("%s: %v, error %v, rows %v, want %v", name, e, err, p.Order, order)
			}
			for i := range lu {
				for j := range lu[i] {
					y, k, l := e.U, i, j
					if i > j {
						y, k, l = e.L, j, i
					}
					if by := prooftest.Outside(y, k, l, lu[i][j]); by > 0 {
						t.Fatalf("%s: entry (%d, %d) of L and U lies outside by %g", name, i, j, by)
					}
				}
			}
			prooftest.CheckWidth(t, name, e.U, bits, 15) // ill-conditioned ones are some bits wider
			prooftest.CheckWidth(t, name, e.L, bits, 15) // ill-conditioned ones are some bits wider
		}
	}
}

package factors_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestRootByBlocks compares enclosures of factors of matrices too ill-conditioned for float64 with
// exact factors. Some of the blocks have float64 seeds, others do not.
func TestRootByBlocks(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := prooftest.Run(t, 2)
	for trial := range testlength.Of(2, 4, 12) {
		n := factors.RootLeaf + 1 + r.IntN(40)
		c := gallery.Hilbert(halfulp.MP(600), n) // 3.5 bits of the condition number a row
		if trial%2 == 1 {                        // half of it is well-conditioned
			c = lintest.Gram(lintest.Ill(r, halfulp.Float64, n, 40))
		}
		d, err := factors.NewCholeskyNewton(s, c.View(), n, bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		root := rootOf(c)
		for bits := 40; bits < 900; bits += 1 + r.IntN(bits) {
			name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", seed, trial, n, bits)
			e, err := d.Enclosure(bits)
			if err != nil || e == nil || !d.Blocks {
				t.Fatalf("%s: %v, %v, by blocks: %t", name, e, err, d.Blocks)
			}
			for j := range n {
				for i := j; i < n; i++ {
					if by := prooftest.Outside(e.Root, j, i, root[i][j]); by > 0 {
						t.Fatalf("%s: L[%d,%d] lies outside by %g", name, i, j, by)
					}
				}
			}
			// Ill-conditioned ones are some bits wider.
			prooftest.CheckWidth(t, name, e.Root, bits, 15)
		}
	}
}

// TestSmallPivot compares enclosures of factors of matrices with one small pivot, which a float64
// seed hardly determines and blocks determine well, with exact factors.
func TestSmallPivot(t *testing.T) {
	s := prooftest.Run(t, 2)
	enclosures := 0
	for drop := 30; drop < 250; drop += testlength.Of(60, 20, 4) {
		const n, scale = 28, 280
		r := testseed.Rand(t, uint64(drop), 1)
		c, l := halfulp.NewMatrix(halfulp.MP(660), n, n), halfulp.NewMatrix(halfulp.MP(300), n, n)
		for i := range n {
			for j := range i {
				l.SetBig(i, j, new(big.Float).SetMantExp(big.NewFloat(r.Float64()-0.5), scale-2))
			}
			e := scale
			if i == n-1 {
				e -= drop
			}
			l.SetBig(i, i, new(big.Float).SetMantExp(big.NewFloat(1+r.Float64()/1024), e))
		}
		if err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), l, l, halfulp.Float(0), c, nil); err != nil {
			t.Fatal(err)
		}
		d, err := factors.NewCholeskyNewton(s, c.View(), n, bound.MaxBits)
		if err != nil || d == nil {
			t.Fatal(d, err)
		}
		root := rootOf(c)
		for bits := 20; bits < 500; bits += 1 + r.IntN(bits) {
			e, err := d.Enclosure(bits)
			if err != nil {
				t.Fatalf("2^-%d, %d bits: %v", drop, bits, err)
			}
			if e == nil { // blocks cannot give this many bits
				break
			}
			enclosures++
			for j := range n {
				for i := j; i < n; i++ {
					if by := prooftest.Outside(e.Root, j, i, root[i][j]); by > 0 {
						t.Fatalf("2^-%d, %d bits: L[%d,%d] lies outside by %g", drop, bits, i, j, by)
					}
				}
			}
		}
	}
	if enclosures == 0 {
		t.Error("no enclosure")
	}
}

// TestBegin checks that nothing known about one S is used for the next.
func TestBegin(t *testing.T) {
	s := prooftest.Run(t, 1)
	f := halfulp.Identity(halfulp.MP(60), 3)
	d := &factors.CholeskyNewton{S: s, N: 3, F: f.View()}
	for _, e := range []int{0, 100, -7} {
		x := halfulp.NewMatrix(halfulp.MP(60), 3, 3)
		for i := range 3 {
			x.SetBig(i, i, new(big.Float).SetMantExp(big.NewFloat(1), e))
		}
		d.Begin(x.View(), 1)
		if _, got, err := d.Sizes(); err != nil || got != e+1 {
			t.Errorf("S = 2^%d I: below 2^%d, %v", e, got, err)
		}
	}
}

// rootOf returns the Cholesky factor, stored by rows, in many more bits than enclosures have.
func rootOf(c *halfulp.Matrix) [][]*big.Float {
	l := make([][]*big.Float, c.Rows())
	for i := range l {
		for j := range i + 1 {
			x := c.Big(i, j)
			x.SetPrec(4000)
			for k := range j {
				x.Sub(x, new(big.Float).Mul(l[i][k], l[j][k]))
			}
			if i == j {
				x.Sqrt(x)
			} else {
				x.Quo(x, l[j][j])
			}
			l[i] = append(l[i], x)
		}
	}
	return l
}

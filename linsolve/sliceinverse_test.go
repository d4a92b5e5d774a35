package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSlicesOfLargeOrder compares float64 inverses by two and three slices, of orders larger than
// the blocks of products, with inverses in 200 bits.
func TestSlicesOfLargeOrder(t *testing.T) {
	const n = 270
	for _, c := range []struct {
		k, slices int
		level     isa.Set
	}{{0, 2, isa.Best()}, {20, 3, isa.Best()}, {0, 2, isa.Levels()[len(isa.Levels())/2]}} {
		a := lintest.Ill(testseed.Rand(t, 1, 2), halfulp.MP(53), n, c.k)
		want, err := Inverse(a, halfulp.MP(200), nil)
		if err != nil {
			t.Fatal(err)
		}
		restore := isa.Force(c.level)
		s := prooftest.Run(t, 2)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		z, err := newton.InvertSlices(s, a.View(), lu)
		restore()
		if err != nil || z == nil || newton.SlicesFor(n, 22, z.Norm*lu.Norm) != c.slices {
			t.Fatalf("%d: %v, %v", c.k, z != nil, err)
		}
		x, bound := new(big.Float).SetPrec(300), new(big.Float)
		for i := range n {
			for j, k := range z.Perm {
				v := want.Big(i, k)
				v.SetMantExp(v, -int(z.Cols[i]+z.Rows[k]))
				x.Add(x.Add(v, big.NewFloat(z.Z[i+j*n])), big.NewFloat(z.V[i+j*n]))
				if bound.Mul(big.NewFloat(z.Sums[i]*1.001), big.NewFloat(z.Off[j])); x.Abs(x).Cmp(bound) > 0 {
					t.Fatalf("%d: entry %d, %d is off by %g, bound %g", c.k, i, k, x, bound)
				}
			}
		}
	}
}

// TestInverseBySlices inverts matrices in formats of up to 53 bits at all instruction-set levels:
// random matrices, matrices graded by powers of two in rows and columns, Hilbert matrices, matrices
// of integers whose inverses are integers or halves, which are ties, triangular and singular
// matrices.
func TestInverseBySlices(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	formats := []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.MP(53), halfulp.MP(40), halfulp.MP(52), halfulp.MP(2)}
	for trial := range testlength.Of(16, 32, 1000) {
		n := call.FewColumns + 1 + r.IntN(8)
		f := formats[r.IntN(len(formats))]
		a := lintest.Ill(r, halfulp.MP(53), n, []int{0, 20, 51}[r.IntN(3)])
		switch trial % 8 {
		case 1:
			lintest.Spread(r, a, 500)
		case 2:
			a = gallery.Random(halfulp.Float64, n, n, 200, r.Uint64())
		case 3, 4: // inverses are integers, or halves
			a = lintest.Unimodular(r, n).Convert(halfulp.MP(53))
			if trial%8 == 4 {
				for j := range n {
					k := r.IntN(n)
					x := a.Big(k, j)
					a.SetBig(k, j, x.SetMantExp(x, r.IntN(2)))
				}
			}
		case 5:
			for j := range n {
				for i := range n {
					a.SetBig(i, j, new(big.Float).Quo(big.NewFloat(1), big.NewFloat(float64(i+j+1))))
				}
			}
		case 6:
			for j := range n {
				for i := range j {
					a.SetBig(i, j, new(big.Float))
				}
			}
		case 7:
			for j := range n {
				a.Set(0, j, a.At(1, j))
			}
		}
		restore := isa.Force(isa.Levels()[trial%len(isa.Levels())])
		check(t, fmt.Sprintf("seed %d, trial %d, n = %d, %v", seed, trial, n, f), a, halfulp.Identity(halfulp.Float64, n), f)
		restore()
	}
}

// TestInverseOfIntegers inverts matrices whose inverses have columns with zeros that neither
// float64 numbers nor patterns show. A residual of 0 must decide such columns together, though
// their other entries are known before.
func TestInverseOfIntegers(t *testing.T) {
	const n = 60
	r := testseed.Rand(t, 9, 0)
	a := halfulp.Identity(halfulp.Float64, n)
	for range 2 * n {
		for i, j, c := r.IntN(n), r.IntN(n), 0; i != j && c < n; c++ { // row i + row j
			a.SetFloat64(i, c, a.Float64(i, c)+a.Float64(j, c))
		}
	}
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106)} {
		if s := checkInverse(t, fmt.Sprint(f), a, f); s.Solved < n/2 || s.Steps > 8 {
			t.Errorf("%v: %+v", f, s)
		}
	}
}

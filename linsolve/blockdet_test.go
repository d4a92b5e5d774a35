package linsolve

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// illConditioned are matrices of order n that float64 factors do not suffice for.
func illConditioned(r *rand.Rand, n int) map[string]*halfulp.Matrix {
	f := halfulp.MP(200)
	graded := halfulp.NewMatrix(f, n, n) // a product whose middle factor falls to 2^-120
	left, right := lintest.Integers(r, n, n, 1<<20), lintest.Integers(r, n, n, 1<<20)
	for j := range n {
		for i := range n {
			x := left.Big(i, j)
			left.SetBig(i, j, x.SetMantExp(x, -120*j/n))
		}
	}
	weights := left.Clone()
	if _, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), left, right, halfulp.Float(0), graded, nil); err != nil {
		panic(err)
	}
	for i := range n { // rows of weights down to 2^-60
		for j := range n {
			x := right.Big(i, j)
			weights.SetBig(i, j, x.SetMantExp(x, -60*i/n))
		}
	}
	normal := halfulp.NewMatrix(halfulp.MP(500), n, n)
	if _, err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), weights, weights, halfulp.Float(0), normal, nil); err != nil {
		panic(err)
	}
	return map[string]*halfulp.Matrix{"graded": graded, "normal": normal, "Hilbert": halfulp.Hilbert(f, n), "rows far apart": spreadOut(graded)}
}

// spreadOut returns a matrix with rows and columns multiplied by powers of two.
func spreadOut(a *halfulp.Matrix) *halfulp.Matrix {
	z := a.Clone()
	for i := range z.Rows() {
		for j := range z.Cols() {
			x := z.Big(i, j)
			z.SetBig(i, j, x.SetMantExp(x, 37*i%400-91*j%300))
		}
	}
	return z
}

// TestLongDeterminant pits enclosures, by blocks and as they come, against determinants modulo
// primes.
func TestLongDeterminant(t *testing.T) {
	r := testseed.Rand(t, 4, 4)
	var found [2]int
	for _, n := range []int{24, 33, 50} {
		for name, a := range illConditioned(r, n) {
			s, err := start("det", nil, a.View())
			if err != nil {
				t.Fatal(err)
			}
			want, shift, err := det.Exact(s, a.View())
			if err != nil {
				t.Fatal(err)
			}
			for _, places := range []int{30, 150, 1100} {
				f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
				if err != nil {
					t.Fatal(err)
				}
				long, err := det.Long(s, a.View(), f, places, func() float64 { return math.Inf(1) })
				if err != nil {
					t.Fatal(err)
				}
				byBlocks, _, err := blocks.LongDeterminant(s, a.View(), f, 700+places, places)
				if seed.UnlessShort(err) != nil {
					t.Fatal(err)
				}
				for k, d := range []*seed.Determinant{long, byBlocks} {
					if d == nil {
						continue
					}
					found[k]++
					// |want/mid - 1| ≤ 2 log
					x := new(big.Float).SetPrec(20000).SetMantExp(want, int(shift-d.Shift))
					x.Sub(x.Quo(x, d.Mid), big.NewFloat(1))
					if most := bound.Upper().Add(d.Log, d.Log); x.Abs(x).Cmp(most) > 0 || most.MantExp(nil) > 4-places {
						t.Errorf("%s %d, %d places: off by %.3g, told %.3g", name, n, places, x, most)
					}
				}
			}
		}
	}
	if min(found[0], found[1]) < 20 {
		t.Errorf("%d determinants, %d by blocks", found[0], found[1])
	}
}

// TestBlockInverse compares the proved bound of ‖I - R A‖ with the exact norm, also where R is not
// quite the inverse.
func TestBlockInverse(t *testing.T) {
	r := testseed.Rand(t, 5, 4)
	const n = 30
	for name, a := range illConditioned(r, n) {
		s, err := start("inverse", nil, a.View())
		if err != nil {
			t.Fatal(err)
		}
		f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := solve.InvertByBlocks(s, a.View(), f)
		if err != nil || p == nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, off := range []int{0, -3, 5} { // a number of R is off by 2^off of itself
			if off != 0 {
				x := p.R.Big(n/2, n/3)
				d := new(big.Float).SetMantExp(x, off)
				p.R.SetBig(n/2, n/3, x.Add(x, d))
			}
			if _, err := seed.Distance(s, p, a.View()); err != nil {
				t.Fatal(err)
			}
			exact := new(big.Float)
			for i := range n {
				sum := new(big.Float).SetPrec(3000)
				for j := range n {
					e := new(big.Float).SetPrec(5000)
					if i == j {
						e.SetInt64(-1)
					}
					for h := range n {
						e.Add(e, interval.ExactMul(p.R.Big(i, h), a.Big(h, j)))
					}
					sum.Add(sum, e.Abs(e).SetMantExp(e, int(p.Weights[j]-p.Weights[i])))
				}
				if sum.Cmp(exact) > 0 {
					exact = sum
				}
			}
			most := new(big.Float).SetPrec(64).Add(exact, new(big.Float).SetMantExp(exact, -20))
			if p.Rho.Cmp(exact) < 0 || p.Rho.Cmp(most.Add(most, bound.Exp2(-40))) > 0 {
				t.Errorf("%s, off by 2^%d: a norm of %.6g, told %.6g", name, off, exact, p.Rho)
			}
		}
	}
}

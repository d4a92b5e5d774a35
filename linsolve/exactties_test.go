package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTrueTies solves dense systems whose solutions have, among thirds, one component that is a
// number of the format or halfway between two.
func TestTrueTies(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(8, 16, 200) {
		n := 2 + r.IntN(12)
		if trial%4 == 0 {
			n = 100 + r.IntN(10)
		}
		a, b := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.MP(200), n, 1)
		want := []*big.Rat{big.NewRat(0, 1), big.NewRat(1<<53+1, 1<<20), big.NewRat(-1<<53-3, 1<<9)}[trial%3]
		others := make([]int64, n)
		for j := range n {
			others[j] = 3*(r.Int64N(1<<28)-1<<27) + 1
		}
		for i := range n {
			sum := new(big.Rat)
			for j := range n {
				x := 2*r.Int64N(1<<10) + 2 // odd on the diagonal alone: the determinant is odd
				if r.IntN(2) == 0 {
					x = -x
				}
				if i == j {
					x++
				}
				if j > 0 {
					x *= 3
				}
				a.SetFloat64(i, j, float64(x))
				if j == 0 {
					sum.Add(sum, new(big.Rat).Mul(want, big.NewRat(x, 1)))
				} else {
					sum.Add(sum, big.NewRat(x/3*others[j], 1)) // of others[j] / 3
				}
			}
			b.SetBig(i, 0, new(big.Float).SetPrec(200).SetRat(sum))
		}
		var stats halfulp.Stats
		x, err := Solve(a, b, halfulp.Float64, &halfulp.Options{Stats: &stats})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d", seed, trial, n)
		if stats.Ties == 0 || stats.Digits == 0 {
			t.Errorf("%s: no ties (%+v)", name, stats.Proof)
		}
		for j := range n {
			z := want
			if j > 0 {
				z = big.NewRat(others[j], 3)
			}
			if nearest := lintest.Nearest(halfulp.Float64, z); !x.At(j, 0).Same(nearest) {
				t.Fatalf("%s: x[%d] = %s, want %s", name, j, x.At(j, 0).Hex(), nearest.Hex())
			}
		}
	}
}

// TestFalseTies solves systems whose solutions are so near to ties that some of their p-adic digits
// agree with the tie: b = u a + p^k beside a tie u, mixed with other equations.
func TestFalseTies(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	p := new(big.Int).SetUint64(modular.Primes()())
	for trial := range testlength.Of(20, 40, 600) {
		n, k := 1+r.IntN(4), 1+trial%4
		u := new(big.Int).SetInt64(1<<53 + 1 + 2*r.Int64N(1<<50))
		by := new(big.Int).Exp(p, big.NewInt(int64(k)), nil)
		a0 := new(big.Int).Lsh(big.NewInt(2*r.Int64N(1<<40)+1), uint(61*k+60+r.IntN(100)))
		a0.Add(a0, big.NewInt(1))
		b0 := new(big.Int).Mul(u, a0)
		if trial%2 == 0 {
			by.Neg(by)
		}
		b0.Add(b0, by)
		// Rows are mixed by a lower triangle of ones on the diagonal.
		format := halfulp.MP(700)
		a, b := halfulp.NewMatrix(format, n, n), halfulp.NewMatrix(format, n, 1)
		others := make([]int64, n)
		for i := range n {
			others[i] = 1 + r.Int64N(1000) // zeros are ties
			sum := new(big.Int)
			for j := range i + 1 {
				l := r.Int64N(5)
				if i == j {
					l = 1
				}
				x, y := big.NewInt(l), big.NewInt(l*others[j])
				if j == 0 {
					x.Mul(x, a0)
					y.Mul(big.NewInt(l), b0)
				}
				a.SetBig(i, j, new(big.Float).SetPrec(700).SetInt(x))
				sum.Add(sum, y)
			}
			b.SetBig(i, 0, new(big.Float).SetPrec(700).SetInt(sum))
		}
		var stats halfulp.Stats
		x, err := Solve(a, b, halfulp.Float64, &halfulp.Options{Stats: &stats})
		if err != nil {
			t.Fatal(err)
		}
		if want := lintest.Nearest(halfulp.Float64, new(big.Rat).SetFrac(b0, a0)); !x.At(0, 0).Same(want) || stats.Ties > 0 || stats.Digits < k {
			t.Fatalf("seed %d, trial %d, n = %d: x[0] = %s, want %s (%+v)", seed, trial, n, x.At(0, 0).Hex(), want.Hex(), stats.Proof)
		}
	}
}

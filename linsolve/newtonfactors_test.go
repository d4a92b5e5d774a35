package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// byProducts lists orders of matrices whose factors are refined by products.
func byProducts(r *rand.Rand) int { return seed.Fewest + r.IntN(8) }

// TestFactorsByProducts factors matrices large enough for products: well-conditioned,
// ill-conditioned and graded ones, matrices whose factors have exact entries or ties, and nearly
// singular ones.
func TestFactorsByProducts(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	some := []halfulp.Format{halfulp.Float64, halfulp.MP(30), halfulp.DD, halfulp.Float32, halfulp.MP(300), halfulp.QD, halfulp.TD}
	for trial := range testlength.Of(1, 1, 40) {
		f := some[trial%len(some)]
		n := byProducts(r)
		m := n + r.IntN(3)
		name := fmt.Sprintf("seed %d, trial %d, %v, %d x %d", seed, trial, f, m, n)
		random := gallery.Random(halfulp.Float64, m, n, 0, r.Uint64())
		checkLU(t, name+", random", random, f)
		checkLU(t, name+", wide", random.T(), f)
		checkLU(t, name+", spread", gallery.Random(halfulp.Float32, m, n, 20, r.Uint64()), f)
		checkLU(t, name+", graded rows", scaledRows(r, n, 300), f)
		checkLU(t, name+", graded columns", scaledRows(r, n, 300).T(), f)
		checkLU(t, name+", signs", lintest.Integers(r, m, n, 1), f)
		symmetric := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
		for i := range n {
			for j := range i {
				symmetric.Set(i, j, symmetric.At(j, i))
			}
			if trial%2 == 0 {
				symmetric.SetFloat64(i, i, 0)
			}
		}
		checkLDLT(t, name+", indefinite", symmetric, f)
		checkQR(t, name+", random", lintest.Integers(r, m, n, 1<<10), f, false)
		checkCholesky(t, name+", random", lintest.Gram(random), f)
		checkCholesky(t, name+", graded", lintest.Gram(scaledRows(r, n, 60).T()), f)
		checkCholesky(t, name+", semidefinite", lintest.Gram(lintest.Integers(r, n-1, n, 9)), f)

		// A factor of integers: its entries, and some halfway between two numbers, are exact.
		l := lintest.Integers(r, n, n, 1<<20)
		for i := range n {
			l.SetFloat64(i, i, 1+math.Abs(l.Float64(i, i)))
			for j := i + 1; j < n; j++ {
				l.SetFloat64(i, j, 0)
			}
		}
		product := lintest.Gram(l.T())
		checkCholesky(t, name+", integer factor", product, halfulp.MP(24))
		// Subtracting its square makes the last pivot 0; adding ±2^-200 moves it next to 0.
		last := product.Big(n-1, n-1)
		square := interval.ExactMul(l.Big(n-1, n-1), l.Big(n-1, n-1))
		product.SetBig(n-1, n-1, interval.ExactSub(last, square))
		checkCholesky(t, name+", last pivot 0", product, f)
		for _, sign := range []float64{1, -1} {
			tiny := new(big.Float).SetMantExp(big.NewFloat(sign), -200)
			product.SetBig(n-1, n-1, interval.ExactAdd(interval.ExactSub(last, square), tiny))
			checkCholesky(t, name+", last pivot next to 0", product, f)
		}

		// Unit triangular factors of small multiples of 2^-26, in an order that pivoting finds.
		u := lintest.Integers(r, n, n, 1<<20)
		for i := range n {
			u.SetFloat64(i, i, float64(1+r.IntN(1<<20)))
			l.SetFloat64(i, i, 1)
			for j := range i {
				l.SetFloat64(i, j, math.Ldexp(float64(r.IntN(1<<26)-1<<25), -26))
				u.SetFloat64(i, j, 0)
			}
		}
		c := halfulp.NewMatrix(halfulp.MP(200), n, n)
		if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), halfulp.MatrixOf(modular.Chosen(l.View(), r.Perm(n), call.All(n))), u, halfulp.Float(0), c, nil); err != nil {
			t.Fatal(err)
		}
		checkLU(t, name+", exact factors", c, halfulp.MP(24))

		// A condition number of 2^50, and one of 2^80.
		for _, low := range []int{-50, -80} {
			d := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
			for i := range n {
				for j := range n {
					d.SetFloat64(i, j, math.Ldexp(d.Float64(i, j), low*j/(n-1)))
				}
			}
			ill := halfulp.NewMatrix(halfulp.MP(200), n, n)
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), d, gallery.Random(halfulp.Float64, n, n, 0, r.Uint64()), halfulp.Float(0), ill, nil); err != nil {
				t.Fatal(err)
			}
			checkLU(t, fmt.Sprintf("%s, condition 2^%d", name, -low), ill, f)
		}
		checkLU(t, name+", Hilbert", gallery.Hilbert(halfulp.MP(200), n), f)
		checkCholesky(t, name+", Hilbert", gallery.Hilbert(halfulp.Float64, n), f)
	}
}

// TestFactorsSeeds factors matrices whose factors are refined from seeds, not computed by
// elimination.
func TestFactorsSeeds(t *testing.T) {
	const n = 60
	a := gallery.Random(halfulp.Float64, n, n, 0, 7)
	c := lintest.Gram(a)
	c0 := c.Clone()
	for i := range n {
		c0.SetFloat64(i, i, float64(1+i)/64)
	}
	// Square matrices may be eliminated in digits, unless products are checked.
	tall := gallery.Random(halfulp.Float64, n+1, n, 0, 7)
	for name, factor := range map[string]func(opt *halfulp.Options) error{
		"LU":       func(opt *halfulp.Options) error { _, err := LU(tall, halfulp.Float64, opt); return err },
		"Cholesky": func(opt *halfulp.Options) error { _, err := Cholesky(c, halfulp.MP(200), opt); return err },
		"LDLT":     func(opt *halfulp.Options) error { _, err := LDLT(c0, halfulp.Float64, opt); return err },
		"QR":       func(opt *halfulp.Options) error { _, err := QR(a, halfulp.DD, opt); return err },
	} {
		var st halfulp.Stats
		if err := factor(&halfulp.Options{Check: name != "LU", Stats: &st}); err != nil || st.Steps == 0 || !(st.Rho < 1e-6) || st.Ties > 0 {
			t.Errorf("%s: %v, %+v", name, err, st)
		}
	}
}

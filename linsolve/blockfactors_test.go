package linsolve

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
)

// nearSingular returns a matrix of numbers of some bits whose last row is a combination of others
// but for one unit in the last place.
func nearSingular(r *rand.Rand, bits uint, n int) *halfulp.Matrix {
	a := halfulp.Random(halfulp.MP(bits), n, n, r.IntN(20), r.Uint64())
	for j := range n {
		x := a.Big(0, j)
		if n > 2 {
			x.Add(x, a.Big(1, j))
		}
		a.SetBig(n-1, j, x)
	}
	x := a.Big(n-1, 0)
	ulp := new(big.Float).SetMantExp(big.NewFloat(1), x.MantExp(nil)-int(bits))
	a.SetBig(n-1, 0, x.Add(x, ulp))
	return a
}

// graded scales the rows and columns of a matrix by random powers of two.
func graded(r *rand.Rand, a *halfulp.Matrix, spread int) *halfulp.Matrix {
	n := a.Rows()
	rows, cols := make([]int, n), make([]int, n)
	for i := range n {
		rows[i], cols[i] = r.IntN(2*spread+1)-spread, r.IntN(2*spread+1)-spread
	}
	z := a.Clone()
	for i := range n {
		for j := range n {
			x := a.Big(i, j)
			z.SetBig(i, j, x.SetMantExp(x, rows[i]+cols[j]))
		}
	}
	return z
}

// blockMatrix returns a matrix that is hard in one way or another.
func blockMatrix(r *rand.Rand, n int) *halfulp.Matrix {
	switch r.IntN(5) {
	case 0:
		return nearSingular(r, uint(24+r.IntN(500)), n)
	case 1:
		return graded(r, ill(r, halfulp.MP(uint(60+r.IntN(300))), n, r.IntN(200)), 1+r.IntN(200))
	case 2: // a triangle whose inverse grows
		a := halfulp.Identity(halfulp.MP(64), n)
		for j := range n {
			for i := range j {
				a.SetFloat64(i, j, -float64(1+r.IntN(3)))
			}
			a.SetFloat64(j, j, float64(r.IntN(2))+0x1p-20)
		}
		return a
	case 3:
		a, _ := lintest.Adversarial(r, n, 1)
		return a
	}
	return ill(r, halfulp.MP(uint(60+r.IntN(500))), n, r.IntN(500))
}

// TestBlocks compares the bound of |F^-1| with F^-1, computed exactly, for blocks of all sizes and
// more or less bits than it takes.
func TestBlocks(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, noise, many, close := 0, 0, 0, 0
	enough := func() bool { return good > 0 && noise > 0 && many > 0 && close > 0 }
	for trial := range testlength.Until(testlength.Of(25, 300, 10000), enough) {
		n := 2 + r.IntN(10)
		a := blockMatrix(r, n)
		if bound.Far(a.View(), 1<<20) {
			continue
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n)
		s := testSolver(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		bits := 70 + r.IntN(600)
		z, more, err := blocks.Eliminate(s, a.View(), lu, bits, 1+r.IntN(1+5*(trial%2)))
		switch {
		case errors.Is(err, seed.ErrNoise) || errors.Is(err, seed.ErrProof) || errors.Is(err, call.ErrRange):
			noise++
			if errors.Is(err, seed.ErrProof) && more <= 0 {
				t.Fatalf("%s: %d more bits than %d", name, more, bits)
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		inverse := lintest.Matrix(scaledRat(a, lu.Scaling)).Solve(lintest.Identity(n))
		if inverse == nil {
			t.Fatalf("%s: a singular matrix is proved to be regular", name)
		}
		good++
		if z.First.Rest != nil && z.First.Rest.Rest != nil {
			many++
		}
		for i := range n {
			sum := new(big.Rat)
			for j := range n {
				sum.Add(sum, new(big.Rat).Abs(inverse[i][j]))
			}
			h := exactRat(z.H[i])
			if sum.Cmp(h) > 0 {
				t.Fatalf("%s, %d bits: row %d of |F^-1| has the sum %s, bound %g", name, bits, i, sum.FloatString(20), z.H[i])
			}
			if h.Quo(h, sum).Cmp(exactRat(0x1p20)) < 0 {
				close++
			}
		}
	}
	if !enough() {
		t.Fatalf("%d inverses, %d of them of more than two blocks, %d bounds within 2^20, %d failures", good, many, close, noise)
	}
}

// TestSolveBlocks solves systems that take blocks, and compares all entries with exact solutions.
func TestSolveBlocks(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(10, 60, 2000) {
		n, k := 2+r.IntN(12), 1+r.IntN(2)
		f := formats[r.IntN(len(formats))]
		a := blockMatrix(r, n)
		if bound.Far(a.View(), 1<<20) || lintest.Of(a).Rank(n) < n {
			continue
		}
		b := halfulp.Random(formats[r.IntN(len(formats))], n, k, r.IntN(100), r.Uint64())
		check(t, fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n), a, b, f)
	}
}

// TestSolveLargeBlocks solves for known solutions, of condition numbers up to 10^300, without the
// products that replace R.
func TestSolveLargeBlocks(t *testing.T) {
	const n = 48
	for _, kappa := range []int{80, 330, 1000} { // their logarithms
		r := testseed.Rand(t, uint64(kappa), 1)
		bits := uint(kappa + 60)
		a := ill(r, halfulp.MP(bits), n, kappa)
		x := halfulp.Random(halfulp.Float64, n, 1, 0, 5)
		b, z := halfulp.NewMatrix(halfulp.MP(bits+200), n, 1), halfulp.NewMatrix(halfulp.MP(bits), n, 1)
		if _, err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), nil, b, nil); err != nil {
			t.Fatal(err)
		}
		st, err := Solve(a, b, z, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if z.Big(i, 0).Cmp(x.Big(i, 0)) != 0 {
				t.Fatalf("kappa 2^%d: x[%d] = %s, want %s", kappa, i, z.At(i, 0).Hex(), x.At(i, 0).Hex())
			}
		}
		t.Logf("kappa 2^%d: %+v", kappa, st.Proof)
	}
}

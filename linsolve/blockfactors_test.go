package linsolve

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSolveBlocks solves systems by block elimination and compares all entries with exact
// solutions.
func TestSolveBlocks(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(10, 20, 2000) {
		n, k := 2+r.IntN(12), 1+r.IntN(2)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		a := lintest.Hard(r, n)
		if bound.Far(a.View(), 1<<20) || lintest.Of(a).Rank(n) < n {
			continue
		}
		b := gallery.Random(lintest.Formats[r.IntN(len(lintest.Formats))], n, k, r.IntN(100), r.Uint64())
		check(t, fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n), a, b, f)
	}
}

// TestSolveLargeBlocks solves systems with known solutions and condition numbers up to 10^300,
// without the products that replace R.
func TestSolveLargeBlocks(t *testing.T) {
	const n = 48
	for _, kappa := range []int{80, 330, 1000} { // their logarithms
		r := testseed.Rand(t, uint64(kappa), 1)
		bits := uint(kappa + 60)
		a := lintest.Ill(r, halfulp.MP(bits), n, kappa)
		x := gallery.Random(halfulp.Float64, n, 1, 0, 5)
		b, z := halfulp.NewMatrix(halfulp.MP(bits+200), n, 1), halfulp.NewMatrix(halfulp.MP(bits), n, 1)
		if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), nil, b, nil); err != nil {
			t.Fatal(err)
		}
		var st halfulp.Stats
		err := lintest.Into(z)(Solve(a, b, z.NumberFormat(), &halfulp.Options{Stats: &st}))
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

package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func checkLogDet(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) halfulp.Stats {
	t.Helper()
	var stats halfulp.Stats
	got, sign, err := LogDet(a, f, &halfulp.Options{Stats: &stats})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	det := lintest.Of(a).Det()
	want := new(big.Float).SetInf(true)
	if det.Sign() != 0 {
		// log(num) - log(den), in far more bits than can cancel
		num := new(big.Float).SetPrec(20000).SetInt(new(big.Int).Abs(det.Num()))
		den := new(big.Float).SetPrec(20000).SetInt(det.Denom())
		want = new(big.Float).SetPrec(3000).Sub(bigfun.Log(num, 3000), bigfun.Log(den, 3000))
		if want.Sign() != 0 && want.MantExp(nil) < -2500 {
			want.SetInt64(0)
		}
	}
	if z := halfulp.NewScalar(f, want); !got.Same(z) || sign != det.Sign() {
		t.Fatalf("%s, %v: %s and sign %d, want %s and %d (%+v)", name, f, got.Hex(), sign, z.Hex(), det.Sign(), stats)
	}
	return stats
}

func TestLogDet(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 40) {
			n := r.IntN(8)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, trial %d, n = %d", seed, trial, n)
			checkLogDet(t, name+", random", gallery.Random(g, n, n, 0, r.Uint64()), f)
			checkLogDet(t, name+", spread", gallery.Random(g, n, n, 50, r.Uint64()), f)
			checkLogDet(t, name+", integers", lintest.Integers(r, n, n, 5), f)
			checkLogDet(t, name+", signs", lintest.Integers(r, n, n, 1), f)
		}
		checkLogDet(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), 14), f)
		// |det| = 1, and 1 + 2^-e, decided by enclosures or only by exact arithmetic.
		for _, e := range []int{0, 20, 52, 200, 2000} {
			a := halfulp.NewMatrix(halfulp.MP(2100), 3, 3)
			for i, v := range []int64{0, 1, 2} {
				a.SetBig(i, (i+1)%3, big.NewFloat(1))
				a.SetBig(i, i, big.NewFloat(float64(v)))
			}
			if e > 0 {
				x := new(big.Float).SetPrec(2100).SetMantExp(big.NewFloat(1), -e)
				a.SetBig(2, 0, x.Add(x, big.NewFloat(1)))
			}
			if stats := checkLogDet(t, fmt.Sprintf("near 1 by 2^-%d", e), a, f); (e == 0 || e == 2000) && stats.Exact == 0 {
				t.Errorf("%v, 2^-%d: %+v", f, e, stats)
			}
		}
	}
	// The determinant is beyond the exponents of big.Float.
	a := halfulp.NewMatrix(halfulp.MP(24), 4, 4)
	x := new(big.Float).SetMantExp(big.NewFloat(-1), 1<<30)
	for i := range 4 {
		a.SetBig(i, 3-i, x)
	}
	want := new(big.Float).Mul(bigfun.Ln2(200), new(big.Float).SetInt64(1<<32))
	var stats halfulp.Stats
	if z, sign, err := LogDet(a, halfulp.DD, &halfulp.Options{Stats: &stats}); err != nil || sign != 1 || !z.Same(halfulp.NewScalar(halfulp.DD, want)) {
		t.Errorf("%v, %d, %v, %+v", z, sign, err, stats)
	}
}

package scale

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestMatch checks that a scaled matrix has no entry above 1, and a permutation of entries of at
// least 1/2.
func TestMatch(t *testing.T) {
	r := testseed.Rand(t, 7, 8)
	for trial := range 200 {
		n := 1 + r.IntN(6)
		a := gallery.Random(halfulp.MP(60), n, n, 1000, r.Uint64())
		for range r.IntN(2 * n * n) {
			a.SetFloat64(r.IntN(n), r.IntN(n), 0)
		}
		m := a.View()
		s, ok := TopsOf(m).match()
		top := func(i, j int) (e int64, zero bool) {
			c, top, _ := m.Arr.Span(m.At(i, j))
			return top, c == num.Zero
		}
		// permute reports whether there is a permutation of such entries from row i on.
		var permute func(i int, used uint, is func(i, j int) bool) bool
		permute = func(i int, used uint, is func(i, j int) bool) bool {
			if i == n {
				return true
			}
			for j := range n {
				if used>>j&1 == 0 && is(i, j) && permute(i+1, used|1<<j, is) {
					return true
				}
			}
			return false
		}
		full := permute(0, 0, func(i, j int) bool { _, zero := top(i, j); return !zero })
		if ok != full {
			t.Fatalf("trial %d: a matching is %v, want %v", trial, ok, full)
		}
		if !ok {
			continue
		}
		for i := range n {
			for j := range n {
				if e, zero := top(i, j); !zero && e+s.Rows[i]+s.Cols[j] > 0 {
					t.Fatalf("trial %d: entry %d, %d is 2^%d", trial, i, j, e+s.Rows[i]+s.Cols[j])
				}
			}
		}
		if !permute(0, 0, func(i, j int) bool { e, zero := top(i, j); return !zero && e+s.Rows[i]+s.Cols[j] == 0 }) {
			t.Fatalf("trial %d: no matched entries are at least 1/2", trial)
		}
	}
}

// TestFloat64s compares with exact scaled entries in every format, with exponents around the limits
// of float64: errors are within Rounding, and numbers below 2^-1000 become 0.
func TestFloat64s(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(24), halfulp.MP(53), halfulp.MP(64), halfulp.MP(106), halfulp.MP(200), halfulp.MP(424)} {
		for trial := range 20 {
			n := 1 + r.IntN(4)
			a := gallery.Random(f, n, n, []int{0, 30, 100}[r.IntN(3)], r.Uint64())
			a.SetFloat64(r.IntN(n), r.IntN(n), 0)
			by := Unscaled(n, n)
			for i := range n {
				by.Rows[i], by.Cols[i] = r.Int64N(2200)-1100, r.Int64N(200)-100
			}
			if trial%2 == 0 {
				by = Unscaled(n, n)
			}
			m := a.View()
			x := by.Float64s(m, make([]float64, n*n))
			for i := range n {
				for j := range n {
					want := a.Big(i, j)
					want.SetMantExp(want, int(by.Rows[i]+by.Cols[j]))
					got := x[i+j*n]
					switch e := want.MantExp(nil); {
					case want.Sign() == 0 || e < -1010:
						if got != 0 {
							t.Fatalf("seed %d, %v: %g is %g", seed, f, want, got)
						}
					case e > -990 && e < 990:
						d := new(big.Float).SetPrec(500).Sub(want, big.NewFloat(got))
						bound := new(big.Float).Mul(new(big.Float).Abs(want), big.NewFloat(Rounding(m)))
						if d.Abs(d).Cmp(bound) > 0 {
							t.Fatalf("seed %d, %v: %g is %g, off by %g", seed, f, want, got, d)
						}
					}
				}
			}
		}
	}
}

package linsolve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// ranksBy returns the result of ranks for the pivots of an elimination modulo a prime, and the
// number of pivots.
func ranksBy(t *testing.T, s *call.Run, a *halfulp.Matrix, f *modular.Field) (is bool, r int) {
	t.Helper()
	rows, err := f.Matrix(s.Ctx, s.Threads, a.View())
	if err != nil {
		t.Fatal(err)
	}
	before := append([][]uint64(nil), rows...)
	pivots, _, err := f.Eliminate(s.Ctx, s.Threads, rows, a.Cols(), false)
	if err != nil {
		t.Fatal(err)
	}
	is, err = modular.Ranks(s, a.View(), modular.ToIntegers(a.View()), f, modular.Positions(before, rows[:len(pivots)]), pivots)
	if err != nil {
		t.Fatal(err)
	}
	return is, len(pivots)
}

// TestRanks compares with elimination in rational numbers.
func TestRanks(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := prooftest.Run(t, 2)
	for trial := range testlength.Of(50, 100, 2000) {
		m, n, k := 1+r.IntN(9), 1+r.IntN(9), r.IntN(9)
		spread := r.IntN(60)
		a := lintest.Product(2000, gallery.Random(halfulp.Float64, m, k, spread, r.Uint64()), gallery.Random(halfulp.DD, k, n, spread, r.Uint64()))
		want := lintest.Of(a).Rank(n)
		is, got := ranksBy(t, s, a, modular.New(modular.Primes()()))
		if full := min(m, n); got != want || !is && want < full {
			t.Fatalf("seed %d, trial %d: the rank is %d: %t, want %d, of\n%v", seed, trial, got, is, want, a)
		}
		var stats halfulp.Stats
		if got, err := Rank(a, &halfulp.Options{Stats: &stats}); err != nil || got != want {
			t.Fatalf("seed %d, trial %d: Rank is %d, %v, want %d (%+v), of\n%v", seed, trial, got, err, want, stats, a)
		}
	}
}

// The rank modulo the first prime, or a power of it, is less than the rank of the matrix.
func TestRanksRefuted(t *testing.T) {
	const n = 60
	r := testseed.Rand(t, 3, 4)
	first := modular.Primes()()
	for power := 1; power <= 3; power++ {
		p := new(big.Int).Exp(new(big.Int).SetUint64(first), big.NewInt(int64(power)), nil)
		for _, at := range []int{0, n / 2, n - 1} {
			a := halfulp.NewMatrix(halfulp.MP(256), n, n)
			for j := range n {
				for i := range j {
					a.SetFloat64(i, j, r.Float64())
				}
				a.SetFloat64(j, j, 1)
			}
			a.SetBig(at, at, new(big.Float).SetPrec(256).SetInt(p))
			s := prooftest.Run(t, 1)
			if is, got := ranksBy(t, s, a, modular.New(first)); is || got != n-1 {
				t.Errorf("p^%d in row %d: rank %d modulo p, taken for the rank: %t", power, at, got, is)
			}
			var stats halfulp.Stats
			if got, err := Rank(a, &halfulp.Options{Stats: &stats}); err != nil || got != n || stats.Primes != 2 {
				t.Errorf("p^%d in row %d: rank %d, %v (%+v)", power, at, got, err, stats)
			}
		}
	}
}

// Random matrices whose rank is a little less than their order take few primes, and few digits if a
// row or a column is a simple combination of others.
func TestRankPrimes(t *testing.T) {
	n := testlength.Of(36, 36, 60)
	// The last row is twice the first one minus the third.
	combine := func(a *halfulp.Matrix) *halfulp.Matrix {
		for j := range n {
			x := new(big.Float).Sub(a.Big(0, j), a.Big(2, j))
			a.SetBig(n-1, j, x.Add(x, a.Big(0, j)))
		}
		return a
	}
	random := func() *halfulp.Matrix { return gallery.Random(halfulp.Float64, n, n, 0, 7).Convert(halfulp.MP(64)) }
	zero := random()
	for i := range n {
		zero.SetFloat64(i, 4, 0)
	}
	for _, c := range []struct {
		name   string
		a      *halfulp.Matrix
		rank   int
		digits int
	}{
		{"a combination of rows", combine(random()), n - 1, 4},
		{"a combination of columns", combine(random()).T(), n - 1, 4},
		{"a column of zeros", zero, n - 1, 0},
		{"a product", lintest.Product(200, gallery.Random(halfulp.Float64, n, n-1, 0, 1), gallery.Random(halfulp.Float64, n-1, n, 0, 2)), n - 1, 260},
		{"a tall product", lintest.Product(200, gallery.Random(halfulp.Float64, n+9, n-1, 0, 1), gallery.Random(halfulp.Float64, n-1, n, 0, 2)), n - 1, 260},
		{"a wide product", lintest.Product(200, gallery.Random(halfulp.Float64, n, n-1, 0, 1), gallery.Random(halfulp.Float64, n-1, n+9, 0, 2)), n - 1, 260},
	} {
		var stats halfulp.Stats
		r, err := Rank(c.a, &halfulp.Options{Stats: &stats})
		if err != nil || r != c.rank || stats.Primes != 1 || stats.Digits > c.digits {
			t.Errorf("%s: rank %d, %v, want %d (%+v)", c.name, r, err, c.rank, stats)
		}
		if c.a.Rows() != c.a.Cols() {
			continue
		}
		d, err := Det(c.a, halfulp.Float64, &halfulp.Options{Stats: &stats})
		if err != nil || d.Sign() != 0 || stats.Primes != 1 {
			t.Errorf("%s: determinant %v, %v (%+v)", c.name, d, err, stats)
		}
		l, sign, err := LogDet(c.a, halfulp.Float64, &halfulp.Options{Stats: &stats})
		if err != nil || !l.IsInf(-1) || sign != 0 || stats.Primes != 1 {
			t.Errorf("%s: its logarithm %v, sign %d, %v (%+v)", c.name, l, sign, err, stats)
		}
	}
	// Exponents far apart prevent lifting.
	far := halfulp.NewMatrix(halfulp.MP(53), 20, 20)
	for i := range 19 {
		far.SetBig(i, i, power2(3, -2*i))
		far.SetBig(i, 19, power2(5, i%2*20_000))
	}
	var stats halfulp.Stats
	if r, err := Rank(far, &halfulp.Options{Stats: &stats}); err != nil || r != 19 || stats.Digits > 0 {
		t.Errorf("exponents far apart: rank %d, %v (%+v)", r, err, stats)
	}
}

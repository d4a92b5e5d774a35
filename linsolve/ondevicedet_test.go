package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// TestDetOnDevice compares determinants on a device with determinants on the host. Traces on the
// device, not the host, must have computed them.
func TestDetOnDevice(t *testing.T) {
	onDevices(t, det.LeastTraces, 150, func(t *testing.T, n int) {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.Float32, halfulp.MP(106), halfulp.MP(424)}[:testlength.Of(2, 2, 5)] {
			a := gallery.Random(f, n, n, 5, 1)
			want, err := Det(a, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			log, sign, err := LogDet(a, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			on := put(t, a)
			var stats halfulp.Stats
			got, err := Det(on, f, &halfulp.Options{Stats: &stats})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Same(want) {
				t.Errorf("%v: determinant %v, the host's is %v", f, got, want)
			}
			checkThere(t, f.String(), stats)
			other, s, err := LogDet(on, f, &halfulp.Options{Stats: &stats})
			if err != nil {
				t.Fatal(err)
			}
			if !other.Same(log) || s != sign {
				t.Errorf("%v: logarithm %v, sign %d, the host's are %v, %d", f, other, s, log, sign)
			}
			checkThere(t, f.String(), stats)
		}
	})
}

// checkThere checks whether traces on the device computed a result.
func checkThere(t *testing.T, name string, stats halfulp.Stats) {
	t.Helper()
	for _, g := range stats.Stages {
		if g.Name == "traces" && stats.Device == string(where) {
			return
		}
	}
	t.Errorf("%s: stages %v on %s", name, stats.Stages, stats.Device)
}

// exchanges returns the permutation matrix of a number of exchanges, with x in place of 1.
func exchanges(r *rand.Rand, n, count int, x float64) *halfulp.Matrix {
	order := call.All(n)
	for range count {
		i := r.IntN(n - 1)
		j := i + 1 + r.IntN(n-1-i)
		order[i], order[j] = order[j], order[i]
	}
	a := halfulp.NewMatrix(halfulp.Float64, n, n)
	for i, j := range order {
		a.SetFloat64(i, j, x)
	}
	return a
}

// TestDetOnDeviceCases computes determinants that are 0, ±1, huge, tiny or ties, of matrices that
// are singular, nearly singular, with exponents far apart, or with entries that are not finite.
// Results and errors must be the same as on the host. Attempts on the device that decide nothing
// must leave only their time in Stats.
func TestDetOnDeviceCases(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 1))
	onDevices(t, 12, 40, func(t *testing.T, n int) {
		random := func(f halfulp.Format) *halfulp.Matrix { return gallery.Random(f, n, n, 0, r.Uint64()) }
		times := func(a *halfulp.Matrix, x float64) *halfulp.Matrix {
			for i := range n {
				for j := range n {
					a.SetFloat64(i, j, a.Float64(i, j)*x)
				}
			}
			return a
		}
		singular := random(halfulp.Float64)
		for i := range n {
			singular.Set(i, 1, singular.At(i, 0))
		}
		nearly := singular.Clone()
		nearly.SetFloat64(n-1, 1, math.Nextafter(nearly.Float64(n-1, 1), 2))
		infinite := random(halfulp.Float64)
		infinite.SetFloat64(1, 2, math.Inf(1))
		far := random(halfulp.MP(60))
		far.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<30))
		large, small := random(halfulp.MP(60)), random(halfulp.Float64)
		for i := range n {
			for j := range n {
				large.SetBig(i, j, new(big.Float).SetMantExp(large.Big(i, j), 1<<20))
			}
			for j := range n {
				small.SetFloat64(i, j, math.Ldexp(small.Float64(i, j), (i-j)*900/n))
			}
		}
		tie := halfulp.Identity(halfulp.Float64, n).Convert(halfulp.MP(60)) // for Float64
		tie.SetBig(0, 0, new(big.Float).SetInt64(1<<53+1))
		for _, c := range []struct {
			name string
			a    *halfulp.Matrix
			left bool // to the host
		}{
			{"singular", singular, true},
			{"zeros", halfulp.NewMatrix(halfulp.Float64, n, n), true},
			{"nearly singular", nearly, true},
			{"infinite", infinite, true},
			{"far", far, true},
			{"tie", tie, true},
			{"identity", halfulp.Identity(halfulp.Float64, n), false},
			{"spread", lintest.ScaledRandom(r, halfulp.MP(80), n, 500), false},
			{"spread of float64", small, false},
			{"subnormal", times(random(halfulp.Float64), 0x1p-1030), false},
			{"overflow", times(random(halfulp.Float64), 0x1p900), false},
			{"large exponents", large, false},
			{"single", random(halfulp.Float32), false},
			{"triple", random(halfulp.TD), false},
			{"transposed", random(halfulp.MP(100)).T(), false},
			{"part", random(halfulp.Float64).Slice(1, n-1, 2, n), false},
			{"order 1", random(halfulp.Float64).Slice(0, 1, 0, 1), false},
			{"order 2", random(halfulp.Float64).Slice(0, 2, 0, 2), false},
			{"order 3", random(halfulp.Float64).Slice(0, 3, 0, 3), false},
			{"odd", exchanges(r, n, 5, 1.1), false},
			{"even", exchanges(r, n, 6, 1.1), false},
		} {
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(200)} {
				name := fmt.Sprintf("seed %d, %s, n = %d, %v", seed, c.name, n, f)
				want, wrong := Det(c.a, f, nil)
				log, sign, _ := LogDet(c.a, f, nil)
				on := put(t, c.a)
				s := tracedOn(t, on)
				var got halfulp.Scalar
				err := s.There(on.View(), 0, func(a num.Mat) (done bool, err error) {
					z, done, err := det.Det(s, a, f.View())
					got = halfulp.ScalarOf(z)
					return done, err
				})
				if (err == nil) != (wrong == nil) || err != nil && !strings.HasSuffix(wrong.Error(), err.Error()) {
					t.Fatalf("%s: %v, the host says %v", name, err, wrong)
				}
				left := s.Stats.Stages[0].Name == "attempt on "+string(where)
				if left != (c.left && (c.name != "tie" || f == halfulp.Float64)) {
					t.Errorf("%s: left to the host: %v; %+v", name, left, s.Stats)
				}
				if err != nil {
					continue
				}
				if !got.Same(want) {
					t.Errorf("%s: determinant %v, the host's is %v", name, got, want)
				}
				if left && s.Stats.Exact == 0 && c.name != "nearly singular" {
					t.Errorf("%s: %+v", name, s.Stats)
				}
				s = tracedOn(t, on)
				var other halfulp.Scalar
				var otherSign int
				if err := s.There(on.View(), 0, func(a num.Mat) (done bool, err error) {
					z, sgn, done, err := det.LogDet(s, a, f.View())
					other, otherSign = halfulp.ScalarOf(z), sgn
					return done, err
				}); err != nil {
					t.Fatal(name, err)
				}
				if !other.Same(log) || otherSign != sign {
					t.Errorf("%s: logarithm %v, sign %d, the host's are %v, %d", name, other, otherSign, log, sign)
				}
			}
		}
	})
}

// TestParity compares the parities of permutations with counts of inversions.
func TestParity(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	for range 200 {
		n := r.IntN(9)
		order := make([]int32, n)
		for i, p := range r.Perm(n) {
			order[i] = int32(p)
		}
		inversions := 0
		for i := range n {
			for j := range i {
				if order[j] > order[i] {
					inversions++
				}
			}
		}
		if odd, ok := det.Parity(order); !ok || odd != (inversions%2 == 1) {
			t.Fatalf("%v: %v, %v with %d inversions", order, odd, ok, inversions)
		}
		if n > 1 {
			order[n-1] = order[r.IntN(n-1)]
			if _, ok := det.Parity(order); ok {
				t.Fatalf("%v is no permutation", order)
			}
		}
	}
	if _, ok := det.Parity([]int32{0, 2}); ok {
		t.Error("0, 2 is no permutation")
	}
}

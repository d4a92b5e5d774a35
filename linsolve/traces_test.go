package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// tracedOn returns a run at the place of a matrix.
func tracedOn(t *testing.T, a *halfulp.Matrix) *call.Run {
	t.Helper()
	s, err := start("Det", nil, a.View())
	if err != nil {
		t.Fatal(err)
	}
	s.At = call.At(place.Of(a.View().Arr))
	t.Cleanup(s.Release)
	return s
}

// TestTraced encloses determinants by traces: the exact determinants must lie inside, and the ends
// near each other.
func TestTraced(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 1))
	gputest.OnDevices(t, 12, 60, func(t *testing.T, n int) {
		for family, a := range map[string]*halfulp.Matrix{
			"random":     gallery.Random(halfulp.MP(150), n, n, 0, r.Uint64()),
			"graded":     lintest.ScaledRandom(r, halfulp.MP(80), n, 300),
			"growing":    lintest.Growing(r, n),
			"unimodular": lintest.Unimodular(r, n),
			"integers":   lintest.Integers(r, n, n, 9),
			"signs":      lintest.Integers(r, n, n, 1),
			"identity":   halfulp.Identity(halfulp.Float64, n),
			"triangular": lintest.Triangular(r, n),
			"two":        gallery.Random(halfulp.Float64, 2, 2, 0, r.Uint64()),
		} {
			want, on := lintest.Of(a).Det(), put(t, a)
			for _, bits := range []int{440, 65, 20, 150, 1000, 2000}[:testlength.Of(2, 3, 6)] {
				name := fmt.Sprintf("seed %d, %s, n = %d, %d bits", seed, family, a.Rows(), bits)
				s := tracedOn(t, on)
				d, err := det.Traced(s, on.View(), bits)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if d == nil {
					// The condition number of random triangular matrices grows like 2^n (Viswanath
					// and Trefethen, SIAM J. Matrix Anal. Appl. 19, 1998); unimodular ones are
					// worse.
					hopeless := family == "unimodular" || family == "triangular" && n > 12
					if !hopeless && want.Sign() != 0 {
						t.Errorf("%s: none", name)
					}
					continue
				}
				t.Logf("%s: log %v, rho %v, steps %d", name, d.Log, s.Stats.Rho, s.Stats.Steps)
				if d.Log.Cmp(bound.Exp2(-bits+4)) > 0 {
					t.Errorf("%s: log %v", name, d.Log)
				}
				checkNear(t, name, d, want)
			}
		}
	})
}

// TestForcedTraces computes determinants of small matrices by traces where they live: the host
// decides none of them.
func TestForcedTraces(t *testing.T) {
	r := testseed.Rand(t, 1, 3)
	everywhere(t, 9, 60, func(t *testing.T, n int) {
		for name, a := range map[string]*halfulp.Matrix{
			"random":   gallery.Random(halfulp.MP(80), n, n, 0, r.Uint64()),
			"scaled":   lintest.ScaledRandom(r, halfulp.Float64, n, 200),
			"integers": lintest.Integers(r, n, n, 1<<20),
			"order 1":  gallery.Random(halfulp.MP(80), 1, 1, 0, r.Uint64()),
			"order 2":  gallery.Random(halfulp.MP(80), 2, 2, 0, r.Uint64()),
		} {
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(90)} {
				record := new(call.Record)
				stats := new(halfulp.Stats)
				opt := &halfulp.Options{Stats: stats, Context: call.Recording(call.Forcing(t.Context(), call.ByTraces), record)}
				on, want := put(t, a), lintest.Of(a).Det()
				d, err := Det(on, f, opt)
				if err != nil {
					t.Fatal(name, err)
				}
				if w := lintest.Nearest(f, want); !d.Same(w) || stats.Device == "cpu" {
					t.Errorf("%s, n = %d, %v: %v on %s, want %v", name, n, f, d, stats.Device, w)
				}
				log, sign, err := LogDet(on, f, opt)
				if err != nil {
					t.Fatal(name, err)
				}
				like, likeSign, err := LogDet(a, f, nil)
				if err != nil {
					t.Fatal(name, err)
				}
				if !log.Same(like) || sign != likeSign || stats.Device == "cpu" {
					t.Errorf("%s, n = %d, %v: logarithm %v, %d on %s, the host's is %v, %d", name, n, f, log, sign, stats.Device, like, likeSign)
				}
				if decided, left := record.Of("*det.enclosed", call.ByTraces); decided < 2 || left > 0 {
					t.Errorf("%s, n = %d, %v: traces decided %d, left %d", name, n, f, decided, left)
				}
			}
		}
	})
}

// checkNear compares an enclosure with the determinant: |want / (mid 2^shift) - 1| ≤ 2 log.
func checkNear(t *testing.T, name string, d *seed.Determinant, want *big.Rat) {
	t.Helper()
	mid, _ := d.Mid.Rat(nil)
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(d.Shift, -d.Shift))))
	if d.Shift < 0 {
		power.Inv(power)
	}
	off := new(big.Rat).Quo(want, mid.Mul(mid, power))
	off.Abs(off.Sub(off, big.NewRat(1, 1)))
	if most, _ := d.Log.Rat(nil); off.Cmp(most.Add(most, most)) > 0 {
		t.Fatalf("%s: off by %v of itself, log %v", name, lintest.Nearest(halfulp.Float64, off), d.Log)
	}
}

package linsolve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cudadrv/trace"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
)

// A failing place reports that its seeds failed in the first attempts, and changes some of their
// numbers.
type failing struct {
	spoiled
	place.Newton
	attempts int
	ended    *int // seeds
}

func (p failing) Inverse(cfg place.Config, a, x num.Mat, attempt int) (rows, cols []int64, begun place.Seed, err error) {
	rows, cols, begun, err = p.Newton.Inverse(cfg, a, x, min(attempt, 1))
	if begun == nil || attempt > p.attempts {
		return nil, nil, nil, err
	}
	if attempt < p.attempts {
		p.change(x)
	}
	return rows, cols, failed{begun, attempt < p.attempts, p.ended}, err
}

type failed struct {
	place.Seed
	failed bool
	ended  *int
}

func (z failed) Settle(cfg place.Config) (bool, error) {
	ok, err := z.Seed.Settle(cfg)
	return ok && !z.failed, err
}

func (z failed) Drop() {
	*z.ended++
	z.Seed.Drop()
}

// TestOnDeviceAttempts checks that results have the bits of the host when the place finds a seed
// only after some attempts, whatever numbers the failed attempts have left.
func TestOnDeviceAttempts(t *testing.T) {
	gputest.OnDevices(t, 12, 60, func(t *testing.T, n int) {
		f := halfulp.Float64
		a, b := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
		inverse, solution := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, 1)
		if err := lintest.Into(inverse)(Inverse(a, inverse.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		if err := lintest.Into(solution)(Solve(a, b, solution.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		on, right := put(t, a), put(t, b)
		for _, left := range []float64{1, 0, 0x1p900, math.Inf(-1), math.NaN()} {
			for attempts := range 4 {
				for _, c := range []struct{ b, want *halfulp.Matrix }{{nil, inverse}, {right, solution}} {
					name := fmt.Sprintf("%g, after %d attempts, %d columns", left, attempts, c.want.Cols())
					ended := 0
					s := tracedOn(t, on)
					at := place.Of(on.View().Arr)
					s.At = call.At(failing{newSpoiled(t, at, func(x *halfulp.Matrix) {
						for i := range n {
							x.SetFloat64(i, n/2, left)
						}
					}), partOf[place.Newton](t, at), attempts, &ended})
					var g num.Mat
					if c.b != nil {
						g = c.b.View()
					}
					z, err := newton.SolveThere(s, on.View(), g, f.View())
					if err != nil || z.Arr == nil {
						t.Fatalf("%s: %v, %v", name, z, err)
					}
					checkSameThere(t, name, halfulp.MatrixOf(z), c.want)
					if ended != attempts+1 {
						t.Errorf("%s: %d seeds have ended", name, ended)
					}
					s.Release()
				}
			}
		}
	})
}

// TestSecondAttempt solves a system in which the pivots of the first columns lie beyond the first
// rows, where they are searched first: a tournament finds them.
func TestSecondAttempt(t *testing.T) {
	dev, drv := gputest.Traced(t, false)
	defer mem.Substitute(dev)()
	const n, zeros = 130, 30
	f := halfulp.Float64
	a, b := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
	for j := range zeros {
		for i := range n - zeros {
			a.SetFloat64(i, j, 0)
		}
	}
	want, err := Solve(a, b, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	on, right, x := put(t, a), put(t, b), put(t, halfulp.NewMatrix(f, n, 1))
	kept := int64(0)
	for i := range 3 {
		drv.Reset()
		var stats halfulp.Stats
		err := lintest.Into(x)(Solve(on, right, x.NumberFormat(), &halfulp.Options{Stats: &stats}))
		if err != nil {
			t.Fatal(err)
		}
		checkSameThere(t, "solution", x, want)
		if last := stats.Stages[len(stats.Stages)-1].Name; last != "rounding" || stats.Device != string(where) {
			t.Errorf("stages %v on %s", stats.Stages, stats.Device)
		}
		calls, err := drv.Calls()
		if err != nil {
			t.Fatal(err)
		}
		for _, kernel := range []string{"narrowPivots 1x1x1", "pivots 1x1x1"} {
			if !slices.ContainsFunc(calls, func(c trace.Call) bool { return c.Name == "LaunchKernel" && c.What == kernel }) {
				t.Errorf("no launch of %s", kernel)
			}
		}
		if used := dev.Counters().InUse; i == 0 {
			kept = used
		} else if used != kept {
			t.Errorf("%d bytes in use, %d before", used, kept)
		}
	}
}

// TestNoSeed checks that singular matrices are left to the host, whatever the place has begun with
// them.
func TestNoSeed(t *testing.T) {
	gputest.OnDevices(t, 12, 60, func(t *testing.T, n int) {
		a := gallery.Random(halfulp.Float64, n, n, 0, 1)
		for i := range n {
			a.SetFloat64(i, 1, a.Float64(i, 0))
		}
		on := put(t, a)
		s := tracedOn(t, on)
		s.At = call.At(place.Of(on.View().Arr))
		if z, err := newton.SolveThere(s, on.View(), num.Mat{}, halfulp.Float64.View()); z.Arr != nil || err != nil {
			t.Errorf("%v, %v", z, err)
		}
	})
}

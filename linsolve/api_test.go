package linsolve

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testseed"
)

func TestInverse(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	for _, f := range lintest.Formats {
		for n := range 7 {
			a := gallery.Random(f, n, n, 3, r.Uint64())
			x, err := Inverse(a, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := lintest.Of(a).Solve(lintest.Identity(n))
			for i := range n {
				for j := range n {
					if z := lintest.Nearest(f, want[i][j]); !x.At(i, j).Same(z) {
						t.Fatalf("%v, n = %d: entry %d, %d is %s, want %s", f, n, i, j, x.At(i, j).Hex(), z.Hex())
					}
				}
			}
		}
	}
}

// TestRank compares ranks of products of integer matrices with their known ranks.
func TestRank(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	for range 50 {
		m, n, k := r.IntN(12), r.IntN(12), r.IntN(8)
		k = min(k, m, n)
		// Factors with an echelon of ones have full rank.
		left, right := lintest.Integers(r, m, k, 5), lintest.Integers(r, k, n, 5)
		for i := range k {
			for j := range i {
				left.Set(j, i, halfulp.Float(0))
				right.Set(i, j, halfulp.Float(0))
			}
			left.Set(i, i, halfulp.Float(1))
			right.Set(i, i, halfulp.Float(1))
		}
		a := halfulp.NewMatrix(halfulp.Float64, m, n)
		if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), left, right, halfulp.Float(0), nil, a, nil); err != nil {
			t.Fatal(err)
		}
		var stats halfulp.Stats
		got, err := Rank(a, &halfulp.Options{Stats: &stats})
		if err != nil || got != k {
			t.Fatalf("%d x %d: rank %d, %v, want %d (%+v)", m, n, got, err, k, stats)
		}
	}
	// One ulp makes a difference.
	a := halfulp.NewMatrix(halfulp.Float64, 3, 3)
	for i := range 3 {
		for j := range 3 {
			a.Set(i, j, halfulp.Float(float64(3*i+j+1)))
		}
	}
	if got, _ := Rank(a, nil); got != 2 {
		t.Fatalf("rank %d, want 2", got)
	}
	a.Set(2, 2, halfulp.Float(math.Nextafter(9, 10)))
	if got, _ := Rank(a, nil); got != 3 {
		t.Fatalf("rank %d, want 3", got)
	}
	check(t, "one ulp from singular", a, lintest.Integers(r, 3, 1, 9), halfulp.Float64)
}

func TestSolveErrors(t *testing.T) {
	a, b := gallery.Random(halfulp.Float64, 20, 20, 0, 1), gallery.Random(halfulp.Float64, 20, 2, 0, 2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(a, b, halfulp.Float64, &halfulp.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := Solve(a, b, halfulp.Float64, &halfulp.Options{Device: "cuda:99"}); !errors.Is(err, halfulp.ErrDevice) {
		t.Fatal(err)
	}
	if _, err := Solve(a, b, halfulp.Float64, &halfulp.Options{Method: "lu"}); !errors.Is(err, halfulp.ErrMethod) {
		t.Fatal(err)
	}
	a.Set(3, 4, halfulp.Float(math.Inf(1)))
	if _, err := Solve(a, b, halfulp.Float64, nil); !errors.Is(err, call.ErrNotFinite) {
		t.Fatal(err)
	}
	defer func() {
		if recover() != errShape {
			t.Fatal("no panic for shapes that do not fit")
		}
	}()
	_, _ = Solve(a, b.T(), halfulp.Float64, nil)
}

// TestSolveSame checks that solutions are the same for all numbers of threads and methods.
func TestSolveSame(t *testing.T) {
	a, b := gallery.Hilbert(halfulp.QD, 20), gallery.Random(halfulp.Float64, 20, 20, 0, 2)
	want, err := Solve(a, b, halfulp.DD, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []halfulp.Options{{Threads: 1}, {Threads: 5}, {Method: "direct"}, {Method: "residue"}} {
		done := 0.0
		o.Progress = func(d float64) {
			if d < 0 || d > 1 {
				t.Errorf("progress %g", d)
			}
			done = d
		}
		x, err := Solve(a, b, halfulp.DD, &o)
		if err != nil {
			t.Fatal(err)
		}
		if !x.Same(want) {
			t.Errorf("%+v: other bits", o)
		}
		if done != 1 {
			t.Errorf("%+v: progress ends at %g", o, done)
		}
	}
}

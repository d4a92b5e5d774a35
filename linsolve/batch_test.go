package linsolve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// TestSolveBatch compares batches with single calls, bit for bit: systems alike or not, singular
// ones and such with NaN between them, a limit of memory.
func TestSolveBatch(t *testing.T) {
	formats := []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.MP(106), halfulp.MP(424)}
	for trial := range 20 {
		f := formats[trial%len(formats)]
		count := []int{1, 0, 6, 23}[trial%4]
		var a, b []*halfulp.Matrix
		var bad []int
		for i := range count {
			n, k := 1+(trial+i)%6, 1+trial%3
			if i == 4 {
				n = 40
			}
			g := formats[(trial+i)%len(formats)]
			x := gallery.Random(g, n, n, 0, uint64(100*trial+2*i))
			switch {
			case i%7 == 3 && n > 1: // singular: equal columns
				for row := range n {
					x.Set(row, 0, x.At(row, n-1))
				}
				bad = append(bad, i)
			case i == 11:
				x.SetFloat64(0, 0, 0)
				x.Set(0, 0, halfulp.Float64.Quo(halfulp.Float(0), halfulp.Float(0)))
				bad = append(bad, i)
			}
			a, b = append(a, x), append(b, gallery.Random(g, n, k, 0, uint64(100*trial+2*i+1)))
		}
		var got halfulp.Stats
		share := 0.0
		opt := &halfulp.Options{Threads: 1 + trial%3, Stats: &got, Progress: func(done float64) {
			if done <= share {
				t.Errorf("trial %d: progress %g after %g", trial, done, share)
			}
			share = done
		}}
		if trial%5 == 4 {
			opt.MemoryLimit = 1 << 20
		}
		x, err := linsolve.SolveBatch(a, b, f, opt)
		if count > 0 && share != 1 {
			t.Errorf("trial %d: progress ended at %g", trial, share)
		}
		var failed *halfulp.BatchError
		if errors.As(err, &failed) != (len(bad) > 0) || len(bad) > 0 && !slices.Equal(failed.Indices, bad) {
			t.Fatalf("trial %d: error %v, want failures of %v", trial, err, bad)
		}
		if len(bad) > 0 && (!errors.Is(failed.Errors[0], linsolve.ErrSingular) || !strings.Contains(err.Error(), fmt.Sprintf("problem %d: Solve", bad[0]))) {
			t.Errorf("trial %d: %v", trial, err)
		}
		events := int64(0)
		for i := range a {
			var one halfulp.Stats
			want, err := linsolve.Solve(a[i], b[i], f, &halfulp.Options{Threads: 1, Stats: &one})
			events += one.Overflow + one.Underflow
			if slices.Contains(bad, i) {
				if err == nil || x[i] != nil {
					t.Fatalf("trial %d, system %d: %v and %v", trial, i, err, x[i])
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for row := range want.Rows() {
				for col := range want.Cols() {
					if !want.At(row, col).Same(x[i].At(row, col)) {
						t.Fatalf("trial %d, system %d: got\n%v\nwant\n%v", trial, i, x[i], want)
					}
				}
			}
		}
		if got.Overflow+got.Underflow != events || count > 0 && (got.Device != "cpu" || got.Method != "solve" || got.Threads != opt.Threads) {
			t.Errorf("trial %d: statistics %+v, want %d events", trial, got, events)
		}
	}
}

// TestSolveBatchErrors cancels a batch, and gives it bad options and shapes.
func TestSolveBatchErrors(t *testing.T) {
	var a []*halfulp.Matrix
	for i := range uint64(9) {
		a = append(a, gallery.Random(halfulp.MP(106), 5, 5, 0, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	x, err := linsolve.SolveBatch(a, a, halfulp.Float64, &halfulp.Options{Context: ctx, Threads: 2, Progress: func(float64) {
		if calls++; calls == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || x != nil {
		t.Errorf("cancelled: %v, %d solutions", err, len(x))
	}
	if _, err := linsolve.SolveBatch(a, a, halfulp.Float64, &halfulp.Options{Device: "nowhere"}); !errors.Is(err, halfulp.ErrDevice) {
		t.Errorf("bad device: %v", err)
	}
	for _, b := range [][]*halfulp.Matrix{a[:3], slices.Repeat([]*halfulp.Matrix{halfulp.NewMatrix(halfulp.Float64, 4, 1)}, 9)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for shapes that do not fit")
				}
			}()
			_, _ = linsolve.SolveBatch(a, b, halfulp.Float64, nil)
		}()
	}
}

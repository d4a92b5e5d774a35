package measure

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 3, 2, 1}, 2.5}} {
		if got := median(c.x); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.x, got, c.want)
		}
	}
}

func TestOrder(t *testing.T) {
	if got, want := order([]int{1, 2}, []int{0, 3}, 2), []int{1, 0, 3, 2, 0, 3, 1, 0, 3, 2, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
	if got, want := order(nil, []int{5}, 2), []int{5, 5}; !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
}

// TestColumns runs methods that sleep a fixed time a column, by a clock that nothing else moves.
func TestColumns(t *testing.T) { synctest.Test(t, testColumns) }

func testColumns(t *testing.T) {
	sleeper := func(name string, perColumn time.Duration, minimum int, linear bool) peer.Method {
		return peer.Method{
			Name: name, Role: peer.Peer, MinColumns: minimum, Linear: linear, Threads: 2,
			Run: func(columns int) error { time.Sleep(time.Duration(columns) * perColumn); return nil },
		}
	}
	limits := Limits{Repeat: 3, Longest: 200 * time.Millisecond, Columns: 50 * time.Millisecond, Shortest: time.Millisecond}
	p := problem.Problem{Kind: problem.Gemm, N: 100, Bits: 53}
	figures, err := SideBySide(p, []peer.Method{
		sleeper("whole", time.Millisecond, 25, false),
		sleeper("part", 3*time.Millisecond, 25, false),
		sleeper("linear", 2*time.Millisecond, 2, true),
		sleeper("too slow", 10*time.Millisecond, 0, false),
	}, limits)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ low, high int }{{100, 100}, {26, 66}, {2, 24}, {0, 0}} {
		f := figures[i]
		if f.Columns < want.low || f.Columns > want.high || f.Columns%2 != 0 {
			t.Errorf("%s: %d columns, want an even number from %d to %d", f.Method, f.Columns, want.low, want.high)
		}
		if skipped := f.Skipped != ""; skipped != (want.high == 0) {
			t.Errorf("%s: skipped %q", f.Method, f.Skipped)
		}
		if want.high > 0 && (f.Repeats != limits.Repeat || f.Min > f.Median || f.Median > f.Max || f.Min <= 0) {
			t.Errorf("%s: min %g, median %g, max %g of %d", f.Method, f.Min, f.Median, f.Max, f.Repeats)
		}
	}
}

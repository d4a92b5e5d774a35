package linsolve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/trace"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// A callCount counts the driver calls of an operation on a device.
type callCount struct {
	launches, copies, answers, allocations int
	busy                                   time.Duration // of the device, if measured
}

func countCalls(calls []trace.Call) (c callCount) {
	for _, call := range calls {
		switch {
		case call.Name == "LaunchKernel":
			c.launches++
		case call.Answers():
			c.answers++
		case strings.HasPrefix(call.Name, "Memcpy"), strings.HasPrefix(call.Name, "Memset"):
			c.copies++
		case call.Name == "MemAlloc":
			c.allocations++
		}
		if call.Device != nil {
			c.busy += call.Device.To - call.Device.From
		}
	}
	return c
}

// onTraced returns operations on matrices of order n that live on a device.
func onTraced(t testing.TB, f halfulp.Format, n int) map[string]func(opt *halfulp.Options) error {
	on := func(m *halfulp.Matrix) *halfulp.Matrix {
		z, err := m.On("cuda:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(z.Free)
		return z
	}
	h := gallery.Random(f, n, n, 0, 1)
	spd := halfulp.NewMatrix(f, n, n)
	for i := range n {
		spd.SetFloat64(i, i, float64(n))
	}
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), h, h, halfulp.Float(1), spd, nil); err != nil {
		t.Fatal(err)
	}
	a, b, s := on(h), on(gallery.Random(f, n, n, 0, 2)), on(spd)
	return map[string]func(opt *halfulp.Options) error{
		"solve": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(Solve(a, b.Slice(0, n, 0, 1), f, opt))
		},
		"solve-n": func(opt *halfulp.Options) error { return lintest.ErrorOf(Solve(a, b, f, opt)) },
		"inv":     func(opt *halfulp.Options) error { return lintest.ErrorOf(Inverse(a, f, opt)) },
		"det":     func(opt *halfulp.Options) error { _, err := Det(a, f, opt); return err },
		"lu": func(opt *halfulp.Options) error {
			y, err := LU(a, f, opt)
			if err == nil {
				y.Free()
			}
			return err
		},
		"chol": func(opt *halfulp.Options) error {
			y, err := Cholesky(s, f, opt)
			if err == nil {
				y.Free()
			}
			return err
		},
	}
}

// TestDriverCalls counts the driver calls of operations on a device when they run once more. Each
// answer that they wait for costs an H100 10 µs or more at n = 1000, where kernels take about as
// long. The counts may fall; they may rise only for a reason.
func TestDriverCalls(t *testing.T) {
	dev, drv := gputest.Traced(t, false)
	defer mem.Substitute(dev)()
	for _, c := range []struct {
		f    halfulp.Format
		n    int
		most map[string]callCount
	}{
		{halfulp.Float64, 24, map[string]callCount{
			"solve": {launches: 30, copies: 20, answers: 4}, "solve-n": {launches: 33, copies: 24, answers: 4},
			"inv": {launches: 23, copies: 18, answers: 3}, "chol": {launches: 29, copies: 28, answers: 4},
		}},
		{halfulp.MP(106), 24, map[string]callCount{
			"solve": {launches: 33, copies: 20, answers: 4}, "solve-n": {launches: 33, copies: 24, answers: 4},
			"inv": {launches: 28, copies: 22, answers: 4}, "chol": {launches: 47, copies: 43, answers: 6},
		}},
		{halfulp.Float64, det.LeastTraces, map[string]callCount{
			"det": {launches: 24, copies: 26, answers: 5}, "lu": {launches: 52, copies: 52, answers: 6},
		}},
	} {
		for name, run := range onTraced(t, c.f, c.n) {
			most, ok := c.most[name]
			if !ok {
				continue
			}
			var got callCount
			for range 3 {
				drv.Reset()
				var stats halfulp.Stats
				if err := run(&halfulp.Options{Stats: &stats}); err != nil {
					t.Fatal(err)
				}
				if last := stats.Stages[len(stats.Stages)-1].Name; last != "rounding" && name != "det" || stats.Device != "cuda:0" {
					t.Errorf("%v %s: stages %v on %s", c.f, name, stats.Stages, stats.Device)
				}
				calls, err := drv.Calls()
				if err != nil {
					t.Fatal(err)
				}
				got = countCalls(calls)
			}
			if got.launches > most.launches || got.copies > most.copies || got.answers > most.answers || got.allocations > most.allocations {
				t.Errorf("%v %s: %+v, want at most %+v", c.f, name, got, most)
			}
		}
	}
}

// BenchmarkOnDevice measures operations on a GPU and their driver calls: go test -bench OnDevice
// ./linsolve. Events around each driver call add to the time of the device here.
func BenchmarkOnDevice(b *testing.B) {
	dev, drv := gputest.Traced(b, true)
	defer mem.Substitute(dev)()
	for _, n := range []int{1000, 4096} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424)} {
			for name, run := range onTraced(b, f, n) {
				b.Run(fmt.Sprintf("%s/n=%d/%v", name, n, f), func(b *testing.B) {
					drv.Timed = false
					for b.Loop() {
						if err := run(nil); err != nil {
							b.Fatal(err)
						}
					}
					drv.Timed = true
					drv.Reset()
					if err := run(nil); err != nil {
						b.Fatal(err)
					}
					var calls []trace.Call
					if err := dev.Do(b.Context(), func(s *cuda.Stream) (err error) {
						if err = s.Synchronize(); err == nil {
							calls, err = drv.Calls()
						}
						return err
					}); err != nil {
						b.Fatal(err)
					}
					c := countCalls(calls)
					b.ReportMetric(float64(c.launches), "launches")
					b.ReportMetric(float64(c.copies), "copies")
					b.ReportMetric(float64(c.answers), "answers")
					b.ReportMetric(float64(c.busy.Microseconds()), "µs/device")
				})
			}
		}
	}
}

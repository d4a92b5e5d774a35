package product

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	dispatch "github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testseed"
)

// onHost is how products run on the host.
func onHost(cfg Config) dispatch.Config {
	return dispatch.Config{Run: par.Run{Ctx: cfg.Ctx, Threads: cfg.Threads, Memory: 4 << 30, Progress: cfg.Progress, Check: cfg.Check}, Method: dispatch.Auto}
}

// hostGemm is Gemm on the host.
func hostGemm(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
	return dispatch.Run(onHost(cfg), dispatch.Problem{Alpha: alpha, A: a, B: b, Beta: beta, Old: old, C: c, Triangle: cfg.Triangle})
}

// multiply is Gemm, and computes on the host what that leaves.
func multiply(dev *cuda.Device, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
	cfg = cfg.defaults()
	cfg.Progress = par.Rising(cfg.Progress)
	st, err := Gemm(dev, cfg, alpha, a, b, beta, old, c)
	if left := (*place.Declined)(nil); errors.As(err, &left) {
		p := dispatch.Problem{Alpha: alpha, A: a, B: b, Beta: beta, Old: old, C: c, Triangle: cfg.Triangle}
		return left.Finish(onHost(cfg), &p, st)
	}
	return st, err
}

// TestDeclined has panels with more entries for the exact pass than there is room for, and scalars
// that the device does not take: the device says which blocks it leaves, computes all others, and
// keeps old entries that count. The host then computes what is left.
func TestDeclined(t *testing.T) {
	defer flowing()()
	defer func(most int64) { maxList = most }(maxList)
	maxList, leastPanel = 40, abi.Tile
	const short, inner, long = 5, 6, 600
	devs, _ := gputest.References(t, 2)
	rng := testseed.Rand(t, 5, 7)
	a, b := gputest.RandomMat(rng, num.Float64, gputest.Uniform, short, inner), gputest.RandomMat(rng, num.Float64, gputest.Uniform, inner, long)
	for h := range inner { // columns from 520 on cancel
		for j := 520; j < long; j++ {
			b.Arr.F64[0][b.At(h, j)] = 0
		}
		a.Arr.CopyFrom(a.At(0, h), a.Arr, a.At(1, h))
	}
	for i := range short {
		a.Arr.CopyFrom(a.At(i, 1), a.Arr, a.At(i, 0))
	}
	for j := 520; j < long; j++ {
		b.Arr.F64[0][b.At(0, j)], b.Arr.F64[0][b.At(1, j)] = 1, -1
	}
	old := gputest.RandomMat(rng, num.Float64, gputest.Uniform, short, long)
	long100k := num.Real{Class: num.Finite, Mag: make([]uint64, 100000/64)}
	for i := range long100k.Mag {
		long100k.Mag[i] = rng.Uint64()
	}
	for name, c := range map[string]struct {
		alpha, beta num.Real
		triangle    byte
		whole       bool
	}{
		"cancels":  {alpha: gputest.Scalar(1)},
		"infinite": {alpha: num.Real{Class: num.Inf}, beta: gputest.Scalar(1), whole: true},
		"triangle": {alpha: num.Real{Class: num.Inf}, triangle: 'L', whole: true},
		"long":     {alpha: long100k, beta: gputest.Scalar(1), whole: true},
	} {
		want := old.Copy()
		cfg := Config{Pattern: place.Pattern{Triangle: c.triangle}}
		if _, err := hostGemm(cfg.defaults(), c.alpha, a, b, c.beta, want, want); err != nil {
			t.Fatal(err)
		}
		// check looks at what a device has made of a matrix, with old entries in place.
		check := func(where string, got num.Mat, st residue.Stats, err error) {
			t.Helper()
			var left *place.Declined
			if !errors.As(err, &left) || !errors.Is(err, place.ErrUnsupported) {
				t.Fatalf("%s, %s: error %v", name, where, err)
			}
			is := make([]bool, long)
			for _, r := range left.List {
				if r.I0 != 0 || r.I1 != short || r.Triangle != c.triangle {
					t.Errorf("%s, %s: left %+v", name, where, r)
				}
				for j := r.J0; j < r.J1; j++ {
					is[j] = true
				}
			}
			if !is[long-1] || is[0] != c.whole || c.whole != (st.Method == "") {
				t.Errorf("%s, %s: left %+v, %+v", name, where, left.List, st)
			}
			for j := range long {
				from := want
				if is[j] {
					from = old
				}
				for i := range short {
					if (c.whole || !is[j]) && !got.Arr.SameBits(got.At(i, j), from.Arr, from.At(i, j)) {
						t.Fatalf("%s, %s: entry (%d, %d) is %s, left %t", name, where, i, j, gputest.Show(got.Arr, got.At(i, j)), is[j])
					}
				}
			}
		}
		for n := range devs {
			cfg.More = devs[1 : 1+n]
			got := old.Copy()
			st, err := Gemm(devs[0], cfg, c.alpha, a, b, c.beta, got, got)
			check(fmt.Sprint(n+1, " devices"), got, st, err)
			got = old.Copy()
			done := 0.0
			cfg.Progress = func(share float64) { done = share }
			if st, err = multiply(devs[0], cfg, c.alpha, a, b, c.beta, got, got); err != nil {
				t.Fatal(err)
			}
			cfg.Progress = nil
			same(t, name, got, want)
			if gpus, ok := strings.CutPrefix(st.Device, "cpu"); !ok || (gpus == "") != c.whole || done != 1 {
				t.Errorf("%s: done on %s, %g", name, st.Device, done)
			}
		}
		if !c.whole {
			continue
		}
		err := devs[0].Do(t.Context(), func(s *cuda.Stream) error {
			var on [3]mem.Matrix
			for i, m := range []num.Mat{a, b, old} {
				var err error
				if on[i], err = mem.UploadView(s, m); err != nil {
					return err
				}
				defer on[i].Arr.Free()
			}
			cfg.More = nil
			st, err := GemmOnDevice(s, cfg, c.alpha, on[0], on[1], c.beta, on[2], on[2])
			h, failed := on[2].Get(s)
			check("resident", h, st, err)
			return failed
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

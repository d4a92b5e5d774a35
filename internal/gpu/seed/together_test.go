package seed

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
)

// dealt gives devices columns of a matrix, as many as each is to have.
func dealt(ctx context.Context, devs []*cuda.Device, f num.Format, n int, counts []int, at func(i, j int) float64) (shares []Share, free func(), err error) {
	before := 0
	free = func() {
		for _, s := range shares {
			s.A.Arr.Free()
			s.X.Arr.Free()
		}
	}
	for d, dev := range devs {
		count := counts[d]
		if err := dev.Do(ctx, func(s *cuda.Stream) error {
			h := num.New(f, n*count)
			for j := range count {
				for i := range n {
					h.Set(i+j*n, gputest.Scalar(at(i, before+j)))
				}
			}
			a, err := mem.Upload(s, h)
			if err != nil {
				return err
			}
			x, err := mem.NewArray(s, num.Float64, n*count)
			shares = append(shares, Share{dev, mem.Matrix{Arr: a, RS: 1, CS: n, Rows: n, Cols: count}, mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: count}})
			return err
		}); err != nil {
			return nil, nil, err
		}
		before += count
	}
	return shares, free, nil
}

// got returns the inverse that GPUs have made.
func got(ctx context.Context, shares []Share) (all []float64, err error) {
	for _, share := range shares {
		if err := share.Device.Do(ctx, func(s *cuda.Stream) error {
			h, err := share.X.Arr.Host(s)
			if err == nil {
				all = append(all, h.F64[0]...)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sameAsOne compares what GPUs have made of their shares with what one of them makes by invert.
func sameAsOne(t *testing.T, shares []Share, p problem, f num.Format, invert func(s *cuda.Stream, a, x mem.Matrix) (ok bool, err error)) {
	t.Helper()
	all, err := got(t.Context(), shares)
	if err != nil {
		t.Fatal(err)
	}
	if err := shares[0].Device.Do(t.Context(), func(s *cuda.Stream) error {
		a, _, err := resident(s, f, p.n, false, p.at)
		if err != nil {
			return err
		}
		defer a.Arr.Free()
		x, err := mem.NewArray(s, num.Float64, p.n*p.n)
		if err != nil {
			return err
		}
		defer x.Free()
		if ok, err := invert(s, a, mem.Matrix{Arr: x, RS: 1, CS: p.n, Rows: p.n, Cols: p.n}); err != nil || !ok {
			return fmt.Errorf("%v %w", ok, err)
		}
		want, err := x.Host(s)
		if err != nil {
			return err
		}
		for i, v := range want.F64[0] {
			if all[i] != v {
				t.Fatalf("%s on %d: entry %d is %g, want %g", p.name, len(shares), i, all[i], v)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// checkTogether has several GPUs find what one does.
func checkTogether(t *testing.T, devs []*cuda.Device, p problem, f num.Format, counts ...int) {
	t.Helper()
	shares, free, err := dealt(t.Context(), devs, f, p.n, counts, p.at)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	rows, cols, ok, possible, err := InverseTogether(t.Context(), shares)
	if err != nil || !ok || !possible {
		t.Fatalf("%s, %v: %v, %v, %v", p.name, counts, ok, possible, err)
	}
	sameAsOne(t, shares, p, f, func(s *cuda.Stream, a, x mem.Matrix) (bool, error) {
		r, c, ok, err := inverse(s, a, x, searches, 2*block)
		if err == nil && (!slices.Equal(rows, r) || !slices.Equal(cols, c)) {
			t.Errorf("%s, %v: exponents %v and %v, want %v and %v", p.name, counts, rows, cols, r, c)
		}
		return ok, err
	})
}

// TestInverseTogether has panels on several fake GPUs.
func TestInverseTogether(t *testing.T) {
	devs, _ := gputest.Linked(t, 3)
	for i, p := range problems(300) {
		if p.n != 300 || i%testlength.Of(5, 5, 1) != 0 {
			continue
		}
		checkTogether(t, devs, p, []num.Format{num.Float64, gputest.MP(150)}[i%2], 128, 128, 44)
		checkTogether(t, devs[:2], p, num.Float64, 128, 172)
	}
	checkTogether(t, devs[1:], problems(600)[0], num.Float64, 384, 216)
}

// checkRootTogether has several GPUs find what one does.
func checkRootTogether(t *testing.T, devs []*cuda.Device, p problem, f num.Format, counts ...int) {
	t.Helper()
	shares, free, err := dealt(t.Context(), devs, f, p.n, counts, p.at)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	exps, ok, possible, err := InverseRootTogether(t.Context(), shares)
	if err != nil || !ok || !possible {
		t.Fatalf("%s, %v: %v, %v, %v", p.name, counts, ok, possible, err)
	}
	sameAsOne(t, shares, p, f, func(s *cuda.Stream, a, x mem.Matrix) (bool, error) {
		want, ok, err := inverseRootNow(s, a, x, 2*block)
		if err == nil && !slices.Equal(exps, want) {
			t.Errorf("%s, %v: exponents %v, want %v", p.name, counts, exps, want)
		}
		return ok, err
	})
}

// TestInverseRootTogether has panels on several fake GPUs.
func TestInverseRootTogether(t *testing.T) {
	devs, _ := gputest.Linked(t, 3)
	for i, p := range definite(300) {
		if p.n != 300 {
			continue
		}
		checkRootTogether(t, devs, p, []num.Format{num.Float64, gputest.MP(150)}[i%2], 128, 128, 44)
		// One GPU has more to do in turn.
		for k, counts := range [][]int{{128, 172}, {256, 44}} {
			if testlength.Long() || i%2 == k {
				checkRootTogether(t, devs[:2], p, num.Float64, counts...)
			}
		}
	}
}

// TestTogetherNot has matrices that have no inverse, GPUs that do not reach each other, and calls
// that fail.
func TestTogetherNot(t *testing.T) {
	const n = 192
	counts := []int{128, 64}
	at := problems(n)[0].at
	singular := func(i, j int) float64 { return at(i, j) * float64(min(1, max(-1, j-100))) }
	// So that matrices have met all buffers for copies, whose events are not to fail.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	devs, drv := gputest.Linked(t, 2)
	run := func(at func(i, j int) float64, counts ...int) (ok, possible bool, err error) {
		shares, free, err := dealt(t.Context(), devs, num.Float64, n, counts, at)
		if err != nil {
			t.Fatal(err)
		}
		defer free()
		if _, _, ok, possible, err = InverseTogether(t.Context(), shares); err != nil || ok || !possible {
			return ok, possible, err
		}
		// Nor has it a Cholesky factor.
		_, ok, possible, err = InverseRootTogether(t.Context(), shares)
		return ok, possible, err
	}
	if ok, _, err := run(singular, counts...); ok || err != nil {
		t.Errorf("a singular matrix: %v, %v", ok, err)
	}
	if _, possible, err := run(at, 100, 92); possible || err != nil {
		t.Errorf("100 columns: %v, %v", possible, err)
	}
	for _, call := range []string{"LaunchKernel", "MemcpyPeerAsync", "EventCreate", "StreamWaitEvent", "MemcpyDtoHAsync"} {
		for after := range 3 {
			drv.Fail(call, after, cudadrv.NotSupported)
			if _, _, err := run(at, counts...); cudadrv.CodeOf(err) != cudadrv.NotSupported {
				t.Errorf("%s, number %d: %v", call, after, err)
			}
			for d, dev := range devs {
				if c := dev.Counters(); c.InUse != 0 {
					t.Fatalf("%s, number %d: %d bytes of GPU %d are in use", call, after, c.InUse, d)
				}
			}
		}
	}
	drv.NoPeers = true
	devs = nil
	for i := range 2 {
		dev, err := cuda.OpenDriver(drv, i)
		if err != nil {
			t.Fatal(err)
		}
		devs = append(devs, dev)
	}
	if _, possible, err := run(at, counts...); possible || err != nil {
		t.Errorf("without peers: %v, %v", possible, err)
	}
}

// TestDeviceTogether has two of the machine's GPUs.
func TestDeviceTogether(t *testing.T) {
	devs := gputest.Machines(t)
	for i, p := range problems(700) {
		if p.n == 700 {
			checkTogether(t, devs, p, []num.Format{num.Float64, gputest.MP(150)}[i%2], 384, 316)
		}
	}
}

// TestDeviceRootTogether has two of the machine's GPUs.
func TestDeviceRootTogether(t *testing.T) {
	devs := gputest.Machines(t)
	for i, p := range definite(500) {
		if p.n == 500 {
			checkRootTogether(t, devs, p, []num.Format{num.Float64, gputest.MP(150)}[i%2], 256, 244)
		}
	}
}

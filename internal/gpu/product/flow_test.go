package product

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// flowing makes small products flow in panels.
func flowing() (restore func()) {
	bytes, least := panelBytes, leastPanel
	panelBytes, leastPanel = 1, 100
	return func() { panelBytes, leastPanel = bytes, least }
}

// same compares two matrices bit by bit.
func same(t *testing.T, what string, got, want num.Mat) {
	t.Helper()
	for j := range want.Cols {
		for i := range want.Rows {
			if g, w := gputest.Show(got.Arr, got.At(i, j)), gputest.Show(want.Arr, want.At(i, j)); g != w {
				t.Fatalf("%s: entry (%d, %d) is %s, want %s", what, i, j, g, w)
			}
		}
	}
}

// TestFlow has products that go to the device and come back in panels, of columns and of rows: with
// old entries in place and of another format, copies that are kept, and special values.
func TestFlow(t *testing.T) {
	devs, _ := gputest.References(t, 2)
	checkFlow(t, devs...)
}

// TestDeviceFlow is TestFlow on the machine's GPU.
func TestDeviceFlow(t *testing.T) { checkFlow(t, gputest.Machine(t)) }

func checkFlow(t *testing.T, devs ...*cuda.Device) {
	defer flowing()()
	const short, inner, long = 5, 6, 330
	rng := testseed.Rand(t, 5, 6)
	for _, kind := range []gputest.Family{gputest.Uniform, gputest.Special, gputest.Cancel} {
		a := gputest.RandomMat(rng, num.Float64, kind, short, inner)
		b := gputest.RandomMat(rng, num.Float64, kind, inner, long)
		if kind == gputest.Cancel { // which the last panel has far apart
			for h := range inner {
				b.Arr.F64[0][b.At(h, long-1-h)] = math.Ldexp(1, 1000-h)
				b.Arr.F64[0][b.At(h, long-h-2)] = math.Ldexp(1, -1000-h)
			}
		}
		for name, beta := range map[string]float64{"plain": 0, "in place": 1, "wider": 3} {
			old := gputest.RandomMat(rng, num.Float64, gputest.Uniform, short, long)
			format := num.Float64
			if name == "wider" {
				format = gputest.MP(90)
			}
			want := num.Mat{Arr: num.New(format, short*long), RS: 1, CS: short, Rows: short, Cols: long}
			if _, err := hostGemm(Config{}.defaults(), gputest.Scalar(2), a, b, gputest.Scalar(beta), old, want); err != nil {
				t.Fatal(err)
			}
			for _, transposed := range []bool{false, true} {
				for _, keeps := range []bool{false, true} {
					what := fmt.Sprintf("%v, %s, transposed %v, copies %v", kind, name, transposed, keeps)
					z := num.Mat{Arr: num.New(format, short*long), RS: 1, CS: short, Rows: short, Cols: long}
					before := old
					if name == "in place" {
						copy(z.Arr.F64[0], old.Arr.F64[0])
						before = z
					}
					x, y, o, c := a, b, before, z
					if transposed {
						x, y, o, c = b.T(), a.T(), before.T(), z.T()
					}
					done := 0.0
					cfg := Config{Run: par.Run{Progress: func(d float64) { done = d }}, More: devs[1:]}
					if keeps {
						side := leftSide
						if transposed {
							side = rightSide
						}
						cfg.Copies[side] = NewCopies([2]num.Mat{x, y}[side])
						defer cfg.Copies[side].Free()
						cfg.More = nil
					}
					st, err := multiply(devs[0], cfg, gputest.Scalar(2), x, y, gputest.Scalar(beta), o, c)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					same(t, what, z, want)
					if done != 1 || st.Method == "" {
						t.Errorf("%s: %g done, %+v", what, done, st)
					}
					if st.Blocks < 3 && kind != gputest.Cancel {
						t.Errorf("%s: %d blocks", what, st.Blocks)
					}
				}
			}
		}
	}
}

// TestFlowMemory has panels of which a device has room for one alone, and a product that leaves
// room for panels to come: for some in smaller blocks, for too many in the smallest.
func TestFlowMemory(t *testing.T) {
	testlength.SkipRace(t, "it looks at memory")
	defer flowing()()
	const short, inner, long = 3, 250, 512
	rng := testseed.Rand(t, 5, 6)
	a := gputest.RandomMat(rng, num.Float64, gputest.Uniform, short, inner)
	b := gputest.RandomMat(rng, num.Float64, gputest.Uniform, inner, long)
	want := num.Mat{Arr: num.New(num.Float64, short*long), RS: 1, CS: short, Rows: short, Cols: long}
	if _, err := hostGemm(Config{}.defaults(), gputest.Scalar(1), a, b, num.Real{}, want, want); err != nil {
		t.Fatal(err)
	}
	// run returns the number of blocks of a product on a device of so many bytes, and how much it
	// said was done in the end.
	run := func(memory uint64, cfg Config) (blocks int, done float64) {
		t.Helper()
		drv := &fake.Driver{TotalMemory: memory}
		gputest.Kernels(t, drv)
		dev, err := cuda.OpenDriver(drv, 0)
		if err != nil {
			t.Fatal(err)
		}
		z := num.Mat{Arr: num.New(num.Float64, short*long), RS: 1, CS: short, Rows: short, Cols: long}
		cfg.Progress = func(d float64) { done = d }
		whole := part{a: a, b: b, old: z, c: z}
		err = gemm(dev, cfg.defaults(), gputest.Scalar(1), num.Real{}, whole, outcome{add: func(s residue.Stats) { blocks += s.Blocks }})
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("with %d bytes", memory), z, want)
		return blocks, done
	}
	leastPanel = abi.Tile
	// Panels beside each other need 2.6 MB, one alone 2.1.
	if n, done := run(2300e3, Config{}); n != 4 || done < 0.999 {
		t.Errorf("%d panels, %g done", n, done)
	}
	leastPanel = long + 1
	one, _ := run(1<<30, Config{})
	some, _ := run(1<<30, Config{coming: func() int64 { return 911e6 }})
	least, _ := run(1<<30, Config{coming: func() int64 { return 2 << 30 }})
	if one != 1 || some <= one || least < some {
		t.Errorf("%d blocks, %d beside some panels, %d beside many", one, some, least)
	}
}

// heldDriver lets the second panel go up when the first one's results go down, and those arrive
// when the flow has failed.
type heldDriver struct {
	*fake.Driver
	panel, results uint64 // bytes
	flow           *flow
	panels         atomic.Int32
	going          atomic.Bool
}

// failed reports whether the flow has failed.
func (d *heldDriver) failed() bool {
	d.flow.mu.Lock()
	defer d.flow.mu.Unlock()
	return d.flow.err != nil
}

func (d *heldDriver) MemcpyHtoDAsync(dst cuda.Pointer, src unsafe.Pointer, bytes uint64, s cudadrv.Stream) error {
	if bytes == d.panel && d.panels.Add(1) == 2 {
		for !d.failed() && !d.going.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	return d.Driver.MemcpyHtoDAsync(dst, src, bytes, s)
}

func (d *heldDriver) MemcpyDtoHAsync(dst unsafe.Pointer, src cuda.Pointer, bytes uint64, s cudadrv.Stream) error {
	if bytes == d.results && !d.failed() && d.going.CompareAndSwap(false, true) {
		for i := 0; i < 60000 && !d.failed(); i++ {
			time.Sleep(time.Millisecond)
		}
	}
	return d.Driver.MemcpyDtoHAsync(dst, src, bytes, s)
}

// TestFlowHeld has a panel that finds no memory while results of the one before are on their way:
// they arrive, and the others are computed one by one.
func TestFlowHeld(t *testing.T) {
	defer flowing()()
	leastPanel = abi.Tile
	const short, inner, long = 3, 250, 512
	rng := testseed.Rand(t, 7, 6)
	a := gputest.RandomMat(rng, num.Float64, gputest.Uniform, short, inner)
	b := gputest.RandomMat(rng, num.Float64, gputest.Uniform, inner, long)
	old := gputest.RandomMat(rng, num.Float64, gputest.Uniform, short, long)
	z := num.Mat{Arr: num.New(num.Float64, short*long), RS: 1, CS: short, Rows: short, Cols: long}
	for i := range short * long {
		z.Arr.CopyFrom(i, old.Arr, i)
	}
	want := num.Mat{Arr: num.New(num.Float64, short*long), RS: 1, CS: short, Rows: short, Cols: long}
	if _, err := hostGemm(Config{}.defaults(), gputest.Scalar(1), a, b, gputest.Scalar(1), old, want); err != nil {
		t.Fatal(err)
	}
	// One panel needs more than 2.5 MB, one beside another more than 2.7.
	drv := &heldDriver{Driver: &fake.Driver{TotalMemory: 2700e3}, panel: 8 * inner * abi.Tile, results: 8 * short * abi.Tile}
	gputest.Kernels(t, drv.Driver)
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	whole, blocks := part{a: a, b: b, old: z, c: z}, 0
	f := &flow{dev: dev, cfg: Config{}.defaults(), alpha: gputest.Scalar(1), beta: gputest.Scalar(1), outcome: outcome{add: func(s residue.Stats) { blocks += s.Blocks }}}
	f.shared, f.list = whole.panels(f.cfg.Copies)
	drv.flow = f
	if err := f.run(whole); err != nil {
		t.Fatal(err)
	}
	same(t, "held", z, want)
	if f.err == nil || !drv.going.Load() || blocks != 4 {
		t.Errorf("%v, held %v, %d blocks", f.err, drv.going.Load(), blocks)
	}
}

// TestFlowFails lets allocations, and the context, end a product in panels: all memory is given
// back.
func TestFlowFails(t *testing.T) {
	defer flowing()()
	rng := testseed.Rand(t, 5, 6)
	a := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 4, 5)
	b := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 5, 400)
	drv := new(fake.Driver)
	gputest.Kernels(t, drv)
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, progress func(float64)) error {
		z := num.Mat{Arr: num.New(num.Float64, 4*400), RS: 1, CS: 4, Rows: 4, Cols: 400}
		_, err := multiply(dev, Config{Run: par.Run{Ctx: ctx, Progress: progress}}, gputest.Scalar(1), a, b, num.Real{}, z, z)
		return err
	}
	for range 2 {
		if err := run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	use := func() (s string) {
		for i := range 2 {
			side, err := dev.SideStream(i)
			if err != nil {
				t.Fatal(err)
			}
			s += fmt.Sprint(side.Counters().InUse, dev.Counters().Events+side.Counters().Events, " ")
		}
		return s
	}
	was := use()
	var told []float64
	if err := run(t.Context(), func(d float64) { told = append(told, d) }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(told) || told[len(told)-1] != 1 {
		t.Errorf("progress %v", told)
	}
	for _, at := range told[:len(told)-1] {
		ctx, cancel := context.WithCancel(t.Context())
		err := run(ctx, func(d float64) {
			if d >= at {
				cancel()
			}
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at %g: %v", at, err)
		}
		if now := use(); now != was {
			t.Fatalf("cancelled at %g: %s in use, %s before", at, now, was)
		}
		cancel()
	}
	// An allocation tries again, so that it fails twice or more before a product does. Of three
	// failures one allocation has two: panels come one by one then, and only the copy of the factor
	// that they share, the first allocation, is needed for these as well. Many failures leave
	// nothing but what was allocated before; a panel takes two more pieces of memory at least.
	failed := map[int]int{}
	for _, times := range []int{3, 1000} {
		for after := range 20 {
			// so that memory comes from the driver
			if err := dev.Do(t.Context(), (*cuda.Stream).Trim); err != nil {
				t.Fatal(err)
			}
			for range times {
				drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
			}
			if err := run(t.Context(), nil); err != nil {
				failed[times]++
				if !errors.Is(err, cuda.ErrMemory) {
					t.Fatalf("%d from allocation %d on: %v", times, after, err)
				}
			}
			if now := use(); now != was {
				t.Fatalf("%d from allocation %d on: %s in use, %s before", times, after, now, was)
			}
			drv.Forgive()
		}
	}
	if failed[3] > 1 || failed[1000] < 3 {
		t.Errorf("%d and %d products failed", failed[3], failed[1000])
	}
}

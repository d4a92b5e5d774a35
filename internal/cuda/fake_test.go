package cuda_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/kernels"
	"github.com/halfulp/halfulp/internal/testseed"
)

// fakeStage is how many float64 a staging buffer of a fake device holds.
const fakeStage = 5000

// littleStages are the staging buffers of small copies.
const littleStages = 32

// open returns a fake device with the kernels of selftest.cu.
func open(t *testing.T, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("scale_add", func(l *fake.Launch, a float64, x, y, z cuda.Pointer, n uint32) {
		xs, ys, zs := fake.Slice[float64](l, x, int(n)), fake.Slice[float64](l, y, int(n)), fake.Slice[float64](l, z, int(n))
		for i := range zs {
			zs[i] = float64(a*xs[i]) + ys[i]
		}
	})
	drv.Kernel("wander", func(l *fake.Launch, address cuda.Pointer) { fake.Slice[int32](l, address, 1) })
	drv.Kernel("empty", func(*fake.Launch) {})
	drv.Kernel("answer", func(l *fake.Launch, mailbox cuda.Pointer, value, ticket uint32) {
		copy(fake.Slice[uint32](l, mailbox, 2), []uint32{ticket, value})
	})
	drv.Kernel("answer_words", func(l *fake.Launch, mailbox cuda.Pointer, n, value, ticket uint32) {
		words := fake.Slice[uint64](l, mailbox, int(n))
		for i := range words {
			words[i] = uint64(value+uint32(i))<<32 | uint64(ticket)
		}
	})
	drv.Kernel("reverse", func(l *fake.Launch, x cuda.Pointer, n int32) { slices.Reverse(fake.Slice[int32](l, x, int(n))) })
	drv.Kernel("arguments", func(l *fake.Launch, out cuda.Pointer, i int32, m mixed, n int64, f float32, d float64) {
		copy(fake.Slice[float64](l, out, 10), m.all(i, n, f, d))
	})
	defer cuda.SetStaging(8 * fakeStage)()
	dev, err := cuda.OpenLookingOut(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

func do(t *testing.T, dev *cuda.Device, f func(s *cuda.Stream) error) {
	t.Helper()
	if err := dev.Do(background, f); err != nil {
		t.Fatal(err)
	}
}

// scaleAdd computes a x + y on a device, with everything created and freed.
func scaleAdd(s *cuda.Stream, a float64, x, y []float64) ([]float64, error) {
	m, err := s.Load(kernels.PTX("selftest/selftest"))
	if err != nil {
		return nil, err
	}
	defer m.Unload()
	f, err := m.Function("scale_add")
	if err != nil {
		return nil, err
	}
	side, err := s.NewStream()
	if err != nil {
		return nil, err
	}
	defer side.Close()
	n := len(x)
	var d [3]*cuda.Memory
	for i := range d {
		if d[i], err = side.Alloc(int64(8 * n)); err != nil {
			return nil, err
		}
		defer d[i].Free()
	}
	if err := errors.Join(cuda.Upload(side, d[0].Pointer(), x), cuda.Upload(side, d[1].Pointer(), y)); err != nil {
		return nil, err
	}
	if err := f.Launch(side, cuda.Dim{X: (n + 255) / 256}, cuda.Dim{X: 256}, 0, a, d[0], d[1].Pointer(), d[2], uint32(n)); err != nil {
		return nil, err
	}
	z := make([]float64, n)
	return z, cuda.Download(side, z, d[2].Pointer())
}

func checkScaleAdd(t *testing.T, dev *cuda.Device, n int) {
	t.Helper()
	x, y, r := make([]float64, n), make([]float64, n), testseed.Rand(t, 3, 4)
	for i := range x {
		x[i], y[i] = r.NormFloat64(), r.NormFloat64()
	}
	const a = 0.1
	do(t, dev, func(s *cuda.Stream) error {
		z, err := scaleAdd(s, a, x, y)
		for i := range z {
			if want := float64(a*x[i]) + y[i]; err == nil && math.Float64bits(z[i]) != math.Float64bits(want) {
				return fmt.Errorf("n = %d: z[%d] = %v, want %v", n, i, z[i], want)
			}
		}
		return err
	})
}

// aroundStages are sizes from one element to some staging buffers of n elements each.
func aroundStages(n int) []int {
	return []int{1, 1000, n - 1, n, n + 1, 2*n + 1, 3 * n, 4*n + n/3}
}

func TestScaleAdd(t *testing.T) {
	dev := open(t, new(fake.Driver))
	for _, n := range aroundStages(fakeStage) {
		checkScaleAdd(t, dev, n)
	}
}

// TestUploadOrder checks that slices are read before Upload returns, and pieces through
// the same staging buffer do not overtake each other.
func TestUploadOrder(t *testing.T) {
	dev := open(t, new(fake.Driver))
	do(t, dev, func(s *cuda.Stream) error {
		const pieces, n = 7, fakeStage + 3
		m, err := s.Alloc(pieces * 8 * n)
		if err != nil {
			return err
		}
		defer m.Free()
		x := make([]uint64, n)
		for p := range pieces {
			for i := range x {
				x[i] = uint64(p*n + i)
			}
			if err := cuda.Upload(s, m.At(int64(p*8*n)), x); err != nil {
				return err
			}
		}
		got := make([]uint64, pieces*n)
		if err := cuda.Download(s, got, m.Pointer()); err != nil {
			return err
		}
		for i := range got {
			if got[i] != uint64(i) {
				return fmt.Errorf("element %d is %d", i, got[i])
			}
		}
		return nil
	})
}

// TestCallOrder checks the calls of a small upload, launch and download.
func TestCallOrder(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	checkScaleAdd(t, dev, 10) // staging buffers, memory
	drv.ForgetCalls()
	checkScaleAdd(t, dev, 10)
	// Each copy has a staging buffer of its own. The copy of the results has freed them.
	want := `ModuleLoadData ModuleGetFunction FuncGetAttribute StreamCreate
		MemcpyHtoDAsync EventRecord MemcpyHtoDAsync EventRecord LaunchKernel
		MemcpyDtoHAsync EventRecord EventSynchronize StreamSynchronize StreamDestroy ModuleUnload`
	if got := drv.Calls(); !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("calls %v", got)
	}
}

const cycles = 1000

// TestNoLeak creates, computes and frees many times, and gives all memory back.
func TestNoLeak(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	checkScaleAdd(t, dev, 1000)
	before, counters := drv.Live(), dev.Counters()
	for range cycles {
		checkScaleAdd(t, dev, 1000)
	}
	if after := drv.Live(); after != before {
		t.Errorf("after %d cycles %+v, after one %+v", cycles, after, before)
	}
	if after := dev.Counters(); after != counters {
		t.Errorf("after %d cycles %+v, after one %+v", cycles, after, counters)
	}
	do(t, dev, (*cuda.Stream).Trim)
	if l := drv.Live(); l.Memory != 0 || l.Bytes != 0 || l.Modules != 0 || l.Streams != 1 || l.Events != l.Host || l.Host > runtime.GOMAXPROCS(0)+4+littleStages {
		t.Errorf("after Trim %+v, want the main stream and the staging buffers", l)
	}
}

// TestEveryFailure lets each call in turn fail: the error comes out, and nothing leaks.
func TestEveryFailure(t *testing.T) {
	const n = fakeStage + 1 // two pieces
	x, y := make([]float64, n), make([]float64, n)
	for _, code := range []cudadrv.Code{cudadrv.InvalidValue, cudadrv.OutOfMemory, cudadrv.IllegalAddress} {
		for n := 0; ; n++ {
			drv := new(fake.Driver)
			dev := open(t, drv)
			drv.ForgetCalls()
			drv.Fail("", n, code)
			err := dev.Do(background, func(s *cuda.Stream) error {
				_, err := scaleAdd(s, 2, x, y)
				return err
			})
			if len(drv.Calls()) <= n {
				break // all calls succeeded
			}
			call := drv.Calls()[n]
			if call == "MemAlloc" && code == cudadrv.OutOfMemory {
				if err != nil {
					t.Errorf("a second attempt to allocate failed: %v", err)
				}
				continue
			}
			if call == "StreamSynchronize" || call == "StreamDestroy" || call == "ModuleUnload" {
				continue // deferred calls of scaleAdd, which drops their errors
			}
			if cudadrv.CodeOf(err) != code {
				t.Errorf("call %d, %s, failed: error %v", n, call, err)
			}
			if lost := errors.Is(err, cuda.ErrLost); lost != code.Sticky() {
				t.Errorf("call %d, %s, failed with code %d: %v", n, call, code, err)
			}
			if code.Sticky() {
				continue
			}
			checkScaleAdd(t, dev, 100) // the device works on
			do(t, dev, (*cuda.Stream).Trim)
			if l := drv.Live(); l.Memory != 0 || l.Modules != 0 || l.Streams != 1 || l.Events != l.Host || l.Host > runtime.GOMAXPROCS(0)+4+littleStages {
				t.Errorf("call %d, %s, failed: left %+v", n, call, l)
			}
		}
	}
}

// TestOutOfMemory checks that unused memory is given back before an allocation fails,
// and the words when it does.
func TestOutOfMemory(t *testing.T) {
	drv := &fake.Driver{TotalMemory: 64 << 20}
	dev := open(t, drv)
	do(t, dev, func(s *cuda.Stream) error {
		small, err := s.Alloc(40 << 20)
		if err != nil {
			return err
		}
		small.Free()
		big, err := s.Alloc(60 << 20)
		if err != nil {
			return fmt.Errorf("memory of the pool was not given back: %w", err)
		}
		_, err = s.Alloc(20 << 20)
		if !errors.Is(err, cuda.ErrMemory) {
			return fmt.Errorf("allocated too much: %w", err)
		}
		if want := "cuda:0: out of memory: asked for 20.0 MiB, 4096.0 KiB free of 64.0 MiB"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		big.Free()
		big.Free() // does nothing
		small.Free()
		again, err := s.Alloc(20 << 20)
		again.Free()
		return err
	})
	if c := dev.Counters(); c.InUse != 0 || c.Blocks != 1 {
		t.Errorf("%+v", c)
	}
}

// TestOldestFirst checks that a new piece of memory makes the pool free only as much unused memory
// as it needs, the least recently used first.
func TestOldestFirst(t *testing.T) {
	drv := &fake.Driver{TotalMemory: 64 << 20}
	dev := open(t, drv)
	do(t, dev, func(s *cuda.Stream) error {
		var list []*cuda.Memory
		for _, size := range []int64{10 << 20, 20 << 20, 28 << 20} {
			m, err := s.Alloc(size)
			if err != nil {
				return err
			}
			list = append(list, m)
		}
		kept := list[0].Pointer()
		for _, i := range []int{1, 0, 2} {
			list[i].Free()
		}
		drv.ForgetCalls()
		big, err := s.Alloc(22 << 20)
		if err != nil {
			return err
		}
		defer big.Free()
		if calls := strings.Join(drv.Calls(), " "); calls != "MemAlloc MemFree MemFree MemAlloc" {
			t.Errorf("22 MiB: %s", calls)
		}
		drv.ForgetCalls()
		again, err := s.Alloc(28 << 20)
		if err != nil {
			return err
		}
		defer again.Free()
		if calls := drv.Calls(); len(calls) != 0 {
			t.Errorf("28 MiB, which were used last: %v", calls)
		}
		other, err := s.Alloc(10 << 20)
		if err != nil {
			return err
		}
		defer other.Free()
		if calls := drv.Calls(); len(calls) != 1 || other.Pointer() == kept {
			t.Errorf("10 MiB, which were given back: %v", calls)
		}
		return nil
	})
}

// TestLargeBlocks checks that large pieces of memory take the place of ones that were up to twice
// as large, the least of those, and small ones do not.
func TestLargeBlocks(t *testing.T) {
	defer cuda.LargeBlocks(1 << 20)()
	drv := new(fake.Driver)
	dev := open(t, drv)
	do(t, dev, func(s *cuda.Stream) error {
		sizes := []int64{1 << 19, 3 << 20, 5 << 20, 7 << 20}
		var list []*cuda.Memory
		at := map[cuda.Pointer]int64{}
		for _, size := range sizes {
			m, err := s.Alloc(size)
			if err != nil {
				return err
			}
			list = append(list, m)
			at[m.Pointer()] = size
		}
		for _, m := range list {
			m.Free()
		}
		for _, c := range []struct{ size, want int64 }{
			{5 << 20, 5 << 20}, {4 << 20, 5 << 20}, {3 << 20, 3 << 20}, {5<<19 + 1, 3 << 20}, {3 << 19, 3 << 20},
			{3<<19 - 1<<17, 0}, {6 << 20, 7 << 20}, {8 << 20, 0}, {1 << 18, 0}, {1 << 19, 1 << 19},
		} {
			m, err := s.Alloc(c.size)
			if err != nil {
				return err
			}
			if at[m.Pointer()] != c.want {
				t.Errorf("%d bytes are in a block of %d, want %d", c.size, at[m.Pointer()], c.want)
			}
			if c.want == 0 { // a new one, which is none of the next sizes'
				defer m.Free()
			} else {
				m.Free()
			}
		}
		return nil
	})
}

// TestLargeBlocksLeaveRoom has pieces fit beside each other though a larger block is held than any
// of them needs: what blocks have beyond what was asked for is not missed.
func TestLargeBlocksLeaveRoom(t *testing.T) {
	defer cuda.LargeBlocks(1 << 20)()
	drv := &fake.Driver{TotalMemory: 80 << 20}
	dev := open(t, drv)
	do(t, dev, func(s *cuda.Stream) error {
		m, err := s.Alloc(40 << 20)
		if err != nil {
			return err
		}
		m.Free()
		for range 3 {
			m, err := s.Alloc(22 << 20)
			if err != nil {
				return err
			}
			defer m.Free()
		}
		return nil
	})
	// What is given back is to spare again.
	do(t, dev, func(s *cuda.Stream) error {
		for range 5 {
			m, err := s.Alloc(20 << 20)
			if err != nil {
				return err
			}
			if got := dev.Counters().InUse; got != 22<<20 {
				t.Errorf("20 MiB are in a block of %d bytes", got)
			}
			m.Free()
		}
		return nil
	})
}

// TestReuse checks that the pool hands memory out again: at once in the same stream,
// behind an event in another.
func TestReuse(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	do(t, dev, func(s *cuda.Stream) error {
		a, err := s.Alloc(5000)
		if err != nil {
			return err
		}
		p := a.Pointer()
		if err := s.Fill(p, 7, 5000); err != nil {
			return err
		}
		a.Free()
		drv.ForgetCalls()
		if a, err = s.Alloc(4999); err != nil {
			return err
		}
		if a.Pointer() != p || len(drv.Calls()) != 0 {
			t.Errorf("not reused: %v", drv.Calls())
		}
		a.Free()
		other, err := s.NewStream()
		if err != nil {
			return err
		}
		defer other.Close()
		drv.ForgetCalls()
		b, err := other.Alloc(5000)
		if err != nil {
			return err
		}
		defer b.Free()
		if calls := strings.Join(drv.Calls(), " "); b.Pointer() != p || calls != "EventCreate EventRecord StreamWaitEvent EventDestroy" {
			t.Errorf("in another stream: %s", calls)
		}
		if err := other.Fill(p, 9, 5000); err != nil {
			return err
		}
		got := make([]byte, 5000)
		if err := cuda.Download(other, got, p); err != nil {
			return err
		}
		if err := s.Synchronize(); err != nil {
			return err
		}
		if got[0] != 9 || got[4999] != 9 {
			t.Error("the streams overtook each other")
		}
		return nil
	})
}

// TestLost loses the device in mid-run by a kernel that writes where it must not:
// everything after that fails in words, at once.
func TestLost(t *testing.T) {
	dev := open(t, new(fake.Driver))
	err := dev.Do(background, func(s *cuda.Stream) error {
		m, err := s.Load(kernels.PTX("selftest/selftest"))
		if err != nil {
			return err
		}
		f, err := m.Function("wander")
		if err != nil {
			return err
		}
		if err := f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, uint64(16)); err != nil {
			t.Errorf("launch: %v", err)
		}
		return s.Synchronize()
	})
	if !errors.Is(err, cuda.ErrLost) || !strings.HasPrefix(err.Error(), "cuda:0: device lost: cuStreamSynchronize: ") {
		t.Errorf("error %v", err)
	}
	again := dev.Do(background, func(*cuda.Stream) error {
		t.Error("work on a lost device")
		return nil
	})
	if again == nil || again.Error() != err.Error() {
		t.Errorf("later error %v", again)
	}
}

// TestOldDriver checks the words for drivers that cannot run the kernels.
func TestOldDriver(t *testing.T) {
	load := func(s *cuda.Stream) error {
		_, err := s.Load(kernels.PTX("selftest/selftest"))
		return err
	}
	old := open(t, &fake.Driver{Version: 11040})
	err := old.Do(background, load)
	if want := "cuda:0: NVIDIA driver too old: this build needs a driver for CUDA 12.0 or later, this one is for CUDA 11.4"; !errors.Is(err, cuda.ErrDriver) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	drv := new(fake.Driver)
	refusing := open(t, drv)
	drv.Fail("ModuleLoadData", 0, cudadrv.UnsupportedPTX)
	if err := refusing.Do(background, load); !errors.Is(err, cuda.ErrDriver) {
		t.Error(err)
	}
	drv.Fail("ModuleLoadData", 0, cudadrv.NoBinaryForGPU)
	if err := refusing.Do(background, load); err == nil || !strings.Contains(err.Error(), "kernels for sm_80 do not run on compute capability 8.0") {
		t.Error(err)
	}
}

// TestNoSuchDevice checks the words for devices that are not there.
func TestNoSuchDevice(t *testing.T) {
	_, err := cuda.OpenDriver(new(fake.Driver), 3)
	if !errors.Is(err, cuda.ErrNoDevice) || err.Error() != "no such device cuda:3: this machine has 1" {
		t.Error(err)
	}
	drv := new(fake.Driver)
	drv.Fail("DeviceGetCount", 0, cudadrv.NoDevice)
	if _, err := cuda.OpenDriver(drv, 0); !errors.Is(err, cuda.ErrNoDevice) || err.Error() != "no such device: the NVIDIA driver sees no GPU" {
		t.Error(err)
	}
	for n := range 12 {
		drv := new(fake.Driver)
		drv.Fail("", n, cudadrv.NotSupported)
		if _, err := cuda.OpenDriver(drv, 0); cudadrv.CodeOf(err) != cudadrv.NotSupported {
			t.Errorf("call %d failed while opening: %v", n, err)
		}
	}
}

// TestCancel checks that a cancelled context ends work between operations.
func TestCancel(t *testing.T) {
	dev := open(t, new(fake.Driver))
	ctx, cancel := context.WithCancel(background)
	err := dev.Do(ctx, func(s *cuda.Stream) error {
		m, err := s.Alloc(1000)
		if err != nil {
			t.Error(err)
		}
		defer m.Free()
		cancel()
		return s.Zero(m.Pointer(), 1000)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := dev.Do(ctx, func(*cuda.Stream) error { t.Error("run after the end"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	checkScaleAdd(t, dev, 100)
}

// TestCancelWhileWaiting checks that Do does not wait for the device with a context that
// is, or gets, cancelled.
func TestCancelWhileWaiting(t *testing.T) {
	dev := open(t, new(fake.Driver))
	inside, release := make(chan bool), make(chan bool)
	go dev.Do(background, func(*cuda.Stream) error {
		close(inside)
		<-release
		return nil
	})
	<-inside
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(5*time.Millisecond, cancel)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := dev.Do(ctx, func(*cuda.Stream) error { t.Error("run"); return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	close(release)
	checkScaleAdd(t, dev, 10)
}

// TestPanic checks that a panic, and the end of a goroutine, reach the caller, and that
// the device lives on.
func TestPanic(t *testing.T) {
	dev := open(t, new(fake.Driver))
	func() {
		defer func() {
			if v := recover(); v != "mistake" {
				t.Errorf("recovered %v", v)
			}
		}()
		dev.Do(background, func(*cuda.Stream) error { panic("mistake") })
	}()
	t.Run("skip", func(t *testing.T) {
		dev.Do(background, func(*cuda.Stream) error { t.SkipNow(); return nil })
		t.Error("the goroutine lives on")
	})
	checkScaleAdd(t, dev, 100)
}

// TestMisuse checks that mistakes of the program are found before the driver is called.
func TestMisuse(t *testing.T) {
	dev := open(t, new(fake.Driver))
	var kept *cuda.Stream
	do(t, dev, func(s *cuda.Stream) error {
		kept = s
		m, err := s.Load(kernels.PTX("selftest/selftest"))
		if err != nil {
			return err
		}
		f, err := m.Function("reverse")
		if err != nil {
			return err
		}
		if _, err := m.Function("no_such_kernel"); err == nil || !strings.Contains(err.Error(), "kernel no_such_kernel: ") {
			t.Errorf("unknown kernel: %v", err)
		}
		x, err := s.Alloc(400)
		if err != nil {
			return err
		}
		one := cuda.Dim{}
		for _, args := range [][]any{{}, {x}, {x, 100}, {x, uint64(100)}, {x, int32(100), 1.0}, {&struct{}{}, int32(1)}, {nil, int32(1)}} {
			panics(t, fmt.Sprint(args), func() { f.Launch(s, one, one, 0, args...) })
		}
		panics(t, "outside", func() { x.At(401) })
		panics(t, "negative size", func() { s.Alloc(-1) })
		x.Free()
		panics(t, "freed", func() { f.Launch(s, one, one, 0, x, int32(100)) })
		panics(t, "main stream", func() { s.Close() })
		// With what the kernel declares that is more than a block has without asking.
		if err := f.Launch(s, one, one, 48<<10, cuda.Pointer(0), int32(0)); err != nil {
			t.Errorf("shared memory beside what is declared: %v", err)
		}
		if err := f.Launch(s, one, one, 200<<10, cuda.Pointer(0), int32(0)); err == nil || !strings.Contains(err.Error(), "kernel reverse: 200.0 KiB of shared memory a block: ") {
			t.Errorf("too much shared memory: %v", err)
		}
		return nil
	})
	panics(t, "outside of Do", func() { kept.Alloc(1) })
}

func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("no panic: %s", what)
		}
	}()
	f()
}

// TestConcurrent uses a device from many goroutines.
func TestConcurrent(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				checkScaleAdd(t, dev, 100+i)
			}
		})
	}
	wg.Wait()
	if c := dev.Counters(); c.InUse != 0 || c.Streams != 1 || c.Modules != 0 {
		t.Errorf("%+v", c)
	}
}

// TestPassing has goroutines hand jobs to an executor that sleeps between many of them, and checks
// that each job runs once, or not at all if its caller gives up.
func TestPassing(t *testing.T) {
	for _, patience := range []time.Duration{1, time.Microsecond, time.Millisecond} {
		dev, err := cuda.OpenPatient(new(fake.Driver), 0, patience)
		if err != nil {
			t.Fatal(err)
		}
		var ran atomic.Int64
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 200 {
					ctx, cancel := context.WithCancel(t.Context())
					if g == 0 && i%3 == 0 {
						cancel()
					}
					count := 0
					err := dev.Do(ctx, func(*cuda.Stream) error {
						count++
						ran.Add(1)
						return nil
					})
					cancel()
					switch {
					case g == 0 && i%3 == 0:
						if count > 0 || !errors.Is(err, context.Canceled) {
							t.Errorf("a cancelled job ran %d times: %v", count, err)
						}
					case count != 1 || err != nil:
						t.Errorf("a job ran %d times: %v", count, err)
					}
				}
			})
		}
		wg.Wait()
		if got := ran.Load(); got != 800-67 {
			t.Errorf("%d jobs ran", got)
		}
	}
}

func TestArguments(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("structures of programs of 32 bits end without the padding that kernels have")
	}
	checkArguments(t, open(t, new(fake.Driver)))
}

func TestReverse(t *testing.T) { checkReverse(t, open(t, new(fake.Driver))) }

// TestOpenFails lets each call of opening a device fail, many times: nothing is left, and
// one thread serves all tries.
func TestOpenFails(t *testing.T) {
	drv := new(fake.Driver)
	before := runtime.NumGoroutine()
	failed := map[string]int{}
	for range 20 {
		for n := 0; ; n++ {
			drv.ForgetCalls()
			drv.Fail("", n, cudadrv.OutOfMemory)
			_, err := cuda.OpenDriver(drv, 0)
			calls := drv.Calls()
			if err == nil {
				t.Fatalf("call %d of %v failed, and nothing happened", n, calls)
			}
			failed[calls[n]]++
			if l := drv.Live(); l.Contexts != 0 || l.Streams != 0 {
				t.Fatalf("%s failed: left %+v", calls[n], l)
			}
			if calls[n] == "StreamCreate" {
				break
			}
		}
	}
	for _, call := range []string{"DeviceGet", "DevicePrimaryCtxRetain", "CtxSetCurrent", "StreamCreate"} {
		if failed[call] < 20 {
			t.Errorf("%s failed %d times", call, failed[call])
		}
	}
	if n := runtime.NumGoroutine(); n > before+8 { // of 80 tries; other tests' may come and go
		t.Errorf("%d goroutines, %d before", n, before)
	}
	checkScaleAdd(t, open(t, drv), 10)
}

// TestInitcheck checks that the fake driver finds copies of memory that nothing was written to.
func TestInitcheck(t *testing.T) {
	for _, written := range []int64{64, 60, 0} {
		dev := open(t, &fake.Driver{Initcheck: true})
		err := dev.Do(context.Background(), func(s *cuda.Stream) error {
			m, err := s.Alloc(64)
			if err != nil {
				return err
			}
			defer m.Free()
			if written > 0 {
				if err := s.Zero(m.Pointer(), written); err != nil {
					return err
				}
			}
			var to [64]byte
			return cuda.Download(s, to[:], m.Pointer())
		})
		if (err == nil) != (written == 64) {
			t.Errorf("%d of 64 bytes written: %v", written, err)
		}
	}
}

// TestEmulatedKernel runs a kernel that has addresses of the host's memory: within what is
// allocated, and beside it, which loses the device.
func TestEmulatedKernel(t *testing.T) {
	for _, at := range []int{-1, 0, 4095, 4096} {
		drv := new(fake.Driver)
		drv.Emulate("wander", func(_ *fake.Launch, params []unsafe.Pointer) bool {
			*(*byte)(unsafe.Add(*(*unsafe.Pointer)(params[0]), at)) = 7
			return true
		})
		dev := open(t, drv)
		out := make([]byte, 4096)
		err := dev.Do(background, func(s *cuda.Stream) error {
			p, err := s.Alloc(int64(len(out)))
			if err != nil {
				return err
			}
			defer p.Free()
			m, err := s.Load(kernels.PTX("selftest/selftest"))
			if err != nil {
				return err
			}
			f, err := m.Function("wander")
			if err != nil {
				return err
			}
			if err := f.Launch(s, cuda.Dim{X: 1}, cuda.Dim{X: 1}, 0, p.Pointer()); err != nil {
				return err
			}
			return cuda.Download(s, out, p.Pointer())
		})
		within := at >= 0 && at < len(out)
		if lost := errors.Is(err, cuda.ErrLost); lost == within || within && (err != nil || out[at] != 7) {
			t.Errorf("a byte at %d of %d: %v", at, len(out), err)
		}
	}
}

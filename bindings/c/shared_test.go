package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// stranger stands for another library with numbers on a fake GPU.
type stranger struct {
	t   *testing.T
	dev *cuda.Device
	drv *fake.Driver
}

func newStranger(t *testing.T) *stranger {
	devs, drivers := gputest.References(t, 1)
	t.Cleanup(mem.Substitute(devs...))
	return &stranger{t, devs[0], drivers[0]}
}

func (o *stranger) do(f func(s *cuda.Stream) error) {
	o.t.Helper()
	if err := o.dev.Do(o.t.Context(), f); err != nil {
		o.t.Fatal(err)
	}
}

// placed copies numbers to the memory of the GPU and returns their address.
func placed[T cuda.Number](o *stranger, x []T) uint64 {
	o.t.Helper()
	var m *cuda.Memory
	o.do(func(s *cuda.Stream) (err error) {
		if m, err = cuda.NewCopy(s, x); err != nil {
			return err
		}
		return s.Synchronize()
	})
	return uint64(m.Pointer())
}

// fetched returns the numbers at an address.
func (o *stranger) fetched(address uint64, n int) []float64 {
	o.t.Helper()
	x := make([]float64, n)
	o.do(func(s *cuda.Stream) error { return cuda.Download(s, x, cuda.Pointer(address)) })
	return x
}

// counting returns the numbers 1 to n.
func counting[T float32 | float64](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i + 1)
	}
	return x
}

// called runs f as a call of the library does, with the matrices of handles, and returns its
// status.
func called[H ~uint64, S ~int32, T any](get func(k *call, arg string, handle H) *halfulp.Matrix, end func(k *call, status *S, text **T), f func(m []*halfulp.Matrix) error, list ...uint64) S {
	k := &call{name: "test"}
	var status S
	var text *T
	func() {
		defer end(k, &status, &text)
		var m []*halfulp.Matrix
		for _, h := range list {
			m = append(m, get(k, "a", H(h)))
		}
		k.err = f(m)
	}()
	return status
}

// layouts are shapes and strides of numbers in an array of 100, from number 40 on, and whether a
// matrix can use the numbers without a copy.
var layouts = []struct {
	rows, cols, rs, cs int
	together           bool
}{
	{3, 4, 4, 1, true}, {3, 4, 1, 3, true}, {3, 4, 7, 1, true}, {3, 4, 1, 10, true}, {1, 1, 0, 0, true},
	{5, 1, 3, 0, true}, {5, 1, -2, 0, true}, {1, 6, 99, 2, true}, {0, 4, 1, 1, true}, {3, 0, 0, 0, true},
	{3, 4, 8, 2, false}, {3, 4, -4, 1, false}, {3, 4, 0, 1, false}, {3, 4, 1, 0, false}, {5, 1, 0, 0, false}, {3, 4, 2, 9, false}, {3, 4, -1, -6, false},
}

// TestWrapCUDAReference compares matrices in another library's memory, and copies of the numbers
// there, with matrices on the host of the same numbers.
func TestWrapCUDAReference(t *testing.T) {
	o := newStranger(t)
	const at = 40
	double, single := counting[float64](100), counting[float32](100)
	address64, address32 := placed(o, double)+8*at, placed(o, single)+4*at
	before := o.dev.Counters().InUse
	for _, l := range layouts {
		want, err := fromF64(&double[at], l.rows, l.cols, l.rs, l.cs, halfulp.Float64)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, f halfulp.Format, m *halfulp.Matrix, err error) {
			if err != nil {
				t.Fatalf("%s %+v: %v", what, l, err)
			}
			if m.Device() != "cuda:0" || m.NumberFormat() != f {
				t.Errorf("%s %+v: format %v on %s", what, l, m.NumberFormat(), m.Device())
			}
			h, err := onHost(m, halfulp.Float64)
			if err != nil || !h.Same(want) {
				t.Errorf("%s %+v: %v, want %v (%v)", what, l, h, want, err)
			}
			m.Free()
		}
		for f, address := range map[halfulp.Format]uint64{halfulp.Float64: address64, halfulp.Float32: address32} {
			m, err := fromCUDA(f, address, l.rows, l.cols, l.rs, l.cs, "cuda:0")
			check("copy", f, m, err)
			m, err = wrapCUDA(f, address, l.rows, l.cols, l.rs, l.cs, "cuda:0")
			if l.together {
				check("wrapped", f, m, err)
			} else if err == nil || !strings.Contains(err.Error(), "make a copy") {
				t.Errorf("%+v is wrapped: %v", l, err)
			}
		}
	}
	if after := o.dev.Counters().InUse; after != before {
		t.Errorf("%d bytes are in use, %d were", after, before)
	}
	for _, device := range []string{"cpu", "auto", "cuda:0,1", "cuda:1", "cuda:x", ""} {
		if m, err := wrapCUDA(halfulp.Float64, address64, 1, 1, 1, 1, device); err == nil {
			t.Errorf("%q has memory: %v", device, m)
		}
		if _, err := cudaStream(device); err == nil {
			t.Errorf("%q has a stream", device)
		}
	}
	for _, address := range []uint64{0, address64 + 4} {
		func() {
			defer func() {
				if f, ok := recover().(failure); !ok || !strings.Contains(f.text, "argument address") {
					t.Errorf("address %#x: %v", address, f)
				}
			}()
			m, err := wrapCUDA(halfulp.Float64, address, 1, 1, 1, 1, "cuda:0")
			t.Errorf("address %#x is wrapped: %v %v", address, m, err)
		}()
	}
}

// TestCallsWithOthersReference checks calls with another library's memory: they run after its work
// in the default stream, their work is done when they return, and they do not free the memory.
func TestCallsWithOthersReference(t *testing.T) {
	o := newStranger(t)
	const n = 5
	x, y := counting[float64](n*n), counting[float64](n*n)
	slices.Reverse(y)
	a, b, later := placed(o, x), placed(o, make([]float64, n*n)), placed(o, y)
	var list []uint64
	for _, address := range []uint64{a, b} {
		m, err := wrapCUDA(halfulp.Float64, address, n, n, n, 1, "cuda:0")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, newHandle(&object{m, newMemory(m)}))
	}
	o.do(func(*cuda.Stream) error { return o.drv.MemcpyDtoDAsync(cuda.Pointer(b), cuda.Pointer(later), 8*n*n, 0) })
	var product *halfulp.Matrix
	status := called((*call).matrix, (*call).end, func(m []*halfulp.Matrix) (err error) {
		if product, err = matmul(m[0], m[1], halfulp.Float64, nil); err == nil {
			o.drv.ForgetCalls()
		}
		return err
	}, list...)
	if calls := o.drv.Calls(); status != 0 || !slices.Contains(calls, "StreamSynchronize") {
		t.Errorf("status %d, the call ends with %v", status, calls)
	}
	ha, _ := fromF64(&x[0], n, n, n, 1, halfulp.Float64)
	hb, _ := fromF64(&y[0], n, n, n, 1, halfulp.Float64)
	want, err := matmul(ha, hb, halfulp.Float64, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := product.Host(); err != nil || !h.Same(want) {
		t.Errorf("%v, want %v (%v)", h, want, err)
	}
	// The numbers that a call writes are in the other library's memory.
	status = called((*call).matrix, (*call).end, func(m []*halfulp.Matrix) error { return m[0].CopyFrom(product) }, list[0])
	if got, _ := want.Host(); status != 0 || o.fetched(a, 1)[0] != got.Float64(0, 0) {
		t.Errorf("status %d, the first number is %v", status, o.fetched(a, 1)[0])
	}
	product.Free()
	held := o.dev.Counters()
	for _, h := range list {
		if !freeHandle(h) {
			t.Error("a handle is not free")
		}
	}
	if c := o.dev.Counters(); c.InUse != held.InUse || c.Held != held.Held {
		t.Errorf("the pool has got memory of another library: %+v, before %+v", c, held)
	}
}

// TestShareReference checks sharing of a matrix on a GPU with another library: the numbers stay
// until the other library releases them.
func TestShareReference(t *testing.T) {
	o := newStranger(t)
	m, err := newMatrix(halfulp.Float64, 3, 4, "cuda:0")
	if err != nil {
		t.Fatal(err)
	}
	x := counting[float64](12)
	from, _ := fromF64(&x[0], 3, 4, 4, 1, halfulp.Float64)
	if err := m.CopyFrom(from); err != nil {
		t.Fatal(err)
	}
	base := newHandle(&object{m, newMemory(m)})
	part, err := sliceOf(view{m, lookUp(base).memory}, 1, 3, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	part.memory.drop() // of lookUp
	z, address, rs, cs, bits, gpu, err := share(part)
	if err != nil || rs != 1 || cs != 3 || bits != 64 || gpu != 0 {
		t.Fatal(rs, cs, bits, gpu, err)
	}
	theirs := newHandle(&object{z.Matrix, z.memory})
	if got := o.fetched(uint64(address), 8); got[0] != 6 || got[1] != 10 || got[cs] != 7 {
		t.Error(got)
	}
	if !part.memory.shared.Load() {
		t.Error("calls with the matrix do not follow the other library")
	}
	inUse := o.dev.Counters().InUse
	freeHandle(base)
	if c := o.dev.Counters(); c.InUse != inUse {
		t.Errorf("the numbers are gone: %+v", c)
	}
	o.drv.ForgetCalls()
	freeHandle(theirs)
	if c, calls := o.dev.Counters(), o.drv.Calls(); c.InUse >= inUse || !slices.Contains(calls, "CtxSynchronize") {
		t.Errorf("%+v, before %d; %v", c, inUse, calls)
	}
	if n, _ := liveHandles(); n != 0 {
		t.Errorf("%d handles", n)
	}
}

// TestEntriesReference checks the entries of matrices and views as vectors.
func TestEntriesReference(t *testing.T) {
	newStranger(t)
	x := counting[float64](12)
	for _, device := range []string{"cpu", "cuda:0"} {
		m, err := newMatrix(halfulp.Float64, 3, 4, device)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := fromF64(&x[0], 3, 4, 1, 3, halfulp.Float64)
		if err := m.CopyFrom(from); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			m    *halfulp.Matrix
			want []float64
			copy bool
		}{
			{m, x, false}, {m.T(), x, false}, {m.Slice(0, 3, 1, 3), x[3:9], false}, {m.Slice(1, 2, 0, 4), []float64{2, 5, 8, 11}, false},
			{m.Slice(0, 3, 2, 3), x[6:9], false}, {m.Slice(1, 3, 1, 3), []float64{5, 6, 8, 9}, true}, {m.Slice(1, 3, 1, 3).T(), []float64{5, 6, 8, 9}, true},
			{m.Slice(0, 0, 0, 4), nil, false},
		} {
			base := newMemory(m)
			z, err := entriesOf(view{c.m, base})
			if err != nil {
				t.Fatal(err)
			}
			h, err := z.Host()
			if err != nil || h.Rows() != len(c.want) || h.Cols() != 1 {
				t.Fatalf("%s %d: %d x %d, %v", device, i, h.Rows(), h.Cols(), err)
			}
			for k, w := range c.want {
				if h.Float64(k, 0) != w {
					t.Errorf("%s %d: entry %d is %v, want %v", device, i, k, h.Float64(k, 0), w)
				}
			}
			if copied := z.memory != base; base != nil && copied != c.copy {
				t.Errorf("%d: copied: %v", i, copied)
			} else if copied && base != nil {
				z.Free()
			}
		}
		m.Free()
	}
}

// TestShareOnTheHost checks the address of numbers on the host.
func TestShareOnTheHost(t *testing.T) {
	x := counting[float32](12)
	m, err := fromF32(&x[0], 3, 4, 4, 1, halfulp.Float32)
	if err != nil {
		t.Fatal(err)
	}
	z, address, rs, cs, bits, gpu, err := share(view{m.Slice(1, 3, 2, 4), nil})
	if err != nil || address == 0 || rs != 4 || cs != 1 || bits != 32 || gpu != -1 {
		t.Fatal(address, rs, cs, bits, gpu, err)
	}
	freeHandle(newHandle(&object{z.Matrix, z.memory}))
	z, address, _, _, _, _, err = share(view{m.Slice(0, 0, 0, 4), nil})
	if err != nil || address != 0 || z.Rows() != 0 {
		t.Error(address, err)
	}
	defer func() {
		if f, ok := recover().(failure); !ok || !strings.Contains(f.text, "convert it") {
			t.Errorf("dd is shared: %v", f)
		}
	}()
	_, _, _, _, _, _, err = share(view{halfulp.NewMatrix(halfulp.DD, 1, 1), nil})
	t.Errorf("dd is shared: %v", err)
}

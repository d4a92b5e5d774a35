package rns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testseed"
)

// smallBase is a base for fast tests.
func smallBase(t testing.TB) *Base {
	t.Helper()
	b, err := NewBase([]uint32{3, 5, 7, 11, 13, 17, 19, 23, 29})
	must(t, err)
	return b
}

// fakeGPU makes a fake device with the kernels for b cuda:0.
func fakeGPU(t *testing.T, b *Base) *cuda.Device {
	t.Helper()
	dev := backend.Device(newReference(t, b))
	t.Cleanup(mem.Substitute(dev))
	return dev
}

// TestPlaces copies views of all kinds between the host and a device.
func TestPlaces(t *testing.T) {
	b := smallBase(t)
	dev := fakeGPU(t, b)
	r := newRand(t, 61)
	xs := significands(b, r, 20)
	zeros, err := b.NewArrayOn("cuda:0", 5)
	must(t, err)
	wantArray(t, "NewArrayOn", zeros, b.NewArray(5))
	tables := dev.Counters().InUse
	zeros.Free()
	for _, n := range []int{0, 1, 7} {
		all := fill(b.NewArray(4*n+9), r, xs)
		there, err := all.On("cuda:0")
		must(t, err)
		if there.Device() != "cuda:0" || all.Device() != halfulp.CPU || there.Len() != all.Len() || there.Base() != b {
			t.Fatalf("copy of %d numbers at %v", there.Len(), there.Device())
		}
		wantArray(t, "Array.On", there, all)
		for _, inc := range []int{1, 3, -1, -2} {
			x, d := all.Vector(2, n, inc), there.Vector(2, n, inc)
			h, err := d.Host()
			must(t, err)
			if !h.Same(x) {
				t.Errorf("Vector.Host, n = %d, inc = %d", n, inc)
			}
			from := randomVector(b, r, xs, n)
			must(t, x.CopyFrom(from))
			must(t, d.CopyFrom(from))
			wantArray(t, fmt.Sprint("Vector.CopyFrom of the host, inc = ", inc), there, all)
			again, err := from.On("cuda:0")
			must(t, err)
			must(t, d.CopyFrom(again))
			wantArray(t, "Vector.CopyFrom on the device", there, all)
			h = b.NewVector(n)
			must(t, h.CopyFrom(d))
			if !h.Same(from) || again.Device() != "cuda:0" {
				t.Errorf("Vector.CopyFrom to the host, n = %d", n)
			}
			again.Free()
		}
		for _, ld := range []int{max(n, 1), n + 2} {
			if n > 2 {
				ld = max(n/2, ld-n/2)
			}
			m, d := all.Matrix(1, n/2, 3, ld), there.Matrix(1, n/2, 3, ld)
			h, err := d.Host()
			must(t, err)
			if !h.Same(m) {
				t.Errorf("Matrix.Host, %d rows, ld = %d", n/2, ld)
			}
			from := randomMatrix(b, r, xs, n/2, 3)
			must(t, m.CopyFrom(from))
			must(t, d.CopyFrom(from))
			wantArray(t, "Matrix.CopyFrom", there, all)
			again, err := from.On("cuda:0")
			must(t, err)
			if h, err = again.Host(); err != nil || !h.Same(from) || again.Device() != "cuda:0" {
				t.Errorf("Matrix.On, %d rows: %v", n/2, err)
			}
			again.Free()
		}
		if n > 2 { // overlapping views
			must(t, all.Vector(0, n, 1).CopyFrom(all.Vector(2, n, 1)))
			must(t, there.Vector(0, n, 1).CopyFrom(there.Vector(2, n, 1)))
			wantArray(t, "CopyFrom of an overlapping view", there, all)
		}
		there.Free()
		there.Free()
		all.Free() // on the host it does nothing
		_ = all.Vector(0, 1, 1).At(0)
	}
	values := fill(b.NewArray(3), r, xs).Vector(0, 3, 1)
	a, err := NewCSR(2, 4, []int{0, 1, 3}, []int32{3, 0, 2}, values)
	must(t, err)
	d, err := a.On("cuda:0")
	must(t, err)
	h, err := d.Host()
	must(t, err)
	if rows, cols := d.Dims(); rows != 2 || cols != 4 || d.Device() != "cuda:0" || d.Base() != b || !h.values.Same(values) || h.Device() != halfulp.CPU {
		t.Errorf("sparse matrix of %d x %d at %v", rows, cols, d.Device())
	}
	d.Free()
	d.Free()
	if n := dev.Counters().InUse; n >= tables {
		t.Errorf("%d bytes are left in use, %d by tables and an array", n, tables)
	}
}

// TestPlaceErrors checks misuse of places.
func TestPlaceErrors(t *testing.T) {
	b := smallBase(t)
	fakeGPU(t, b)
	x := b.NewVector(3)
	for _, name := range []halfulp.Device{"cuda:", "cuda:x", "cuda:60000", "auto", "", "cuda:0,1", "cuda:all"} {
		if _, err := x.On(name); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("On(%q): %v", name, err)
		}
		if _, err := b.NewMatrixOn(name, 1, 2); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("NewMatrixOn(%q): %v", name, err)
		}
	}
	even, err := NewBase([]uint32{1 << 16, 1<<31 - 1, 3})
	must(t, err)
	if _, err := even.NewArrayOn("cuda:0", 1); !errors.Is(err, ErrModuli) {
		t.Errorf("even modulus: %v", err)
	}
	d, err := x.On("cuda:0")
	must(t, err)
	one := b.NewNumber().SetInt64(1)
	_, err = Dot(x, d, nil)
	if !errors.Is(err, halfulp.ErrMixedDevices) || !strings.Contains(err.Error(), "cpu and cuda:0") {
		t.Errorf("Dot of two places: %v", err)
	}
	if err := Axpy(one, d, x, nil); !errors.Is(err, halfulp.ErrMixedDevices) {
		t.Errorf("Axpy of two places: %v", err)
	}
	// Operands on a device determine where a routine runs.
	var st halfulp.Stats
	o := onCUDA("cuda:9")
	o.Stats = &st
	if err := Scal(one, d, o); err != nil || st.Device != "cuda:0" {
		t.Errorf("Scal on %s: %v", st.Device, err)
	}
	if err := Scal(one, d, onCUDA("gpu")); !errors.Is(err, halfulp.ErrDevice) {
		t.Errorf("Scal with a device that has no name: %v", err)
	}
	m, err := b.NewMatrixOn("cuda:0", 3, 3)
	must(t, err)
	for i, f := range []func(){
		func() { d.At(0) },
		func() { d.Set(0, one) },
		func() { d.Clone() },
		func() { d.Same(x) },
		func() { x.Same(d) },
		func() { d.In(halfulp.Float64) },
		func() { m.At(0, 0) },
		func() { m.Set(1, 1, one) },
		func() { m.In(halfulp.Float64) },
		func() { _ = m.arr.Check() },
	} {
		if got := panicOf(f); got != errHost {
			t.Errorf("host's call %d: %v", i, got)
		}
	}
	m.Free()
	d.Free()
	for i, f := range []func(){
		func() { d.At(0) },
		func() { _, _ = d.Host() },
		func() { _ = d.CopyFrom(x) },
		func() { _ = x.CopyFrom(d) },
		func() { _ = Scal(one, d, nil) },
		func() { _, _ = Reduce1(d.Slice(0, 1), nil) },
		func() { _ = Gemv(halfulp.NoTrans, one, m, d, one, d, nil) },
		func() { _, _ = GemvBound(context.Background(), halfulp.NoTrans, one, m, x, one, x, x) },
		func() { _, _ = NewCSR(1, 1, []int{0, 0}, nil, d.Slice(0, 0)) },
	} {
		if got := panicOf(f); got != errFreed {
			t.Errorf("call %d after Free: %v", i, got)
		}
	}
}

// panicOf returns the value with which f panics.
func panicOf(f func()) (got any) {
	defer func() { got = recover() }()
	f()
	return nil
}

// routine is a call of a routine on numbers of its own, the last vectors or matrices being outputs.
type routine struct {
	name    string
	outputs int
	call    func(c *operands, o *Options) (*Number, error)
}

// operands of routines.
type operands struct {
	alpha, beta *Number
	x, y, w     *Vector
	a, b, c     *Matrix
	s           *Sparse
}

// withoutNumber turns a routine that returns no number into a routine that returns one.
func withoutNumber(err error) (*Number, error) { return nil, err }

// routines are all routines of the package.
var routines = []routine{
	{"Reduce1", 0, func(c *operands, o *Options) (*Number, error) { return Reduce1(c.x, o) }},
	{"Reduce2", 0, func(c *operands, o *Options) (*Number, error) { return Reduce2(c.x, o) }},
	{"Reduce3", 0, func(c *operands, o *Options) (*Number, error) { return Reduce3(c.x, o) }},
	{"Asum", 0, func(c *operands, o *Options) (*Number, error) { return Asum(c.x, o) }},
	{"Dot", 0, func(c *operands, o *Options) (*Number, error) { return Dot(c.x, c.y, o) }},
	{"Nrm 1", 0, func(c *operands, o *Options) (*Number, error) { return Nrm(halfulp.OneNorm, c.x, o) }},
	{"Nrm inf", 0, func(c *operands, o *Options) (*Number, error) { return Nrm(halfulp.InfNorm, c.x, o) }},
	{"GeNorm", 0, func(c *operands, o *Options) (*Number, error) { return GeNorm(halfulp.InfNorm, c.a, o) }},
	{"Scal", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Scal(c.alpha, c.x, o))
	}},
	{"Axpy", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Axpy(c.alpha, c.x, c.y, o))
	}},
	{"Axpy in place", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Axpy(c.alpha, c.x, c.x, o))
	}},
	{"Waxpby", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Waxpby(c.alpha, c.x, c.beta, c.y, c.w, o))
	}},
	{"Rot", 2, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Rot(c.x, c.y, c.alpha, c.beta, o))
	}},
	{"Maxpy", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Maxpy(c.alpha, c.x, c.y, c.w, o))
	}},
	{"AxpyDot", 1, func(c *operands, o *Options) (*Number, error) {
		return AxpyDot(c.alpha, c.w, c.x, c.y, o)
	}},
	{"Nrm2", 0, func(c *operands, o *Options) (*Number, error) { return Nrm2(c.x, o) }},
	{"Add", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Add(c.x, c.y, c.w, o))
	}},
	{"Sub", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Sub(c.x, c.y, c.y, o))
	}},
	{"Mul", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Mul(c.a, c.b, c.c, o))
	}},
	{"Div", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Div(c.a, c.b, c.a, o))
	}},
	{"Sqrt", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Sqrt(c.x, c.w, o))
	}},
	{"FMA", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(FMA(c.x, c.y, c.w, c.w, o))
	}},
	{"Symv", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Symv(halfulp.Lower, c.alpha, c.a, c.x, c.beta, c.y, o))
	}},
	{"Syr", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Syr(halfulp.Upper, c.alpha, c.x, c.a, o))
	}},
	{"Syr2", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Syr2(halfulp.Lower, c.alpha, c.x, c.y, c.a, o))
	}},
	{"Syrk", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Syrk(halfulp.Upper, halfulp.Trans, c.alpha, c.a, c.beta, c.c, o))
	}},
	{"Gemv", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Gemv(halfulp.NoTrans, c.alpha, c.a, c.x, c.beta, c.y, o))
	}},
	{"GemvBasic", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(GemvBasic(halfulp.Trans, c.alpha, c.a, c.x, c.beta, c.y, o))
	}},
	{"Ger", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Ger(c.alpha, c.x, c.y, c.a, o))
	}},
	{"GeAdd", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(GeAdd(c.alpha, c.a, c.beta, c.b, c.c, o))
	}},
	{"GeAcc", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(GeAcc(c.alpha, c.a, c.beta, c.b, o))
	}},
	{"GeDiagScale", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(GeDiagScale(halfulp.Right, c.x, c.a, o))
	}},
	{"GeLRScale", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(GeLRScale(c.x, c.y, c.a, o))
	}},
	{"Gemm", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(Gemm(halfulp.NoTrans, halfulp.Trans, c.alpha, c.a, c.b, c.beta, c.c, o))
	}},
	{"SpMV", 1, func(c *operands, o *Options) (*Number, error) {
		return withoutNumber(SpMV(c.s, c.x, c.y, o))
	}},
}

// newOperands returns operands of n numbers, always the same ones; matrices are small.
func newOperands(t *testing.T, b *Base, n int) *operands {
	t.Helper()
	r := testseed.Rand(t, 62, uint64(n))
	xs := significands(b, r, 20)
	vector := func() *Vector { return randomVector(b, r, xs, n) }
	matrix := func() *Matrix { return randomMatrix(b, r, xs, min(n, 50), min(n, 50)) }
	c := &operands{randomNumber(b, r, xs), randomNumber(b, r, xs), vector(), vector(), vector(), matrix(), matrix(), matrix(), nil}
	pointers, columns := make([]int, n+1), make([]int32, n*min(n, 3))
	for i := range n {
		pointers[i+1] = pointers[i] + min(n, 3)
	}
	for k := range columns {
		columns[k] = int32(r.IntN(n))
	}
	var err error
	c.s, err = NewCSR(n, n, pointers, columns, randomVector(b, r, xs, len(columns)))
	must(t, err)
	return c
}

// arrays are the arrays of all operands.
func (c *operands) arrays() []*Array {
	return []*Array{c.x.arr, c.y.arr, c.w.arr, c.a.arr, c.b.arr, c.c.arr, c.s.values.arr}
}

// TestDeviceOption runs all routines with operands of the host on the device of the options.
func TestDeviceOption(t *testing.T) {
	b := smallBase(t)
	dev := fakeGPU(t, b)
	empty, err := b.NewArrayOn("cuda:0", 0)
	must(t, err)
	empty.Free()
	tables := dev.Counters().InUse
	for _, f := range routines {
		for _, device := range []halfulp.Device{"cuda:0", "cuda:all", "auto", "cpu"} {
			want, got := newOperands(t, b, 6), newOperands(t, b, 6)
			var st halfulp.Stats
			z, err := f.call(want, &Options{Options: halfulp.Options{Stats: &st}})
			must(t, err)
			if st.Device != "cpu" || st.Moduli != b.Len() || st.Method != "rns" || st.Threads < 1 || len(st.Stages) != 1 || st.Stages[0].Time <= 0 {
				t.Errorf("%s: statistics %+v", f.name, st)
			}
			last := -1.0
			u, err := f.call(got, &Options{Options: halfulp.Options{Device: device, Progress: func(done float64) {
				if done < last || done > 1 {
					t.Errorf("%s: progress %v after %v", f.name, done, last)
				}
				last = done
			}, Stats: &st}})
			must(t, err)
			if where := map[bool]string{true: "cuda:0", false: "cpu"}[strings.HasPrefix(string(device), "cuda") && f.name != "Nrm inf"]; st.Device != where {
				t.Errorf("%s with device %s ran on %s", f.name, device, st.Device)
			}
			if last != 1 {
				t.Errorf("%s: the last progress is %v", f.name, last)
			}
			if z != nil {
				wantSame(t, f.name, u, z)
			}
			for i, a := range got.arrays() {
				wantArray(t, fmt.Sprintf("%s on %s, array %d", f.name, device, i), a, want.arrays()[i])
			}
		}
	}
	if n := dev.Counters().InUse; n != tables {
		t.Errorf("%d bytes are left in use, %d by tables", n, tables)
	}
}

// TestOptions: options that are invalid for every routine.
func TestOptions(t *testing.T) {
	b := smallBase(t)
	fakeGPU(t, b)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		o    *Options
		want error
	}{
		{nil, nil},
		{&Options{}, nil},
		{&Options{Options: halfulp.Options{Threads: -3, Device: "cuda:0", Method: "auto"}, Blocks: MaxBlocks, BlockSize: MaxBlockSize, Variant: OverAll}, nil},
		{&Options{Blocks: -1}, halfulp.ErrOptions},
		{&Options{Blocks: MaxBlocks + 1}, halfulp.ErrOptions},
		{&Options{BlockSize: -1}, halfulp.ErrOptions},
		{&Options{BlockSize: MaxBlockSize + 1}, halfulp.ErrOptions},
		{&Options{Variant: Published + 1}, halfulp.ErrOptions},
		{&Options{Variant: -1}, halfulp.ErrOptions},
		{&Options{Options: halfulp.Options{Method: "direct"}}, halfulp.ErrMethod},
		{&Options{Options: halfulp.Options{Device: "gpu"}}, halfulp.ErrDevice},
		{&Options{Options: halfulp.Options{Device: "cuda:9"}}, halfulp.ErrDevice},
		{&Options{Options: halfulp.Options{Device: "cuda:0,9"}}, halfulp.ErrDevice},
		{&Options{Options: halfulp.Options{Context: cancelled}}, context.Canceled},
	} {
		if err := c.o.Validate(); !errors.Is(err, c.want) {
			t.Errorf("Validate of %+v: %v", c.o, err)
		}
		if err := Scal(b.NewNumber(), b.NewVector(2), c.o); !errors.Is(err, c.want) {
			t.Errorf("Scal with %+v: %v", c.o, err)
		}
	}
}

// TestCancel cancels all routines at the first sign of progress, and within blocks and rows.
func TestCancel(t *testing.T) {
	b := smallBase(t)
	for _, f := range routines {
		n := 700
		if strings.HasPrefix(f.name, "Ge") || strings.HasPrefix(f.name, "Sy") {
			n = 50 // there are matrices
		}
		c := newOperands(t, b, n)
		for _, threads := range []int{1, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			o := withThreads(threads)
			o.Context, o.Blocks, o.BlockSize = ctx, 64, 1
			o.Progress = func(done float64) {
				calls++
				cancel()
				if done == 1 {
					t.Errorf("%s: done", f.name)
				}
			}
			if _, err := f.call(c, &o); !errors.Is(err, context.Canceled) || calls < 1 || calls > threads {
				t.Errorf("%s: error %v after %d calls", f.name, err, calls)
			}
		}
	}
	// A loop that only its context ends.
	ctx := &countdown{Context: t.Context(), left: 3}
	o := Options{Options: halfulp.Options{Threads: 1, Context: ctx}, Blocks: 1, BlockSize: 1}
	x := b.NewVector(100 * interval)
	one := b.NewNumber().SetInt64(1)
	for name, f := range map[string]func() error{
		"Reduce1": func() error { _, err := Reduce1(x, &o); return err },
		"Reduce2": func() error { _, err := Reduce2(x, &o); return err },
		"Reduce3": func() error { _, err := Reduce3(x, &o); return err },
		"Nrm":     func() error { _, err := Nrm(halfulp.InfNorm, x, &o); return err },
		"Gemv": func() error {
			err := Gemv(halfulp.NoTrans, one, b.NewMatrix(1, x.n), x, one, b.NewVector(1), &o)
			return err
		},
		"GemvBasic": func() error {
			err := GemvBasic(halfulp.Trans, one, b.NewMatrix(x.n, 1), x, one, b.NewVector(1), &o)
			return err
		},
		"Gemm": func() error {
			m := x.arr.Matrix(0, 1, x.n, 1)
			err := Gemm(halfulp.NoTrans, halfulp.Trans, one, m, m, one, b.NewMatrix(1, 1), &o)
			return err
		},
	} {
		ctx.left, ctx.asked = 5, 0
		if name == "Gemv" {
			ctx.left = 5 + x.n/grain // the loop over α x
		}
		left := ctx.left
		if err := f(); !errors.Is(err, context.Canceled) || ctx.asked > left+5 {
			t.Errorf("%s: error %v after %d questions of %d", name, err, ctx.asked, left)
		}
	}
}

// countdown is a context that is cancelled after so many calls of Err.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	if c.asked++; c.asked > c.left {
		return context.Canceled
	}
	return nil
}

// TestCancelDevice cancels a routine between launches.
func TestCancelDevice(t *testing.T) {
	b := smallBase(t)
	drv := fakeDriver(t, b)
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	defer mem.Substitute(dev)()
	m, err := b.NewMatrixOn("cuda:0", 4, 4)
	must(t, err)
	used := dev.Counters().InUse
	one := b.NewNumber().SetInt64(1)
	after := map[int]bool{} // launches before the end
	for left := 0; ; left++ {
		drv.ForgetCalls()
		ctx := &countdown{Context: t.Context(), left: left}
		err = Gemv(halfulp.NoTrans, one, m, m.Row(0), one, m.Col(1), &Options{Options: halfulp.Options{Context: ctx}})
		launches := 0
		for _, call := range drv.Calls() {
			if call == "LaunchKernel" {
				launches++
			}
		}
		if n := dev.Counters().InUse; n != used {
			t.Errorf("%d bytes in use, %d before", n, used)
		}
		if err == nil {
			if launches != 4 {
				t.Errorf("%d launches", launches)
			}
			break
		}
		if after[launches] = true; !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v after %d launches", err, launches)
		}
	}
	if len(after) != 5 {
		t.Errorf("the ends come after %v launches", after)
	}
}

// TestMemoryLimit: routines that need too much memory fail, on the CPU and on a device.
func TestMemoryLimit(t *testing.T) {
	b := smallBase(t)
	fakeGPU(t, b)
	both := []string{"Reduce3", "Asum", "Dot", "Nrm 1", "Nrm2", "AxpyDot", "GeNorm", "Gemv", "Symv", "Ger"}
	for device, limited := range map[halfulp.Device][]string{
		"cpu":    both,
		"cuda:0": append([]string{"Reduce1", "Reduce2", "Rot", "GemvBasic", "Gemm", "Syrk"}, both...),
	} {
		for _, f := range routines {
			o := &Options{Options: halfulp.Options{Device: device, MemoryLimit: 1}}
			_, err := f.call(newOperands(t, b, 20), o)
			if slices.Contains(limited, f.name) != errors.Is(err, halfulp.ErrMemory) || err != nil && !errors.Is(err, halfulp.ErrMemory) {
				t.Errorf("%s on %s: %v", f.name, device, err)
			}
			o.MemoryLimit = 1 << 20
			if _, err := f.call(newOperands(t, b, 20), o); err != nil {
				t.Errorf("%s on %s: %v", f.name, device, err)
			}
		}
	}
}

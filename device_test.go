package halfulp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func init() { backend.Register() }

// needGPU skips a test on a machine without a GPU, or fails it if the environment requires a GPU.
func needGPU(t *testing.T) {
	t.Helper()
	if gpus, err := cuda.Devices(); len(gpus) == 0 {
		if os.Getenv("HALFULP_WANT_GPU") != "" {
			t.Fatalf("no GPU: %v", err)
		}
		t.Skipf("no GPU: %v", err)
	}
}

// fakeGPUs replaces the machine's GPUs with n fake ones. They have memory but no kernels;
// internal/gpu tests the routines on fake GPUs with kernels.
func fakeGPUs(t *testing.T, n int) []*cuda.Device {
	devs := make([]*cuda.Device, n)
	for i := range devs {
		var err error
		if devs[i], err = cuda.OpenDriver(&fake.Driver{Devices: n}, i); err != nil {
			t.Fatal(err)
		}
	}
	restore := mem.Substitute(devs...)
	t.Cleanup(func() {
		restore()
		for _, d := range devs {
			if n := d.Counters().InUse; n != 0 {
				t.Errorf("%d bytes of %v are left in use", n, d)
			}
		}
	})
	return devs
}

// noGPU is a device that no machine has.
const noGPU Device = "cuda:999"

// onCPU keeps auto from choosing a GPU.
var onCPU = &Options{Device: "cpu"}

// must returns x and panics for an error.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// ok stops a test at an error.
func ok(err error) {
	if err != nil {
		panic(err)
	}
}

// panics returns what f panics with.
func panics(f func()) (text any) {
	defer func() { text = recover() }()
	f()
	return nil
}

// skipWithGPU skips a test on a machine with a GPU.
func skipWithGPU(t *testing.T) {
	t.Helper()
	if gpus, _ := cuda.Devices(); len(gpus) > 0 {
		t.Skip("there is a GPU")
	}
}

func TestNoDevice(t *testing.T) {
	m := Identity(Float64, 3)
	names := []Device{"", "auto", "cuda:", "cuda:-1", "cuda:x", "cuda:99", "cuda:98,99", "abacus", "abacus:0"}
	if gpus, _ := cuda.Devices(); len(gpus) == 0 {
		names = append(names, "cuda:all")
	}
	for _, name := range names {
		if d, err := m.On(name); !errors.Is(err, ErrDevice) || d != nil {
			t.Errorf("On(%q) = %v, %v", name, d, err)
		}
		if _, err := m.On(name); !slices.Contains([]Device{"cuda:99", "cuda:98,99", "cuda:all"}, name) && !strings.HasSuffix(err.Error(), "(want cpu, cuda:N, or cuda:N,M or cuda:N-M of several GPUs)") {
			t.Errorf("On(%q): %v", name, err)
		}
		if d, err := m.Col(0).On(name); !errors.Is(err, ErrDevice) || d != nil {
			t.Errorf("Vector.On(%q) = %v, %v", name, d, err)
		}
	}
}

// TestValidate checks options and names of devices without a routine.
func TestValidate(t *testing.T) {
	fakeGPUs(t, 2)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		opt  *Options
		want error
	}{
		{nil, nil}, {&Options{}, nil}, {&Options{Device: "cpu", Method: "residue", Context: context.Background()}, nil},
		{&Options{Device: "cuda:0"}, nil}, {&Options{Device: "cuda:all"}, nil}, {&Options{Device: "cuda:0-1"}, nil},
		{&Options{Device: "cuda:2"}, ErrDevice}, {&Options{Device: "cuda:1-2"}, ErrDevice}, {&Options{Device: "gpu"}, ErrDevice},
		{&Options{Device: "cuda:1,1"}, ErrDevice}, {&Options{Method: "abacus"}, ErrMethod}, {&Options{Context: cancelled}, context.Canceled},
	} {
		if err := c.opt.Validate(); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.opt, err, c.want)
		}
		if c.opt != nil && c.want != context.Canceled && c.opt.Method == "" {
			if err := c.opt.Device.Validate(); !errors.Is(err, c.want) {
				t.Errorf("device %q: %v, want %v", c.opt.Device, err, c.want)
			}
		}
	}
}

// TestNotLinked checks the errors of a program that imports neither package cuda nor distributed.
func TestNotLinked(t *testing.T) {
	defer place.Register(place.CUDA, nil)()
	_, err := Identity(Float64, 2).On("cuda:0")
	const want = `device "cuda:0": no such device: this program is built without GPUs (a Go program has them with import _ "github.com/halfulp/halfulp/cuda")`
	if err == nil || err.Error() != want || !errors.Is(err, ErrDevice) {
		t.Errorf("error %v", err)
	}
	if _, err := GPUs(); !errors.Is(err, ErrDevice) {
		t.Errorf("error %v", err)
	}
	if _, err := Identity(Float64, 2).On("mpi:2x2"); !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), "halfulp/distributed)") {
		t.Errorf("error %v", err)
	}
	a := Identity(Float64, 2)
	if err := Gemm(NoTrans, NoTrans, Float(1), Prepare(a), a, Float(0), a, nil); err != nil {
		t.Error(err)
	}
}

// TestDeviceMatrix checks transfers, views, and a product too long for the GPU, which the
// host computes.
func TestDeviceMatrix(t *testing.T) {
	fakeGPUs(t, 1)
	for _, f := range []Format{Float32, DD, MP(100)} {
		const k = 1<<16 + 3
		a, b, c := randomMatrix(f, 3, k, 2, 1), randomMatrix(f, 2, k, 2, 2), randomMatrix(f, 3, 2, 2, 3)
		x, y, z := must(a.On("cuda:0")), must(b.T().On("cuda:0")), must(c.On("cuda:0"))
		for _, v := range []struct {
			got  *Matrix
			want *Matrix
		}{{x, a}, {x.T(), a.T()}, {x.Slice(1, 3, 5, 9), a.Slice(1, 3, 5, 9)}, {x.T().Slice(5, 9, 1, 3), a.T().Slice(5, 9, 1, 3)}, {y, b.T()}, {z, c}} {
			if m := must(v.got.Host()); !m.Same(v.want) {
				t.Errorf("%v: a view changes on its way", f)
			}
		}
		ok(Gemm(NoTrans, Trans, Float(3), a, b, Float(-1), c, onCPU))
		var st Stats
		ok(Gemm(Trans, NoTrans, Float(3), x.T(), y, Float(-1), z, &Options{Stats: &st}))
		if !must(z.Host()).Same(c) || st.Device != "cpu" {
			t.Errorf("%v on %s: wrong product", f, st.Device)
		}
		for _, d := range []*Matrix{x, y, z} {
			d.Free()
		}
	}
}

// TestDeviceViews writes to views of matrices and vectors on a device and reads other views, and
// compares with the host.
func TestDeviceViews(t *testing.T) {
	fakeGPUs(t, 1)
	for _, f := range []Format{Float64, QD, MP(70)} {
		h := randomMatrix(f, 6, 5, 3, 1)
		d := must(h.On("cuda:0"))
		defer d.Free()
		if r, c := d.Dims(); r != 6 || c != 5 || d.Rows() != 6 || d.Cols() != 5 || d.NumberFormat() != f || d.Device() != "cuda:0" {
			t.Fatalf("%d x %d, %v on %s", r, c, d.NumberFormat(), d.Device())
		}
		// view is the same view of a matrix of the host and of the device.
		type view struct {
			h *Vector
			d *Vector
		}
		views := func() []view {
			return []view{
				{h.Row(2), d.Row(2)}, {h.Col(4), d.Col(4)}, {h.Vec(), d.Vec()}, {h.Vec().Slice(3, 20), d.Vec().Slice(3, 20)},
				{h.T().Row(1), d.T().Row(1)}, {h.Row(5).Stride(2), d.Row(5).Stride(2)}, {h.Vec().Stride(-4), d.Vec().Stride(-4)},
				{h.Col(1).Stride(-1).Slice(1, 4), d.Col(1).Stride(-1).Slice(1, 4)}, {h.Slice(0, 6, 1, 3).Vec(), d.Slice(0, 6, 1, 3).Vec()},
				{h.Slice(3, 4, 1, 5).Vec(), d.Slice(3, 4, 1, 5).Vec()}, {h.Slice(2, 2, 0, 5).Vec(), d.Slice(2, 2, 0, 5).Vec()},
				{h.Slice(1, 4, 2, 3).Vec(), d.Slice(1, 4, 2, 3).Vec()},
			}
		}
		for i := range views() {
			v := views()[i]
			fresh := randomMatrix(f, v.h.Len(), 1, 5, uint64(i)).Col(0)
			for k := range v.h.Len() {
				v.h.Set(k, fresh.At(k))
			}
			if err := v.d.CopyFrom(fresh); err != nil {
				t.Fatal(err)
			}
			if !must(d.Host()).Same(h) {
				t.Fatalf("%v: view %d sets other entries", f, i)
			}
			for j, w := range views() {
				if v := must(w.d.Host()); !v.Same(w.h) || w.d.Len() != w.h.Len() || w.d.NumberFormat() != f || w.d.Device() != "cuda:0" {
					t.Fatalf("%v: view %d is another one on the GPU", f, j)
				}
			}
		}
		part := randomMatrix(f, 2, 3, 4, 9)
		for j := range 3 {
			for i := range 2 {
				h.Set(1+i, 2+j, part.At(i, j))
			}
		}
		if err := d.Slice(1, 3, 2, 5).CopyFrom(part); err != nil {
			t.Fatal(err)
		}
		if !must(d.Host()).Same(h) {
			t.Errorf("%v: a slice sets other entries", f)
		}
		if err := d.Slice(6, 6, 0, 5).CopyFrom(h.Slice(6, 6, 0, 5)); err != nil {
			t.Error(err)
		}
		x := must(h.Row(3).On("cuda:0"))
		if !must(x.Host()).Same(h.Row(3)) {
			t.Errorf("%v: a vector changes on its way", f)
		}
		x.Free()
	}
}

// TestDeviceMisuse checks the panics.
func TestDeviceMisuse(t *testing.T) {
	fakeGPUs(t, 2)
	a, b := must(NewMatrixOn("cuda:0", Float64, 4, 4)), must(NewMatrixOn("cuda:1", Float64, 4, 4))
	x, y := must(NewVectorOn("cuda:0", Float64, 4)), must(NewVectorOn("cuda:1", Float64, 4))
	c := must(NewMatrixOn("cuda:0", Float64, 4, 4))
	freed, gone := must(NewMatrixOn("cuda:0", Float64, 4, 4)), must(NewVectorOn("cuda:0", Float64, 4))
	view := freed.T()
	freed.Free()
	freed.Free()
	view.Free()
	gone.Free()
	gone.Free()
	defer func() {
		for _, m := range []*Matrix{a, b, c} {
			m.Free()
		}
		x.Free()
		y.Free()
	}()
	one, zero := Float(1), Float(0)
	gemm := func(a, b, c *Matrix) { ok(Gemm(NoTrans, NoTrans, one, a, b, zero, c, nil)) }
	gemv := func(a *Matrix, x, y *Vector) { ok(Gemv(NoTrans, one, a, x, zero, y, nil)) }
	for i, v := range []struct {
		f    func()
		want string
	}{
		{func() { must(NewMatrixOn("cuda:0", Float64, -1, 2)) }, errNegativeDim},
		{func() { must(NewVectorOn("cuda:0", Float64, -1)) }, errNegativeDim},
		{func() { a.Slice(0, 5, 0, 1) }, errIndex},
		{func() { a.Row(4) }, errIndex},
		{func() { a.Col(-1) }, errIndex},
		{func() { x.Slice(3, 2) }, errIndex},
		{func() { x.Stride(0) }, errInc},
		{func() { a.Slice(0, 3, 0, 2).Vec() }, errGaps},
		{func() { a.T().Vec() }, errGaps},
		{func() { _ = a.CopyFrom(NewMatrix(Float64, 4, 3)) }, errShape},
		{func() { _ = a.CopyFrom(NewMatrix(Float32, 4, 4)) }, errFormat},
		{func() { _ = x.CopyFrom(NewVector(Float64, 3)) }, errShape},
		{func() { _ = x.CopyFrom(NewVector(DD, 4)) }, errFormat},
		{func() { a.At(0, 0) }, errHost},
		{func() { a.Set(0, 0, one) }, errHost},
		{func() { a.Float64(1, 1) }, errHost},
		{func() { a.Convert(DD) }, errHost},
		{func() { a.Clone() }, errHost},
		{func() { a.Same(a) }, errHost},
		{func() { NewMatrix(Float64, 4, 4).Same(a) }, errHost},
		{func() { _ = a.Text(0) }, errHost},
		{func() { a.Gonum() }, errHost},
		{func() { x.At(0) }, errHost},
		{func() { x.Convert(DD) }, errHost},
		{func() { x.Same(x) }, errHost},
		{func() { gemm(a.Slice(0, 3, 0, 4), a, c) }, errShape},
		{func() { gemv(a, x.Slice(0, 3), x) }, errShape},
		{func() { ok(Syrk(Lower, Trans, one, a.Slice(0, 3, 0, 3), zero, c, nil)) }, errShape},
		{func() { ok(Syrk('x', Trans, one, a, zero, c, nil)) }, errUplo},
		{func() { ok(Gemv('x', one, a, x, zero, x, nil)) }, errTranspose},
		{func() { ok(GemmTo(NoTrans, NoTrans, one, a, a, one, nil, c, nil)) }, errNoC},
		{func() { ok(GemvTo(NoTrans, one, a, x, one, nil, x, nil)) }, errNoC},
		{func() { _, _ = Dot(x, x.Slice(0, 2), Float64, nil) }, errShape},
		{func() { gemm(a, a, freed) }, errFreed},
		{func() { gemm(a, view, c) }, errFreed},
		{func() { ok(Syrk(Lower, Trans, one, view, zero, c, nil)) }, errFreed},
		{func() { gemv(a, view.Col(0), x) }, errFreed},
		{func() { _, _ = Sum(gone, Float64, nil) }, errFreed},
		{func() { _, _ = Nrm2(freed.Row(1), Float64, nil) }, errFreed},
		// before all errors
		{func() { _, _ = Sum(gone, Float64, &Options{Device: "abacus"}) }, errFreed},
		{func() { _ = Gemm(NoTrans, NoTrans, one, a, freed, zero, c, &Options{Method: "abacus"}) }, errFreed},
		{func() { _ = Gemm(NoTrans, NoTrans, one, a, b, zero, freed, nil) }, errFreed},
		{func() { must(freed.Host()) }, errFreed},
		{func() { must(gone.Host()) }, errFreed},
		{func() { _ = view.CopyFrom(NewMatrix(Float64, 4, 4)) }, errFreed},
		{func() { _ = gone.CopyFrom(NewVector(Float64, 4)) }, errFreed},
	} {
		if got := panics(v.f); got != v.want {
			t.Errorf("case %d: got %v, want %s", i, got, v.want)
		}
	}
	for _, v := range []any{a, *a, x, *x, freed, gone} {
		got := fmt.Sprintf("%.3g", v)
		if want := "[matrix of shape 4 x 4, format f64, on cuda:0]"; got != want && got != "[vector of length 4, format f64, on cuda:0]" {
			t.Errorf("a device's %T is printed as %s", v, got)
		}
	}
	h := NewMatrix(Float64, 4, 4)
	for i, f := range []func() error{
		func() error { return Gemm(NoTrans, NoTrans, one, a, b, zero, c, nil) },
		func() error { return Gemm(NoTrans, NoTrans, one, a, a, zero, b, nil) },
		func() error { return Gemm(NoTrans, NoTrans, one, a, h, zero, c, nil) },
		func() error { return Gemm(NoTrans, NoTrans, one, h, h, zero, c, nil) },
		func() error { return GemmTo(NoTrans, NoTrans, one, a, a, one, h, c, nil) },
		func() error { return Gemv(NoTrans, one, a, y, zero, x, nil) },
		func() error { _, err := Dot(x, y, Float64, nil); return err },
		func() error { return Syrk(Upper, NoTrans, one, a, zero, b, nil) },
		func() error { return Axpy(one, h.Col(0), x, nil) },
		func() error { return Copy(h.Col(0), x, nil) },
		func() error { return Trsm(Left, Upper, NoTrans, NonUnit, one, a, h, nil) },
		func() error { return Symv(Upper, one, h, x, zero, x, nil) },
		func() error { return Symm(Left, Upper, one, a, a, zero, h, nil) },
		func() error { return Syr2k(Upper, NoTrans, one, a, h, zero, a, nil) },
	} {
		if err := f(); !errors.Is(err, ErrMixedDevices) {
			t.Errorf("mixed places, case %d: error %v", i, err)
		}
	}
	if err := Gemm(NoTrans, NoTrans, one, a, h, zero, c, nil); err.Error() != "gemm: operands live on different devices, cuda:0 and cpu: On and Host copy them from one to another" {
		t.Error(err)
	}
	if data, _, ok := a.RawFloat64(); ok || data != nil {
		t.Error("a device's matrix has storage on the host")
	}
	if err := Gemm(NoTrans, NoTrans, one, a, a, zero, c, &Options{Method: "direct"}); !errors.Is(err, ErrMethod) {
		t.Error(err)
	}
	if _, err := Sum(x, Float64, &Options{Method: "residue"}); !errors.Is(err, ErrMethod) {
		t.Error(err)
	}
}

// TestDeviceMemory checks the errors of matrices and vectors that do not fit.
func TestDeviceMemory(t *testing.T) {
	fakeGPUs(t, 1)
	if m, err := NewMatrixOn("cuda:0", MP(1000), 1<<13, 1<<13); !errors.Is(err, ErrMemory) || m != nil {
		t.Error(m, err)
	}
	if m, err := NewMatrixOn("cuda:0", Float64, math.MaxInt/2, 4); !errors.Is(err, ErrMemory) || m != nil {
		t.Error(m, err)
	}
	if x, err := NewVectorOn("cuda:0", Float64, math.MaxInt/2); !errors.Is(err, ErrMemory) || x != nil {
		t.Error(x, err)
	}
	if x, err := NewVectorOn("cuda:0", QD, 1<<28); !errors.Is(err, ErrMemory) || x != nil {
		t.Error(x, err)
	}
}

// TestBorrowed reads and writes numbers in GPU memory that another library owns and keeps.
func TestBorrowed(t *testing.T) {
	dev := fakeGPUs(t, 1)[0]
	var theirs *cuda.Memory
	do := func(f func(s *cuda.Stream) error) {
		t.Helper()
		if err := dev.Do(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	do(func(s *cuda.Stream) (err error) {
		if theirs, err = cuda.NewCopy(s, []float64{1, 2, 3}); err != nil {
			return err
		}
		return s.Synchronize()
	})
	name, err := place.ParseName("cuda:0")
	if err != nil {
		t.Fatal(err)
	}
	at, err := name.Open()
	if err != nil {
		t.Fatal(err)
	}
	a, err := backend.Borrow(t.Context(), at, num.Float64, theirs.Pointer(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if own, err := at.New(t.Context(), num.Float64, 3, 1); err != nil || backend.Borrowed(own) || !backend.Borrowed(a) {
		t.Errorf("borrowed: %v, of its own: %v, %v", backend.Borrowed(a), backend.Borrowed(own), err)
	} else {
		own.Away.Free()
	}
	here := num.Mat{Arr: num.New(num.Float64, 3), RS: 1, CS: 3, Rows: 3, Cols: 1}
	copy(here.Arr.F64[0], []float64{4, 5, 6})
	borrowed := num.Mat{Arr: a, RS: 1, CS: 3, Rows: 3, Cols: 1}
	if err := at.Set(t.Context(), borrowed, here); err != nil {
		t.Fatal(err)
	}
	got, err := at.Get(t.Context(), borrowed)
	if err != nil || !slices.Equal(got.Arr.F64[0], here.Arr.F64[0]) {
		t.Errorf("%v, %v", got.Arr.F64, err)
	}
	a.Away.Free()
	do(func(s *cuda.Stream) error {
		x := make([]float64, 3)
		if err := cuda.Download(s, x, theirs.Pointer()); err != nil || !slices.Equal(x, here.Arr.F64[0]) {
			t.Errorf("%v, %v", x, err)
		}
		theirs.Free()
		return nil
	})
}

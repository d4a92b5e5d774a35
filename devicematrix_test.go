package halfulp

import (
	"errors"
	"math"
	"os"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu"
)

// needGPU skips a test on a machine without a GPU, or fails it where one is wanted.
func needGPU(t *testing.T) {
	t.Helper()
	if gpus, err := cuda.Devices(); len(gpus) == 0 {
		if os.Getenv("HALFULP_WANT_GPU") != "" {
			t.Fatalf("no GPU: %v", err)
		}
		t.Skipf("no GPU: %v", err)
	}
}

// fakeGPUs puts n fake GPUs in the place of the machine's. They have memory but no kernels;
// internal/gpu tests the routines on some that have.
func fakeGPUs(t *testing.T, n int) []*cuda.Device {
	devs := make([]*cuda.Device, n)
	for i := range devs {
		var err error
		if devs[i], err = cuda.OpenDriver(&fake.Driver{Devices: n}, i); err != nil {
			t.Fatal(err)
		}
	}
	restore := gpu.Substitute(devs...)
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

// onCPU keeps auto from choosing a GPU.
var onCPU = &Options{Device: "cpu"}

// must returns a value that came without an error.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
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
	for _, name := range []string{"", "auto", "cpu", "cuda:", "cuda:-1", "cuda:x", "cuda:99", "abacus"} {
		if d, err := m.To(name); !errors.Is(err, ErrDevice) || d != nil {
			t.Errorf("To(%q) = %v, %v", name, d, err)
		}
		if d, err := m.Col(0).To(name); !errors.Is(err, ErrDevice) || d != nil {
			t.Errorf("Vector.To(%q) = %v, %v", name, d, err)
		}
	}
}

// TestDeviceMatrix checks transfers, views, and a product too long for the GPU, which the
// host computes.
func TestDeviceMatrix(t *testing.T) {
	fakeGPUs(t, 1)
	for _, f := range []Format{Float32, DD, MP(100)} {
		const k = 1<<16 + 3
		a, b, c := Random(f, 3, k, 2, 1), Random(f, 2, k, 2, 2), Random(f, 3, 2, 2, 3)
		x, y, z := must(a.To("cuda:0")), must(b.T().To("cuda:0")), must(c.To("cuda:0"))
		for _, v := range []struct {
			got  *DeviceMatrix
			want *Matrix
		}{{x, a}, {x.T(), a.T()}, {x.Slice(1, 3, 5, 9), a.Slice(1, 3, 5, 9)}, {x.T().Slice(5, 9, 1, 3), a.T().Slice(5, 9, 1, 3)}, {y, b.T()}, {z, c}} {
			if m := must(v.got.Matrix()); !m.Same(v.want) {
				t.Errorf("%v: a view changes on its way", f)
			}
		}
		must(Gemm(NoTrans, Trans, Float(3), a, b, Float(-1), c, onCPU))
		st := must(DeviceGemm(Trans, NoTrans, Float(3), x.T(), y, Float(-1), z, nil))
		if !must(z.Matrix()).Same(c) || st.Device != "cpu" {
			t.Errorf("%v on %s: wrong product", f, st.Device)
		}
		for _, d := range []*DeviceMatrix{x, y, z} {
			d.Free()
		}
	}
}

// TestDeviceViews sets views of matrices and vectors and reads others, as the host's do.
func TestDeviceViews(t *testing.T) {
	fakeGPUs(t, 1)
	for _, f := range []Format{Float64, QD, MP(70)} {
		h := Random(f, 6, 5, 3, 1)
		d := must(h.To("cuda:0"))
		defer d.Free()
		if r, c := d.Dims(); r != 6 || c != 5 || d.Rows() != 6 || d.Cols() != 5 || d.Format() != f || d.Device() != "cuda:0" {
			t.Fatalf("%d x %d, %v on %s", r, c, d.Format(), d.Device())
		}
		// view is the same view of a matrix of the host and of the device.
		type view struct {
			h *Vector
			d *DeviceVector
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
			fresh := Random(f, v.h.Len(), 1, 5, uint64(i)).Col(0)
			for k := range v.h.Len() {
				v.h.Set(k, fresh.At(k))
			}
			if err := v.d.Set(fresh); err != nil {
				t.Fatal(err)
			}
			if !must(d.Matrix()).Same(h) {
				t.Fatalf("%v: view %d sets other entries", f, i)
			}
			for j, w := range views() {
				if v := must(w.d.Vector()); !v.Same(w.h) || w.d.Len() != w.h.Len() || w.d.Format() != f || w.d.Device() != "cuda:0" {
					t.Fatalf("%v: view %d is another one on the GPU", f, j)
				}
			}
		}
		part := Random(f, 2, 3, 4, 9)
		for j := range 3 {
			for i := range 2 {
				h.Set(1+i, 2+j, part.At(i, j))
			}
		}
		if err := d.Slice(1, 3, 2, 5).Set(part); err != nil {
			t.Fatal(err)
		}
		if !must(d.Matrix()).Same(h) {
			t.Errorf("%v: a slice sets other entries", f)
		}
		if err := d.Slice(6, 6, 0, 5).Set(h.Slice(6, 6, 0, 5)); err != nil {
			t.Error(err)
		}
		x := must(h.Row(3).To("cuda:0"))
		if !must(x.Vector()).Same(h.Row(3)) {
			t.Errorf("%v: a vector changes on its way", f)
		}
		x.Free()
	}
}

// TestDeviceMisuse checks the panics.
func TestDeviceMisuse(t *testing.T) {
	fakeGPUs(t, 2)
	a, b := must(NewDeviceMatrix("cuda:0", Float64, 4, 4)), must(NewDeviceMatrix("cuda:1", Float64, 4, 4))
	x, y := must(NewDeviceVector("cuda:0", Float64, 4)), must(NewDeviceVector("cuda:1", Float64, 4))
	c := must(NewDeviceMatrix("cuda:0", Float64, 4, 4))
	freed, gone := must(NewDeviceMatrix("cuda:0", Float64, 4, 4)), must(NewDeviceVector("cuda:0", Float64, 4))
	view := freed.T()
	freed.Free()
	freed.Free()
	view.Free()
	gone.Free()
	gone.Free()
	defer func() {
		for _, m := range []*DeviceMatrix{a, b, c} {
			m.Free()
		}
		x.Free()
		y.Free()
	}()
	one, zero := Float(1), Float(0)
	gemm := func(a, b, c *DeviceMatrix) { must(DeviceGemm(NoTrans, NoTrans, one, a, b, zero, c, nil)) }
	gemv := func(a *DeviceMatrix, x, y *DeviceVector) { must(DeviceGemv(NoTrans, one, a, x, zero, y, nil)) }
	for i, v := range []struct {
		f    func()
		want string
	}{
		{func() { must(NewDeviceMatrix("cuda:0", Float64, -1, 2)) }, errNegativeDim},
		{func() { must(NewDeviceVector("cuda:0", Float64, -1)) }, errNegativeDim},
		{func() { a.Slice(0, 5, 0, 1) }, errIndex},
		{func() { a.Row(4) }, errIndex},
		{func() { a.Col(-1) }, errIndex},
		{func() { x.Slice(3, 2) }, errIndex},
		{func() { x.Stride(0) }, errInc},
		{func() { a.Slice(0, 3, 0, 2).Vec() }, errGaps},
		{func() { a.T().Vec() }, errGaps},
		{func() { _ = a.Set(NewMatrix(Float64, 4, 3)) }, errShape},
		{func() { _ = a.Set(NewMatrix(Float32, 4, 4)) }, errFormat},
		{func() { _ = x.Set(NewVector(Float64, 3)) }, errShape},
		{func() { _ = x.Set(NewVector(DD, 4)) }, errFormat},
		{func() { gemm(a, b, c) }, errDevices},
		{func() { gemm(a, a, b) }, errDevices},
		{func() { gemv(a, y, x) }, errDevices},
		{func() { _, _, _ = DeviceDot(x, y, Float64, nil) }, errDevices},
		{func() { must(DeviceSyrk(Upper, NoTrans, one, a, zero, b, nil)) }, errDevices},
		{func() { gemm(a, c, a) }, errAlias},
		{func() { gemm(c.Slice(0, 2, 0, 2), c.Slice(2, 4, 0, 2), c.Slice(1, 3, 1, 3)) }, errAlias},
		{func() { gemv(a, x, a.Col(1)) }, errAlias},
		{func() { gemv(a, x, x) }, errAlias},
		{func() {
			must(DeviceGemvTo(NoTrans, one, a, x, one, c.Vec().Slice(0, 4), c.Vec().Slice(3, 7), nil))
		}, errAlias},
		{func() { must(DeviceGemmTo(NoTrans, NoTrans, one, a, a, one, c, c.T(), nil)) }, errAlias},
		{func() { must(DeviceSyrk(Lower, Trans, one, a, zero, a, nil)) }, errAlias},
		{func() { gemm(a.Slice(0, 3, 0, 4), a, c) }, errShape},
		{func() { gemv(a, x.Slice(0, 3), x) }, errShape},
		{func() { must(DeviceSyrk(Lower, Trans, one, a.Slice(0, 3, 0, 3), zero, c, nil)) }, errShape},
		{func() { must(DeviceSyrk('x', Trans, one, a, zero, c, nil)) }, errUplo},
		{func() { must(DeviceGemv('x', one, a, x, zero, x, nil)) }, errTranspose},
		{func() { must(DeviceGemmTo(NoTrans, NoTrans, one, a, a, one, nil, c, nil)) }, errNoC},
		{func() { must(DeviceGemvTo(NoTrans, one, a, x, one, nil, x, nil)) }, errNoC},
		{func() { _, _, _ = DeviceDot(x, x.Slice(0, 2), Float64, nil) }, errShape},
		{func() { gemm(a, a, freed) }, errFreed},
		{func() { gemm(a, view, c) }, errFreed},
		{func() { must(DeviceSyrk(Lower, Trans, one, view, zero, c, nil)) }, errFreed},
		{func() { gemv(a, view.Col(0), x) }, errFreed},
		{func() { _, _, _ = DeviceSum(gone, Float64, nil) }, errFreed},
		{func() { _, _, _ = DeviceNrm2(freed.Row(1), Float64, nil) }, errFreed},
		{func() { must(freed.Matrix()) }, errFreed},
		{func() { must(gone.Vector()) }, errFreed},
		{func() { _ = view.Set(NewMatrix(Float64, 4, 4)) }, errFreed},
		{func() { _ = gone.Set(NewVector(Float64, 4)) }, errFreed},
	} {
		if got := panics(v.f); got != v.want {
			t.Errorf("case %d: got %v, want %s", i, got, v.want)
		}
	}
	if _, err := DeviceGemm(NoTrans, NoTrans, one, a, a, zero, c, &Options{Method: "direct"}); !errors.Is(err, ErrMethod) {
		t.Error(err)
	}
	if _, _, err := DeviceSum(x, Float64, &Options{Method: "residue"}); !errors.Is(err, ErrMethod) {
		t.Error(err)
	}
}

// TestDeviceMemory checks the errors of matrices and vectors that do not fit.
func TestDeviceMemory(t *testing.T) {
	fakeGPUs(t, 1)
	if m, err := NewDeviceMatrix("cuda:0", MP(1000), 1<<13, 1<<13); !errors.Is(err, ErrMemory) || m != nil {
		t.Error(m, err)
	}
	if m, err := NewDeviceMatrix("cuda:0", Float64, math.MaxInt/2, 4); !errors.Is(err, ErrMemory) || m != nil {
		t.Error(m, err)
	}
	if x, err := NewDeviceVector("cuda:0", Float64, math.MaxInt/2); !errors.Is(err, ErrMemory) || x != nil {
		t.Error(x, err)
	}
	if x, err := NewDeviceVector("cuda:0", QD, 1<<28); !errors.Is(err, ErrMemory) || x != nil {
		t.Error(x, err)
	}
}

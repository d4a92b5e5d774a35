package halfulp

import (
	"errors"
	"os"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
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
	}
}

// TestDeviceMatrix runs on a fake driver, which has memory but no kernels: transfers,
// views, and a product too long for the GPU, which the host computes.
func TestDeviceMatrix(t *testing.T) {
	drv := new(fake.Driver)
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	to := func(m *Matrix) *DeviceMatrix {
		z := newDeviceMatrix(dev, m.Rows(), m.Cols())
		if err := z.allocate(m.Format()); err != nil {
			t.Fatal(err)
		}
		if err := z.Set(m); err != nil {
			t.Fatal(err)
		}
		return z
	}
	back := func(z *DeviceMatrix) *Matrix {
		m, err := z.Matrix()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, f := range []Format{Float32, DD, MP(100)} {
		const k = 1<<16 + 3
		a, b, c := Random(f, 3, k, 2, 1), Random(f, 2, k, 2, 2), Random(f, 3, 2, 2, 3)
		x, y, z := to(a), to(b.T()), to(c)
		for _, v := range []struct {
			got  *DeviceMatrix
			want *Matrix
		}{{x, a}, {x.T(), a.T()}, {x.Slice(1, 3, 5, 9), a.Slice(1, 3, 5, 9)}, {x.T().Slice(5, 9, 1, 3), a.T().Slice(5, 9, 1, 3)}, {y, b.T()}, {z, c}} {
			if m := back(v.got); !m.Same(v.want) {
				t.Errorf("%v: a view changes on its way", f)
			}
		}
		if _, err := Gemm(NoTrans, Trans, Float(3), a, b, Float(-1), c, nil); err != nil {
			t.Fatal(err)
		}
		st, err := DeviceGemm(Trans, NoTrans, Float(3), x.T(), y, Float(-1), z, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !back(z).Same(c) || st.Device != "cpu" {
			t.Errorf("%v on %s: wrong product", f, st.Device)
		}
		for _, d := range []*DeviceMatrix{x, y, z} {
			d.Free()
		}
	}
	if n := dev.Counters().InUse; n != 0 {
		t.Errorf("%d bytes are left in use", n)
	}
}

func TestDeviceGemm(t *testing.T) {
	needGPU(t)
	third, err := ParseScalar(MP(80), "0.33333")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{Float32, Float64, DD, QD, MP(106), MP(424)} {
		a, b, c := Random(f, 70, 50, 3, 1), Random(f, 50, 60, 3, 2), Random(f, 70, 60, 3, 3)
		var on [3]*DeviceMatrix
		for i, m := range []*Matrix{a, b, c} {
			if on[i], err = m.To("cuda:0"); err != nil {
				t.Fatal(err)
			}
			defer on[i].Free()
			back, err := on[i].Matrix()
			if err != nil || !back.Same(m) {
				t.Fatalf("%v: a matrix changes on its way: %v", f, err)
			}
		}
		for _, s := range []struct{ alpha, beta Scalar }{{Float(1), Float(0)}, {Float(-2), Float(0)}, {third, Float(1)}, {Float(1), third}} {
			want := c.Clone()
			if _, err := Gemm(NoTrans, NoTrans, s.alpha, a, b, s.beta, want, nil); err != nil {
				t.Fatal(err)
			}
			if err := on[2].Set(c); err != nil {
				t.Fatal(err)
			}
			st, err := DeviceGemm(NoTrans, NoTrans, s.alpha, on[0], on[1], s.beta, on[2], nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := on[2].Matrix()
			if err != nil {
				t.Fatal(err)
			}
			if !got.Same(want) || st.Device != "cuda:0" {
				t.Errorf("%v, alpha %v, beta %v on %s: other bits than on the CPU", f, s.alpha, s.beta, st.Device)
			}
		}
		want := c.Slice(0, 20, 0, 30).T().Clone()
		if _, err := Gemm(Trans, Trans, Float(1), b.Slice(0, 50, 5, 35), a.Slice(10, 30, 0, 50), Float(0), want, nil); err != nil {
			t.Fatal(err)
		}
		z, err := NewDeviceMatrix("cuda:0", f, 30, 20)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Free()
		if _, err := DeviceGemm(Trans, Trans, Float(1), on[1].Slice(0, 50, 5, 35), on[0].Slice(10, 30, 0, 50), Float(0), z, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := z.Matrix(); err != nil || !got.Same(want) {
			t.Errorf("%v: views: other bits than on the CPU: %v", f, err)
		}
	}
}

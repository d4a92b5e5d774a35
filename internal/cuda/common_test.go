package cuda_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/kernels"
)

// mixed is the structure of the same name in selftest.cu.
type mixed struct {
	A int8
	B uint64
	C [3]float32
	D int16
}

// all is what the kernel arguments writes.
func (m mixed) all(i int32, l int64, f float32, d float64) []float64 {
	return []float64{float64(i), float64(m.A), float64(m.B), float64(m.C[0]), float64(m.C[1]), float64(m.C[2]), float64(m.D), float64(l), float64(f), d}
}

// checkArguments passes arguments of all sizes to a kernel.
func checkArguments(t *testing.T, dev *cuda.Device) {
	t.Helper()
	do(t, dev, func(s *cuda.Stream) error {
		module, err := s.Load(kernels.PTX("selftest/selftest"))
		if err != nil {
			return err
		}
		defer module.Unload()
		f, err := module.Function("arguments")
		if err != nil {
			return err
		}
		out, err := s.Alloc(80)
		if err != nil {
			return err
		}
		defer out.Free()
		i, m, l, x, d := int32(-5), mixed{-7, 1 << 52, [3]float32{0.5, -1.5, 3}, -300}, int64(-1)<<50, float32(2.25), -1e300
		for _, structure := range []any{m, &m} {
			if err := s.Zero(out.Pointer(), 80); err != nil {
				return err
			}
			if err := f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, out, i, structure, l, x, d); err != nil {
				return err
			}
			got := make([]float64, 10)
			if err := cuda.Download(s, got, out.Pointer()); err != nil {
				return err
			}
			if want := m.all(i, l, x, d); !slices.Equal(got, want) {
				return fmt.Errorf("by %T the kernel got %v, want %v", structure, got, want)
			}
		}
		return nil
	})
}

// checkReverse runs a kernel with much dynamic shared memory.
func checkReverse(t *testing.T, dev *cuda.Device) {
	t.Helper()
	do(t, dev, func(s *cuda.Stream) error {
		m, err := s.Load(kernels.PTX("selftest/selftest"))
		if err != nil {
			return err
		}
		defer m.Unload()
		f, err := m.Function("reverse")
		if err != nil {
			return err
		}
		const n = 1000
		x := make([]int32, n)
		for i := range x {
			x[i] = int32(i)
		}
		d, err := s.Alloc(4 * n)
		if err != nil {
			return err
		}
		defer d.Free()
		if err := cuda.Upload(s, d.Pointer(), x); err != nil {
			return err
		}
		if err := f.Launch(s, cuda.Dim{X: 1}, cuda.Dim{X: n}, 96<<10, d, int32(n)); err != nil {
			return err
		}
		if err := cuda.Download(s, x, d.Pointer()); err != nil {
			return err
		}
		for i := range x {
			if x[i] != int32(n-1-i) {
				return fmt.Errorf("x[%d] = %d", i, x[i])
			}
		}
		r, err := f.Resources(n, 96<<10)
		if err != nil {
			return err
		}
		if r.Registers == 0 || r.LocalBytes != 0 || r.BlocksPerMultiprocessor < 1 {
			t.Errorf("%+v", r)
		}
		return nil
	})
}

var background = context.Background()

package reproduce

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/raw"
)

// qdGPUOperation measures an operation on the GPU: by both launch schemes, many times on the same
// numbers, and once on many.
func (e *experiment) qdGPUOperation(compute, memory *qdTable, format string, f halfulp.Format, op qdOperation) error {
	for _, c := range []struct {
		t         *qdTable
		column    string
		scheme    expgpu.Scheme
		n, repeat int
	}{
		{compute, fixedGrid, expgpu.Fixed, qdLength, qdRepeat},
		{compute, spreadGrid, expgpu.Spread, qdLength, qdRepeat},
		{memory, spreadGrid, expgpu.Spread, qdLong, 1},
	} {
		if err := e.next(); err != nil {
			return err
		}
		var all [3]gpu.Matrix
		for i := range all {
			d, err := qdVector(f, c.n, i).To(e.Device)
			if err != nil {
				return err
			}
			defer d.Free()
			_, v := raw.DeviceVector(d)
			all[i] = v.Col()
		}
		run := func() error {
			return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error {
				if err := expgpu.EachRepeated(s, op.kernel, c.scheme, c.repeat, all[0], all[1:1+op.operands]...); err != nil {
					return err
				}
				return s.Synchronize()
			})
		}
		if err := run(); err != nil { // loads the kernel
			return err
		}
		ms, runs, err := e.measure(nil, run)
		if err != nil {
			return err
		}
		c.t.put(format, op.name, c.column, e.gpu.title, known(float64(c.n)*float64(c.repeat)/ms), runs)
	}
	return nil
}

// qdGPUMatrices measures products and systems whose operands are in the GPU's memory.
func (e *experiment) qdGPUMatrices(gemm, solve *qdTable, format string, list ...*halfulp.Matrix) error {
	var d []*halfulp.DeviceMatrix
	for _, m := range list {
		x, err := m.To(e.Device)
		if err != nil {
			return err
		}
		defer x.Free()
		d = append(d, x)
	}
	a, b, s, rhs := d[0], d[1], d[2], d[3]
	c, err := halfulp.NewDeviceMatrix(e.Device, a.Format(), a.Rows(), b.Cols())
	if err != nil {
		return err
	}
	defer c.Free()
	x, err := halfulp.NewDeviceMatrix(e.Device, s.Format(), rhs.Rows(), rhs.Cols())
	if err != nil {
		return err
	}
	defer x.Free()
	one, zero := halfulp.Float(1), halfulp.Float(0)
	waiting := func(f func() error) func() error {
		return func() error {
			if err := f(); err != nil {
				return err
			}
			return e.wait()
		}
	}
	solver := func(p expansion.Pivoting, u expansion.Updates) func() error {
		return waiting(func() error {
			return expansion.DeviceSolve(s, rhs, x, &expansion.SolveOptions{Pivoting: p, Updates: u})
		})
	}
	native := waiting(func() error {
		return expansion.DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c)
	})
	exact := waiting(func() error {
		_, err := halfulp.DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, nil)
		return err
	})
	for _, w := range []struct {
		t     *qdTable
		cases []qdCase
	}{
		{gemm, []qdCase{{"GPU, " + withNative, native}, {"GPU, " + withExact, exact}}},
		{solve, []qdCase{
			{"GPU, " + withNative, solver(expansion.PartialPivoting, expansion.NativeUpdates)},
			{"GPU, " + withExact, solver(expansion.PartialPivoting, expansion.ExactUpdates)},
			{"GPU, " + withRule, solver(expansion.ZeroPivoting, expansion.NativeUpdates)},
		}},
	} {
		if err := e.next(); err != nil {
			return err
		}
		for _, k := range w.cases { // loads the kernels
			if err := k.run(); err != nil {
				return err
			}
		}
		if err := e.qdTimes(w.t, format, e.gpu.title, w.cases); err != nil {
			return err
		}
	}
	return nil
}

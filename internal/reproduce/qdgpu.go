package reproduce

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/raw"
)

// The paper's compute-bound test, and one with numbers for all threads that a GPU can have.
const (
	qdLength  = 1 << 14
	qdRepeat  = 10000
	qdMany    = 1 << 20
	qdRepeat2 = 200
)

// qdGPU measures the operations, and the products and systems of order n, on the GPU.
func (e *experiment) qdGPU(r *Report, n int) error {
	library, err := e.hasCuBLAS()
	if err != nil {
		return err
	}
	for _, f := range qdFormats {
		if f.format != halfulp.Float64 {
			if err := e.qdGPUOperations(r, f.name, f.format); err != nil {
				return err
			}
		}
		if f.format != halfulp.Float64 || library {
			if err := e.qdGPUMatrices(r, f.name, f.format, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// qdOnGPU returns n numbers on the GPU, the same few again and again.
func (e *experiment) qdOnGPU(f halfulp.Format, n, seed int) (*halfulp.DeviceVector, error) {
	d, err := halfulp.NewDeviceVector(e.Device, f, n)
	if err != nil {
		return nil, err
	}
	x := qdVector(f, min(n, qdLength), seed)
	for i := 0; i < n; i += x.Len() {
		k := min(x.Len(), n-i)
		if err := d.Slice(i, i+k).Set(x.Slice(0, k)); err != nil {
			d.Free()
			return nil, err
		}
	}
	return d, nil
}

// qdGPUOperations measures the operations by both launch schemes, in memory and many times on the
// same numbers.
func (e *experiment) qdGPUOperations(r *Report, format string, f halfulp.Format) error {
	var all [3]*halfulp.DeviceVector
	most := max(4*qdLong, qdMany)
	for i := range all {
		d, err := e.qdOnGPU(f, most, i+1)
		if err != nil {
			return err
		}
		defer d.Free()
		all[i] = d
	}
	for _, op := range qdOperations {
		if op.name == "-" {
			continue
		}
		type launch struct {
			table     string
			scheme    expgpu.Scheme
			n, repeat int
		}
		list := []launch{
			{tableQDFixed, expgpu.Fixed, 4 * qdLong, 1}, {tableQDSpread, expgpu.Spread, 4 * qdLong, 1},
			{tableQDCompute, expgpu.Fixed, qdLength, qdRepeat}, {tableQDCompute, expgpu.Spread, qdMany, qdRepeat2},
		}
		if op.isFunction() {
			list = []launch{
				{tableQDFunctions, expgpu.Spread, 4 * qdLong, 1},
				{tableQDCached, expgpu.Fixed, qdLength, qdRepeat}, {tableQDCached, expgpu.Spread, qdMany, qdRepeat2},
			}
		}
		for _, c := range list {
			if err := e.next(); err != nil {
				return err
			}
			var views [3]gpu.Matrix
			for i, d := range all {
				_, v := raw.DeviceVector(d.Slice(0, c.n))
				views[i] = v.Col()
			}
			run := func(repeat int) error {
				return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error {
					if err := expgpu.EachRepeated(s, op.kernel, c.scheme, repeat, views[2], views[:op.operands]...); err != nil {
						return err
					}
					return s.Synchronize()
				})
			}
			if err := run(1); err != nil { // loads the kernel
				return err
			}
			ms, runs, err := e.measureFor(qdEnough, nil, func() error { return run(c.repeat) })
			if err != nil {
				return err
			}
			r.add(qdRate(c.table, format, op, e.gpu.title, c.n, float64(c.n)*float64(c.repeat)/ms, runs))
		}
	}
	return nil
}

// qdGPUMatrices measures products and systems whose operands are in the GPU's memory.
func (e *experiment) qdGPUMatrices(r *Report, format string, f halfulp.Format, n int) error {
	m, k := qdShapes(n)
	var all [6]*halfulp.DeviceMatrix
	for i, shape := range [][2]int{{m, k}, {k, m}, {m, m}, {n, n}, {n, m}, {n, m}} {
		d, err := qdMatrix(f, shape[0], shape[1], i+1).To(e.Device)
		if err != nil {
			return err
		}
		defer d.Free()
		all[i] = d
	}
	a, b, c, s, rhs, x := all[0], all[1], all[2], all[3], all[4], all[5]
	one, zero := halfulp.Float(1), halfulp.Float(0)
	waiting := func(f func() error) func() error {
		return func() error {
			if err := f(); err != nil {
				return err
			}
			return e.wait()
		}
	}
	exact := qdCase{name: qdExact, run: waiting(func() error {
		_, err := halfulp.DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, nil)
		return err
	})}
	if f == halfulp.Float64 {
		return e.qdGPUTimes(r, tableQDGemm, format, n, []qdCase{{name: qdCuBLAS, run: func() error { return e.native(a, b, c) }}, exact})
	}
	if err := e.qdGPUTimes(r, tableQDGemm, format, n, []qdCase{{name: qdNative, run: waiting(func() error {
		return expansion.DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c)
	})}, exact}); err != nil {
		return err
	}
	return e.qdGPUTimes(r, tableQDSolve, format, n, qdSolvers(func(p expansion.Pivoting, u expansion.Updates) error {
		if err := expansion.DeviceSolve(s, rhs, x, &expansion.SolveOptions{Pivoting: p, Updates: u}); err != nil {
			return err
		}
		return e.wait()
	}))
}

// qdGPUTimes measures cases whose first run loads the kernels.
func (e *experiment) qdGPUTimes(r *Report, table, format string, n int, cases []qdCase) error {
	if err := e.next(); err != nil {
		return err
	}
	for _, c := range cases {
		if err := c.run(); err != nil {
			return err
		}
	}
	return e.qdTimes(r, table, format, e.gpu.title, n, cases)
}

package reproduce

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// The paper's compute-bound test, and a test with numbers for all threads of a GPU; the numbers are
// variables for tests.
var (
	qdLength = 1 << 14
	qdMany   = 1 << 20
)

const (
	qdRepeat  = 10000
	qdRepeat2 = 200
)

// qdGPU measures the operations, and the products and systems of order n, on the GPU.
func (e *experiment) qdGPU(r *Report, n int) error {
	library, err := e.hasCuBLAS()
	if err != nil {
		return err
	}
	for _, f := range qdKinds {
		if err := e.qdGPUOperations(r, f); err != nil {
			return err
		}
	}
	for _, f := range qdFormats {
		if err := e.qdGPUMatrices(r, f.name, f.format, n, library); err != nil {
			return err
		}
	}
	return nil
}

// qdOnGPU returns n numbers on the GPU, the same few repeated.
func (e *experiment) qdOnGPU(f halfulp.Format, n, seed int) (*halfulp.Vector, error) {
	d, err := halfulp.NewVectorOn(halfulp.Device(e.Device), f, n)
	if err != nil {
		return nil, err
	}
	x := qdVector(f, min(n, qdLength), seed)
	for i := 0; i < n; i += x.Len() {
		k := min(x.Len(), n-i)
		if err := d.Slice(i, i+k).CopyFrom(x.Slice(0, k)); err != nil {
			d.Free()
			return nil, err
		}
	}
	return d, nil
}

// qdGPUOperations measures the operations by both launch schemes, in memory and repeatedly on the
// same numbers.
func (e *experiment) qdGPUOperations(r *Report, f qdKind) error {
	var all [3]*halfulp.Vector
	most := max(4*qdLong, qdMany)
	for i := range all {
		d, err := e.qdOnGPU(f.format, most, i+1)
		if err != nil {
			return err
		}
		defer d.Free()
		all[i] = d
	}
	for _, op := range qdOperations {
		if op.name == "-" || !f.has(op) {
			continue
		}
		if f.method == qdExact {
			if err := e.qdGPUExact(r, f, op, all[0].Slice(0, 4*qdLong), all[1].Slice(0, 4*qdLong)); err != nil {
				return err
			}
			continue
		}
		kernel := op.kernel
		if f.method == expansion.Published {
			kernel = "Published" + kernel
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
			var views [3]mem.Matrix
			for i, d := range all {
				views[i] = backend.Matrix(d.Slice(0, c.n).Matrix().View())
			}
			run := func(repeat int) error {
				return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error {
					if err := expgpu.EachRepeated(s, kernel, c.scheme, repeat, views[2], views[:op.operands]...); err != nil {
						return err
					}
					return s.Synchronize()
				})
			}
			if err := run(1); err != nil { // loads the kernel
				return err
			}
			if err := e.qdSame(r, f, op, all[2].Slice(0, min(c.n, qdLength, qdCompared))); err != nil {
				return err
			}
			ms, runs, err := e.measureFor(qdEnough, nil, func() error { return run(c.repeat) })
			if err != nil {
				return err
			}
			r.add(qdRate(c.table, f.name, op, e.gpu.title, c.n, float64(c.n)*float64(c.repeat)/ms, runs))
		}
	}
	return nil
}

// qdGPUExact measures y + x by the exact engine.
func (e *experiment) qdGPUExact(r *Report, f qdKind, op qdOperation, x, y *halfulp.Vector) error {
	if err := e.next(); err != nil {
		return err
	}
	run := func() error {
		if err := op.exact(x, y, nil); err != nil {
			return err
		}
		return e.wait()
	}
	if err := run(); err != nil { // loads the kernel
		return err
	}
	ms, runs, err := e.measureFor(qdEnough, nil, run)
	if err != nil {
		return err
	}
	r.add(qdRate(tableQDSpread, f.name, op, e.gpu.title, x.Len(), float64(x.Len())/ms, runs))
	return nil
}

// qdCompared is the number of results of a GPU that are compared with the CPU's.
const qdCompared = 4096

// qdSame returns errBits unless z, from the GPU, equals the CPU's result for the same numbers.
// Results in doubles are not compared: CPU and GPU have different functions of doubles.
func (e *experiment) qdSame(r *Report, f qdKind, op qdOperation, z *halfulp.Vector) error {
	if f.format == halfulp.Float64 {
		return nil
	}
	got, err := z.Host()
	if err != nil {
		return err
	}
	n := got.Len()
	want := halfulp.NewVector(f.format, n)
	x, y := qdVector(f.format, n, 1), qdVector(f.format, n, 2)
	if err := op.run(x, y, want, &halfulp.Options{Method: f.method, Context: e.Context}); err != nil {
		return err
	}
	if !got.Same(want) {
		return fmt.Errorf("%s of %s: %w", op.name, f.name, errBits)
	}
	for i := range r.Records {
		if k := &r.Records[i]; k.Table == tableQDBits && k.Case == f.name {
			*k.Here += float64(n)
			return nil
		}
	}
	r.add(Record{Table: tableQDBits, Case: f.name, Device: e.gpu.title, Quantity: "results with the CPU's bits", Here: known(float64(n))})
	return nil
}

// qdGPUMatrices measures products and systems whose operands are in the GPU's memory. Products of
// doubles are cuBLAS's if it is available.
func (e *experiment) qdGPUMatrices(r *Report, format string, f halfulp.Format, n int, library bool) error {
	m, k := qdShapes(n)
	var all [6]*halfulp.Matrix
	for i, shape := range [][2]int{{m, k}, {k, m}, {m, m}, {n, n}, {n, m}, {n, m}} {
		d, err := qdMatrix(f, shape[0], shape[1], i+1).On(halfulp.Device(e.Device))
		if err != nil {
			return err
		}
		defer d.Free()
		all[i] = d
	}
	a, b, c, s, rhs, x := all[0], all[1], all[2], all[3], all[4], all[5]
	one, zero := halfulp.Float(1), halfulp.Float(0)
	exact := qdCase{name: qdExact, run: func() error {
		if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, nil); err != nil {
			return err
		}
		return e.wait()
	}}
	multiply := func(name string, method halfulp.Method) qdCase {
		return qdCase{name: name, run: func() error {
			return expansion.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, &halfulp.Options{Method: method})
		}}
	}
	cases := []qdCase{exact, multiply(qdSquareBlocks, expansion.SquareBlocks)}
	switch {
	case f != halfulp.Float64:
		cases = append([]qdCase{multiply(qdNative, expansion.Method)}, cases...)
	case library:
		cases = append([]qdCase{{name: qdCuBLAS, run: func() error { return e.native(a, b, c) }}}, cases...)
	}
	if err := e.qdGPUTimes(r, tableQDGemm, format, n, cases); err != nil {
		return err
	}
	if f != halfulp.Float64 {
		if err := e.qdGPUTimes(r, tableQDSolve, format, n, qdSolvers(func(p expansion.Pivoting, u expansion.Updates) error {
			return expansion.Solve(s, rhs, x, &expansion.SolveOptions{Pivoting: p, Updates: u})
		})); err != nil {
			return err
		}
	}
	for _, scheme := range []struct {
		table, name string
		method      halfulp.Method
	}{
		{tableQDSquare, qdSquareBlocks, expansion.SquareBlocks}, {tableQDLinear, qdLinearBlocks, expansion.LinearBlocks},
	} {
		o := &expansion.SolveOptions{Pivoting: expansion.ZeroPivoting, Options: halfulp.Options{Method: scheme.method}}
		if err := e.qdGPUTimes(r, scheme.table, format, n, []qdCase{{name: scheme.name, run: func() error {
			return expansion.Solve(s, rhs, x, o)
		}}}); err != nil {
			return err
		}
	}
	return nil
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

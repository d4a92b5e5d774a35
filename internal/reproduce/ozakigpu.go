package reproduce

import (
	"errors"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/ozgpu"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
	"github.com/halfulp/halfulp/ozaki"
)

// ozakiResident are the matrices of a product in a GPU's memory, and those of float32.
type ozakiResident struct{ a, b, c, a32, b32, c32 *halfulp.DeviceMatrix }

func (r *ozakiResident) free() {
	if r == nil {
		return
	}
	for _, m := range []*halfulp.DeviceMatrix{r.a, r.b, r.c, r.a32, r.b32, r.c32} {
		if m != nil {
			m.Free()
		}
	}
}

// toGPU copies the operands to the GPU. The caller frees d.gpu.
func (e *experiment) toGPU(d *ozakiData) (err error) {
	d.gpu = &ozakiResident{}
	for _, m := range []struct {
		to, single **halfulp.DeviceMatrix
		from       *halfulp.Matrix
	}{{&d.gpu.a, &d.gpu.a32, d.a}, {&d.gpu.b, &d.gpu.b32, d.b}, {&d.gpu.c, &d.gpu.c32, d.c}} {
		if *m.to, err = m.from.To(e.Device); err != nil {
			return err
		}
		single := halfulp.NewMatrix(halfulp.Float32, d.n, d.n)
		x, y := raw.Matrix(single).Arr.F32, raw.Matrix(m.from).Arr.F64[0]
		if err := e.eachColumn(d.n, func(i int) { x[i] = float32(y[i]) }); err != nil {
			return err
		}
		if *m.single, err = single.To(e.Device); err != nil {
			return err
		}
	}
	return nil
}

// eachColumn calls f for the numbers of a matrix, column by column.
func (e *experiment) eachColumn(n int, f func(i int)) error {
	return par.For(e.Context, e.Threads, n, func(_, j int) {
		for i := range n {
			f(i + j*n)
		}
	})
}

// fetch copies the result from the GPU to d.c.
func (e *experiment) fetch(d *ozakiData) (err error) {
	d.c, err = d.gpu.c.Matrix()
	return err
}

// fetchSingle copies the result of float32 from the GPU to d.c.
func (e *experiment) fetchSingle(d *ozakiData) error {
	c, err := d.gpu.c32.Matrix()
	if err != nil {
		return err
	}
	x, y := raw.Matrix(d.c).Arr.F64[0], raw.Matrix(c).Arr.F32
	return e.eachColumn(d.n, func(i int) { x[i] = float64(y[i]) })
}

// native multiplies by cuBLAS and waits for the end.
func (e *experiment) native(a, b, c *halfulp.DeviceMatrix) error {
	return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error {
		engine, err := ozgpu.On(s)
		if err != nil {
			return err
		}
		_, x := raw.DeviceMatrix(a)
		_, y := raw.DeviceMatrix(b)
		_, z := raw.DeviceMatrix(c)
		if err := engine.Native(s, x, y, z); err != nil {
			return err
		}
		return s.Synchronize()
	})
}

// hasCuBLAS reports whether the GPU's machine has cuBLAS.
func (e *experiment) hasCuBLAS() (bool, error) {
	none, err := halfulp.NewDeviceMatrix(e.Device, halfulp.Float64, 1, 1)
	if err != nil {
		return false, err
	}
	defer none.Free()
	err = e.native(none, none, none)
	if errors.Is(err, cublas.ErrNone) {
		return false, nil
	}
	return err == nil, err
}

// gpuOzakiMethods are the methods on the GPU, of operands in its memory. float32 and float64 are
// cuBLAS's where there is one, as in the paper.
func (e *experiment) gpuOzakiMethods() ([]ozakiMethod, error) {
	library, err := e.hasCuBLAS()
	if err != nil {
		return nil, err
	}
	options := func(k int, bound *halfulp.Matrix) *ozaki.Options {
		return &ozaki.Options{Slices: k, Bound: bound, Context: e.Context}
	}
	var list []ozakiMethod
	for k := 1; k <= maxOzakiSlices; k++ {
		if k == 1 && library {
			list = append(list, ozakiMethod{name: float32Method,
				run: func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
					return nil, e.native(d.gpu.a32, d.gpu.b32, d.gpu.c32)
				},
				fetch: (*experiment).fetchSingle,
			})
			continue
		}
		name := slicesMethod(k)
		if k == 1 {
			name = float32Method
		}
		list = append(list, ozakiMethod{name: name, style: k - 1, paper: k - 1, bounded: true, fetch: (*experiment).fetch,
			run: func(_ *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
				s, err := ozaki.DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, 1, d.gpu.a, d.gpu.b, 0, d.gpu.c, options(k, bound))
				return s.Stages, err
			},
		})
	}
	if library {
		list = append(list, ozakiMethod{name: float64Method, style: 6, paper: 6, fetch: (*experiment).fetch,
			run: func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
				return nil, e.native(d.gpu.a, d.gpu.b, d.gpu.c)
			},
		})
	}
	return append(list,
		ozakiMethod{name: doubleFloatMethod, style: 7, paper: -1, bounded: true, fetch: (*experiment).fetch,
			run: func(_ *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
				s, err := ozaki.DeviceGemmDoubleFloat(halfulp.NoTrans, halfulp.NoTrans, 1, d.gpu.a, d.gpu.b, 0, d.gpu.c, options(0, bound))
				return s.Stages, err
			},
		},
		ozakiMethod{name: exactGemm, style: 8, paper: -1, fetch: (*experiment).fetch,
			run: func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
				_, err := halfulp.DeviceGemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), d.gpu.a, d.gpu.b, halfulp.Float(0), d.gpu.c,
					&halfulp.Options{Context: e.Context})
				return nil, err
			},
		},
	), nil
}

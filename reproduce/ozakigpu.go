package reproduce

import (
	"errors"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/ozaki"
)

// ozakiResident are the matrices of a product in a GPU's memory. The float32 matrices are also on
// the host, for the copies.
type ozakiResident struct {
	a, b, c, exact, a32, b32, c32 *halfulp.Matrix
	single                        *halfulp.Matrix
}

// newOzakiResident returns the memory for products of that size.
func (e *experiment) newOzakiResident(n int) (*ozakiResident, error) {
	r := &ozakiResident{single: halfulp.NewMatrix(halfulp.Float32, n, n)}
	for _, m := range []struct {
		to     **halfulp.Matrix
		format halfulp.Format
	}{
		{&r.a, halfulp.Float64}, {&r.b, halfulp.Float64}, {&r.c, halfulp.Float64}, {&r.exact, halfulp.DD},
		{&r.a32, halfulp.Float32}, {&r.b32, halfulp.Float32}, {&r.c32, halfulp.Float32},
	} {
		var err error
		if *m.to, err = halfulp.NewMatrixOn(halfulp.Device(e.Device), m.format, n, n); err != nil {
			r.free()
			return nil, err
		}
	}
	return r, nil
}

func (r *ozakiResident) free() {
	if r == nil {
		return
	}
	for _, m := range []*halfulp.Matrix{r.a, r.b, r.c, r.exact, r.a32, r.b32, r.c32} {
		if m != nil {
			m.Free()
		}
	}
}

// upload copies the operands to the GPU, if there is one.
func (e *experiment) upload(d *ozakiData) error {
	if d.gpu == nil {
		return nil
	}
	for _, m := range []struct{ from, to, single *halfulp.Matrix }{{d.a, d.gpu.a, d.gpu.a32}, {d.b, d.gpu.b, d.gpu.b32}} {
		if err := m.to.CopyFrom(m.from); err != nil {
			return err
		}
		x, y := d.gpu.single.View().Arr.F32, m.from.View().Arr.F64[0]
		if err := e.eachColumn(d.n, func(i int) { x[i] = float32(y[i]) }); err != nil {
			return err
		}
		if err := m.single.CopyFrom(d.gpu.single); err != nil {
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

// download copies a matrix of the GPU to one of the host.
func (e *experiment) download(to, from *halfulp.Matrix) error {
	return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error {
		return mem.DownloadView(s, to.View(), backend.Matrix(from.View()), 0)
	})
}

// fetch copies the result from the GPU to d.c.
func (e *experiment) fetch(d *ozakiData) error { return e.download(d.c, d.gpu.c) }

// fetchSingle copies the result of float32 from the GPU to d.c.
func (e *experiment) fetchSingle(d *ozakiData) error {
	if err := e.download(d.gpu.single, d.gpu.c32); err != nil {
		return err
	}
	x, y := d.c.View().Arr.F64[0], d.gpu.single.View().Arr.F32
	return e.eachColumn(d.n, func(i int) { x[i] = float64(y[i]) })
}

// native multiplies by cuBLAS and waits for the end.
func (e *experiment) native(a, b, c *halfulp.Matrix) error {
	return place.Provided[place.Ozaki]().Native(e.Context, a.View(), b.View(), c.View())
}

// hasCuBLAS reports whether the GPU's machine has cuBLAS.
func (e *experiment) hasCuBLAS() (bool, error) {
	none, err := halfulp.NewMatrixOn(halfulp.Device(e.Device), halfulp.Float64, 1, 1)
	if err != nil {
		return false, err
	}
	defer none.Free()
	err = e.native(none, none, none)
	if errors.Is(err, place.ErrLibrary) {
		return false, nil
	}
	return err == nil, err
}

// gpuOzakiMethods returns the methods on the GPU, for operands in its memory. float32 and float64
// are cuBLAS's where it is available, as in the paper.
func (e *experiment) gpuOzakiMethods() ([]ozakiMethod, error) {
	library, err := e.hasCuBLAS()
	if err != nil {
		return nil, err
	}
	options := func(split ozaki.Split, k int, bound *halfulp.Matrix) *ozaki.Options {
		return &ozaki.Options{Slices: k, Split: split, Bound: bound, Options: halfulp.Options{Context: e.Context}}
	}
	product := func(name string, split ozaki.Split, k, paper int) ozakiMethod {
		return ozakiMethod{name: name, slices: k, style: k - 1, paper: paper, bounded: true, fetch: (*experiment).fetch,
			run: func(_ *experiment, d *ozakiData, bound *halfulp.Matrix) ([]halfulp.Stage, error) {
				var s ozaki.Stats
				o := options(split, k, bound)
				o.Stats = &s
				err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, d.gpu.a, d.gpu.b, 0, d.gpu.c, o)
				return s.Stages, err
			},
		}
	}
	list := []ozakiMethod{product(float32Method, ozaki.Literal, 1, 0)}
	if library {
		list[0] = ozakiMethod{name: float32Method, slices: 1,
			run: func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
				return nil, e.native(d.gpu.a32, d.gpu.b32, d.gpu.c32)
			},
			fetch: (*experiment).fetchSingle,
		}
	}
	for _, s := range ozakiSplits {
		for k := 2; k <= maxOzakiSlices; k++ {
			list = append(list, product(s.method(k), s.split, k, ozakiPlace(s.split, k)))
		}
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
				var s ozaki.Stats
				o := options(0, 0, bound)
				o.Stats = &s
				err := ozaki.GemmDoubleFloat(halfulp.NoTrans, halfulp.NoTrans, 1, d.gpu.a, d.gpu.b, 0, d.gpu.c, o)
				return s.Stages, err
			},
		},
		ozakiMethod{name: exactGemm, style: 8, paper: -1, fetch: (*experiment).fetch,
			run: func(e *experiment, d *ozakiData, _ *halfulp.Matrix) ([]halfulp.Stage, error) {
				return nil, e.exactProduct(d.gpu.a, d.gpu.b, d.gpu.c)
			},
		},
	), nil
}

package ozgpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

type (
	// Norms are place.OzakiNorms.
	Norms = place.OzakiNorms
	// Bounds are place.OzakiBounds.
	Bounds = place.OzakiBounds
	// Stats are place.OzakiStats.
	Stats = place.OzakiStats
)

// ozaki implements place.Ozaki on GPUs.
type ozaki struct{}

// Register registers the products on GPUs with package place.
func Register() { place.Provide[place.Ozaki](ozaki{}) }

func (ozaki) Memory(p place.Place) uint64 { return backend.Device(p).Info().Memory }

// do runs f on the GPU p. It wraps the errors in those that package place documents.
func do(ctx context.Context, p place.Place, f func(s *cuda.Stream) error) error {
	err := backend.Device(p).Do(ctx, f)
	switch {
	case errors.Is(err, cuda.ErrMemory):
		return fmt.Errorf("%w: %w", place.ErrMemory, err)
	case errors.Is(err, cublas.ErrNone):
		return missing{err}
	}
	return err
}

// missing is an error of package cublas that errors.Is also reports as place.ErrLibrary.
type missing struct{ error }

func (m missing) Unwrap() error        { return m.error }
func (m missing) Is(target error) bool { return target == place.ErrLibrary }

func (ozaki) Native(ctx context.Context, a, b, c num.Mat) error {
	return do(ctx, place.Of(c.Arr), func(s *cuda.Stream) error {
		e, err := On(s)
		if err != nil {
			return err
		}
		if err := e.Native(s, backend.Matrix(a), backend.Matrix(b), backend.Matrix(c)); err != nil {
			return err
		}
		return s.Synchronize()
	})
}

func (ozaki) Multiply(p place.Place, cfg place.Config, x place.OzakiProduct) (stats Stats, err error) {
	err = do(cfg.Ctx, p, func(s *cuda.Stream) error {
		e, err := On(s)
		if err != nil {
			return err
		}
		t := &travel{s: s}
		defer t.free()
		y, err := t.product(x)
		if err != nil {
			return err
		}
		a, b, err := t.factors(x)
		if err != nil {
			return err
		}
		y.Memory, y.Progress = cfg.Limit, cfg.Progress
		if y.Factors, err = e.NewFactors(s, a, b); err != nil {
			return err
		}
		defer y.Free()
		if stats, err = e.compute(s, y, x); err != nil {
			return err
		}
		return t.back(x, y)
	})
	return stats, err
}

// compute computes y, the product x with its operands on the device.
func (e *Engine) compute(s *cuda.Stream, y *Product, x place.OzakiProduct) (Stats, error) {
	if x.DoubleFloat {
		return e.GemmDouble(s, y)
	}
	if x.Literal != nil {
		a, err := y.A.maxima(s)
		if err != nil {
			return Stats{}, err
		}
		b, err := y.B.maxima(s)
		if err != nil {
			return Stats{}, err
		}
		if err := x.Literal(a, b); err != nil {
			return Stats{}, err
		}
		y.Literal = true
	}
	if x.Choose != nil {
		norms := func(v *Vectors) func(h0, h1, slices int) (Norms, error) {
			return func(h0, h1, slices int) (Norms, error) { return e.Norms(s, v, h0, h1, y.Width, slices) }
		}
		var err error
		if y.Slices, err = x.Choose(norms(y.A), norms(y.B)); err != nil {
			return Stats{}, err
		}
	}
	return e.Gemm(s, y)
}

// travel copies matrices between the host and a device.
type travel struct {
	s      *cuda.Stream
	copies []*mem.Array
}

func (t *travel) free() {
	for _, a := range t.copies {
		a.Free()
	}
}

// there returns m itself if it lives on the device, else a copy.
func (t *travel) there(m num.Mat) (mem.Matrix, error) {
	if m.Arr.Away != nil {
		return backend.Matrix(m), nil
	}
	z, err := mem.UploadView(t.s, m)
	t.copies = append(t.copies, z.Arr)
	return z, err
}

// room returns m itself if it lives on the device, else a zero matrix of its shape and format.
func (t *travel) room(m num.Mat) (mem.Matrix, error) {
	if m.Arr.Away != nil {
		return backend.Matrix(m), nil
	}
	a, err := mem.NewArray(t.s, m.Arr.Format, m.Rows*m.Cols)
	t.copies = append(t.copies, a)
	return mem.Matrix{Arr: a, RS: 1, CS: max(m.Rows, 1), Rows: m.Rows, Cols: m.Cols}, err
}

// product returns x with C and Bound on the device, without its factors.
func (t *travel) product(x place.OzakiProduct) (y *Product, err error) {
	y = &Product{Alpha: x.Alpha, Beta: x.Beta, Slices: x.Slices, Width: x.Width, Block: x.Block, SGEMM: x.SGEMM, Bounds: x.Bounds}
	if x.Beta == 0 {
		y.C, err = t.room(x.C)
	} else {
		y.C, err = t.there(x.C)
	}
	if err == nil && x.Bound.Arr != nil {
		y.Bound, err = t.room(x.Bound)
	}
	return y, err
}

// factors returns the factors of x on the device. If B is A or its transpose, A is copied once.
func (t *travel) factors(x place.OzakiProduct) (a, b mem.Matrix, err error) {
	if a, err = t.there(x.A); err != nil {
		return a, b, err
	}
	switch x.B {
	case x.A:
		return a, a, nil
	case x.A.T():
		return a, a.T(), nil
	}
	b, err = t.there(x.B)
	return a, b, err
}

// back copies the results of y, which is x on the device, to those matrices of x that live on the
// host.
func (t *travel) back(x place.OzakiProduct, y *Product) error {
	if x.C.Rows == 0 || x.C.Cols == 0 {
		return nil
	}
	if x.C.Arr.Away == nil {
		if err := mem.DownloadView(t.s, x.C, y.C, 0); err != nil {
			return err
		}
	}
	if x.Bound.Arr == nil || x.Bound.Arr.Away != nil {
		return nil
	}
	return mem.DownloadView(t.s, x.Bound, y.Bound, 0)
}

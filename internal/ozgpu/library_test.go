package ozgpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// recorder is a library that notes its calls.
type recorder struct{ calls []string }

func (r *recorder) Sgemm(transA, transB cublas.Transpose, m, n, k int, a, b, c cublas.Matrix) error {
	r.calls = append(r.calls, fmt.Sprintf("sgemm %d%d %dx%dx%d ld %d %d %d", transA, transB, m, k, n, a.LD, b.LD, c.LD))
	return nil
}

func (r *recorder) SgemmBatched(transA, transB cublas.Transpose, m, n, k int, a, b, c cublas.Matrix, count int) error {
	r.calls = append(r.calls, fmt.Sprintf("batch %d%d %dx%dx%d ld %d %d %d: %d", transA, transB, m, k, n, a.LD, b.LD, c.LD, count))
	return nil
}

func (r *recorder) Dgemm(transA, transB cublas.Transpose, m, n, k int, alpha float64, _, _ cublas.Matrix, beta float64, _ cublas.Matrix) error {
	r.calls = append(r.calls, fmt.Sprintf("dgemm %d%d %dx%dx%d %g %g", transA, transB, m, k, n, alpha, beta))
	return nil
}

func (r *recorder) String() string { return "recorder" }

// idle is a fake device whose kernels do nothing.
func idle(t *testing.T) *cuda.Device {
	t.Helper()
	drv := &fake.Driver{}
	for _, along := range []string{"", "Along"} {
		drv.Kernel("ozakiMaxima"+along, func(*fake.Launch, view, cuda.Pointer, cuda.Pointer, cuda.Pointer) {})
		drv.Kernel("ozakiSplit"+along, func(*fake.Launch, splitting) {})
		drv.Kernel("ozakiPairs"+along, func(*fake.Launch, view, cuda.Pointer, cuda.Pointer, cuda.Pointer, int64) {})
	}
	for name, f := range map[string]any{
		"ozakiNorms": func(*fake.Launch) {}, "ozakiBound": func(*fake.Launch, bounding) {}, "ozakiSum": func(*fake.Launch, summing) {},
		"ozakiSpecial": func(*fake.Launch, specials, int32) {}, "ozakiSgemm": func(*fake.Launch, floatProducts) {},
		"ozakiDouble": func(*fake.Launch, pairProduct) {},
	} {
		drv.Kernel(name, f)
	}
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// matrix returns a matrix of a format.
func matrix(t *testing.T, s *cuda.Stream, kind num.Kind, rows, cols int) mem.Matrix {
	t.Helper()
	a, err := mem.NewArray(s, num.Format{Kind: kind}, rows*cols)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Free)
	return mem.Matrix{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
}

// TestLibrary checks what a library is asked for, and when the device does without one.
func TestLibrary(t *testing.T) {
	var lib *recorder
	var failure error
	defer func(before func(*cuda.Stream) (blas, error)) { openBLAS = before }(openBLAS)
	openBLAS = func(*cuda.Stream) (blas, error) {
		if failure != nil {
			return nil, failure
		}
		lib = new(recorder)
		return lib, nil
	}
	broken := errors.New("broken")
	for _, test := range []struct {
		who     place.SGEMM
		failure error
		calls   int
		first   string
		err     error
	}{
		{place.AutoSGEMM, nil, 1, "batch 01 6x40x9 ld 8 12 8: 3", nil},
		{place.LibrarySGEMM, nil, 1, "batch 01 6x40x9 ld 8 12 8: 3", nil},
		{place.OwnSGEMM, nil, 0, "", nil},
		{place.AutoSGEMM, fmt.Errorf("%w here", cublas.ErrNone), 0, "", nil},
		{place.LibrarySGEMM, fmt.Errorf("%w here", cublas.ErrNone), 0, "", cublas.ErrNone},
		{place.AutoSGEMM, broken, 0, "", broken},
	} {
		lib, failure = nil, test.failure
		dev := idle(t)
		err := dev.Do(context.Background(), func(s *cuda.Stream) error {
			e, err := On(s)
			if err != nil {
				return err
			}
			f, err := e.NewFactors(s, matrix(t, s, num.F64, 6, 40), matrix(t, s, num.F32, 40, 9))
			if err != nil {
				return err
			}
			defer f.Free()
			_, err = e.Gemm(s, &Product{Factors: f, C: matrix(t, s, num.F64, 6, 9), Alpha: 1, Slices: 2, Width: 9, Block: 64, SGEMM: test.who})
			return err
		})
		var calls []string
		if lib != nil {
			calls = lib.calls
		}
		if !errors.Is(err, test.err) || len(calls) != test.calls || len(calls) > 0 && calls[0] != test.first {
			t.Errorf("%+v: error %v, calls %q", test, err, calls)
		}
	}
}

// TestMemory checks that nothing stays behind.
func TestMemory(t *testing.T) {
	defer WithoutCuBLAS(cublas.ErrNone)()
	dev := idle(t)
	do := func(f func(s *cuda.Stream) error) {
		t.Helper()
		if err := dev.Do(context.Background(), f); err != nil {
			t.Fatal(err)
		}
	}
	var a, b, c mem.Matrix
	var e *Engine
	do(func(s *cuda.Stream) (err error) {
		a, b, c = matrix(t, s, num.F64, 300, 100), matrix(t, s, num.F64, 100, 200), matrix(t, s, num.F64, 300, 200)
		e, err = On(s)
		return err
	})
	before := dev.Counters()
	do(func(s *cuda.Stream) error {
		f, err := e.NewFactors(s, a, b)
		if err != nil {
			return err
		}
		defer f.Free()
		p := &Product{Factors: f, C: c, Alpha: 1, Slices: 9, Width: 9, Block: 64, Memory: 1 << 20}
		stats, err := e.Gemm(s, p)
		if err != nil {
			return err
		}
		if stats.Parts != 6 || stats.Products != 6*2*45 {
			t.Errorf("%+v", stats)
		}
		_, err = e.GemmDouble(s, p)
		return err
	})
	if after := dev.Counters(); after.InUse != before.InUse || after.Events != before.Events {
		t.Errorf("%+v in use before, %+v after", before, after)
	}
}

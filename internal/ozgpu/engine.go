// Package ozgpu runs the products of package ozaki on NVIDIA GPUs, by the kernels of ozaki.cu of
// internal/kernels/ozaki and, where there is one, by the SGEMM of cuBLAS. What does not come from
// cuBLAS has the bits of package ozaki.
package ozgpu

import (
	"errors"
	"sync"

	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/place"
)

// Engine is what a device needs for products. It is used on the device's thread.
type Engine struct {
	functions
	blas    blas
	blasErr error // why there is none
	tried   bool
}

// functions are the kernels, by names.
type functions struct {
	// 1: for vectors whose entries lie next to each other
	maxima, split, pairs                      [2]*cuda.Function
	norms, bound, sum, special, sgemm, double *cuda.Function
}

// blas is what a library multiplies.
type blas interface {
	Sgemm(transA, transB cublas.Transpose, m, n, k int, a, b, c cublas.Matrix) error
	SgemmBatched(transA, transB cublas.Transpose, m, n, k int, a, b, c cublas.Matrix, count int) error
	Dgemm(transA, transB cublas.Transpose, m, n, k int, alpha float64, a, b cublas.Matrix, beta float64, c cublas.Matrix) error
	String() string
}

// engines are those in use, for as long as the process lives.
var engines struct {
	sync.Mutex
	of map[*cuda.Device]*Engine
}

// On returns the engine of the device of s, which works on its main stream.
func On(s *cuda.Stream) (*Engine, error) {
	engines.Lock()
	defer engines.Unlock()
	if e := engines.of[s.Device()]; e != nil {
		return e, nil
	}
	e := new(Engine)
	var err error
	for _, k := range []struct {
		to   **cuda.Function
		name string
	}{
		{&e.maxima[0], "ozakiMaxima"}, {&e.maxima[1], "ozakiMaximaAlong"},
		{&e.split[0], "ozakiSplit"}, {&e.split[1], "ozakiSplitAlong"},
		{&e.pairs[0], "ozakiPairs"}, {&e.pairs[1], "ozakiPairsAlong"},
		{&e.norms, "ozakiNorms"}, {&e.bound, "ozakiBound"}, {&e.sum, "ozakiSum"}, {&e.special, "ozakiSpecial"},
		{&e.sgemm, "ozakiSgemm"}, {&e.double, "ozakiDouble"},
	} {
		if *k.to, err = launch.KernelsOf(s).Function(s, "ozaki/ozaki", k.name); err != nil {
			return nil, err
		}
	}
	if engines.of == nil {
		engines.of = map[*cuda.Device]*Engine{}
	}
	engines.of[s.Device()] = e
	return e, nil
}

// openBLAS opens cuBLAS; a variable for tests.
var openBLAS = func(s *cuda.Stream) (blas, error) {
	h, err := cublas.Create(s.Handle())
	if err != nil {
		return nil, err
	}
	return h, nil
}

// library returns cuBLAS on the main stream, or why there is none.
func (e *Engine) library(s *cuda.Stream) (blas, error) {
	if !e.tried {
		e.tried = true
		e.blas, e.blasErr = openBLAS(s)
	}
	return e.blas, e.blasErr
}

// multiplier returns the library for products, nil for the kernel of this package, and its name.
func (e *Engine) multiplier(s *cuda.Stream, who place.SGEMM) (blas, string, error) {
	const own = "CUDA FMA chains"
	if who == place.OwnSGEMM {
		return nil, own, nil
	}
	lib, err := e.library(s)
	switch {
	case err == nil:
		return lib, lib.String(), nil
	case who == place.LibrarySGEMM || !errors.Is(err, cublas.ErrNone):
		return nil, "", err
	}
	return nil, own, nil
}

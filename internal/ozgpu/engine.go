// Package ozgpu runs the products of package ozaki on NVIDIA GPUs, by the kernels of
// internal/kernels/ozaki/ozaki.cu and, where cuBLAS is available, by its SGEMM. Results computed
// without cuBLAS have the same bits as the results of package ozaki.
package ozgpu

import (
	"errors"
	"sync"

	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/place"
)

// An Engine holds the kernels of a device and its cuBLAS. It must be used on the device's thread.
type Engine struct {
	functions
	blas    blas
	blasErr error // why cuBLAS is unavailable
	tried   bool
}

// functions are the kernels, named as in ozaki.cu.
type functions struct {
	// 1: for vectors whose entries lie closer to each other than the vectors do
	maxima, split, pairs                      [2]*cuda.Function
	norms, bound, sum, special, sgemm, double *cuda.Function
}

// blas is the part of cuBLAS that products need.
type blas interface {
	Sgemm(transA, transB cublas.Transpose, m, n, k int, a, b, c cublas.Matrix) error
	SgemmBatched(transA, transB cublas.Transpose, m, n, k int, a, b, c cublas.Matrix, count int) error
	Dgemm(transA, transB cublas.Transpose, m, n, k int, alpha float64, a, b cublas.Matrix, beta float64, c cublas.Matrix) error
	String() string
}

// engines holds one engine a device, for the life of the process.
var engines struct {
	sync.Mutex
	of map[*cuda.Device]*Engine
}

// On returns the engine of the device of s, which works on the device's main stream.
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

// openBLAS opens cuBLAS; tests replace it.
var openBLAS = func(s *cuda.Stream) (blas, error) {
	h, err := cublas.Create(s.Handle())
	if err != nil {
		return nil, err
	}
	return h, nil
}

// library returns cuBLAS on the main stream, or the error that explains why it is unavailable.
func (e *Engine) library(s *cuda.Stream) (blas, error) {
	if !e.tried {
		e.tried = true
		e.blas, e.blasErr = openBLAS(s)
	}
	return e.blas, e.blasErr
}

// multiplier returns the library that multiplies, nil for the kernel of this package, and its name.
// It returns an error if who requires cuBLAS and it is unavailable, or if cuBLAS is present but
// fails.
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

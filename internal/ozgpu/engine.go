// Package ozgpu runs the products of package ozaki on NVIDIA GPUs, by the kernels of ozaki.cu of
// internal/gpu/kernels and, where there is one, by the SGEMM of cuBLAS. What does not come from
// cuBLAS has the bits of package ozaki.
package ozgpu

import (
	"errors"
	"sync"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/gpu/kernels"
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
	maxima, split, pairs                      [2]*cuda.Function // 1: for vectors whose entries lie next to each other
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
	m, err := s.Load(kernels.PTX("ozaki"))
	if err != nil {
		return nil, err
	}
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
		if *k.to, err = m.Function(k.name); err != nil {
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

// SGEMM says who multiplies matrices of float32.
type SGEMM int

const (
	// Auto is cuBLAS if there is one, else Own.
	Auto SGEMM = iota
	// Own is the kernel of this package: each entry a chain of fused multiply-adds.
	Own
	// CuBLAS is cuBLAS, or an error.
	CuBLAS
)

// multiplier returns the library for products, nil for Own, and its name.
func (e *Engine) multiplier(s *cuda.Stream, who SGEMM) (blas, string, error) {
	const own = "CUDA FMA chains"
	if who == Own {
		return nil, own, nil
	}
	lib, err := e.library(s)
	switch {
	case err == nil:
		return lib, lib.String(), nil
	case who == CuBLAS || !errors.Is(err, cublas.ErrNone):
		return nil, "", err
	}
	return nil, own, nil
}

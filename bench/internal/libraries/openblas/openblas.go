// Package openblas measures OpenBLAS in double precision: the unit in which the tables express the
// cost of more bits.
package openblas

/*
#cgo CFLAGS: -I/usr/include/x86_64-linux-gnu/openblas-pthread -I/usr/include/aarch64-linux-gnu/openblas-pthread
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
*/
import "C"

import (
	"math/big"
	"unsafe"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is OpenBLAS.
type Library struct{}

// Name returns "OpenBLAS".
func (Library) Name() string { return "OpenBLAS" }

// Version returns what openblas_get_config says, with the core it runs on.
func (Library) Version() string { return machine.OpenBLAS(C.GoString(C.openblas_get_config())) }

// Load rounds the entries to doubles. A problem with spread exponents is replaced by the one
// without: the time of DGEMM does not depend on the data as long as nothing is subnormal. A sum is
// a DDOT with ones, because BLAS has no sum.
func (Library) Load(p problem.Problem, threads int) (*peer.Loaded, error) {
	p.Spread = 0
	m, k, n := p.Shape()
	var x problem.Number
	a := make([]float64, m*k)
	for i := range m {
		for h := range k {
			p.Entry(problem.A, i, h, &x)
			a[i+h*m] = x.Float64()
		}
	}
	b := make([]float64, k*n)
	for j := range n {
		for h := range k {
			if p.Kind == problem.Sum {
				b[h] = 1
				continue
			}
			p.Entry(problem.B, h, j, &x)
			b[h+j*k] = x.Float64()
		}
	}
	c := make([]float64, m*n)

	method := peer.Method{
		Role:    peer.Reference,
		Threads: threads,
		At:      func(i, j int) *big.Float { return big.NewFloat(c[i+j*m]) },
	}
	rows, inner, columns := C.blasint(m), C.blasint(k), C.blasint(n)
	switch p.Kind {
	case problem.Gemm:
		method.Name = "OpenBLAS DGEMM"
		method.Run = func(int) error {
			C.openblas_set_num_threads(C.int(threads))
			C.cblas_dgemm(C.CblasColMajor, C.CblasNoTrans, C.CblasNoTrans, rows, columns, inner,
				1, pointer(a), rows, pointer(b), inner, 0, pointer(c), rows)
			return nil
		}
	case problem.Gemv:
		method.Name = "OpenBLAS DGEMV"
		method.Run = func(int) error {
			C.openblas_set_num_threads(C.int(threads))
			C.cblas_dgemv(C.CblasColMajor, C.CblasNoTrans, rows, inner, 1, pointer(a), rows, pointer(b), 1, 0, pointer(c), 1)
			return nil
		}
	case problem.Dot, problem.Sum:
		method.Name = "OpenBLAS DDOT"
		method.Run = func(int) error {
			C.openblas_set_num_threads(C.int(threads))
			c[0] = float64(C.cblas_ddot(inner, pointer(a), 1, pointer(b), 1))
			return nil
		}
	}
	return &peer.Loaded{Methods: []peer.Method{method}}, nil
}

func pointer(x []float64) *C.double { return (*C.double)(unsafe.Pointer(&x[0])) }

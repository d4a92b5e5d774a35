package ozgpu

import (
	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Native computes C = A B by cuBLAS: DGEMM for Float64, SGEMM for Float32. The three matrices have
// the same format and contiguous columns (unit row stride). It returns an error if cuBLAS is
// unavailable.
func (e *Engine) Native(s *cuda.Stream, a, b, c mem.Matrix) error {
	lib, err := e.library(s)
	if err != nil {
		return err
	}
	c.Changed()
	size := int64(8)
	if c.Arr.Kind == num.F32 {
		size = 4
	}
	at := func(m mem.Matrix) cublas.Matrix {
		return cublas.Matrix{P: uint64(m.Arr.Plane(0)) + uint64(size*int64(m.Off)), LD: m.CS}
	}
	if c.Arr.Kind == num.F32 {
		return lib.Sgemm(cublas.NoTrans, cublas.NoTrans, c.Rows, c.Cols, a.Cols, at(a), at(b), at(c))
	}
	return lib.Dgemm(cublas.NoTrans, cublas.NoTrans, c.Rows, c.Cols, a.Cols, 1, at(a), at(b), 0, at(c))
}

package ozgpu

import (
	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Native sets C = A B by cuBLAS, all three of Float64 (DGEMM) or of Float32 (SGEMM), columns of
// numbers that lie next to each other. It returns an error if there is no cuBLAS.
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

package ozgpu

import "github.com/halfulp/halfulp/internal/cuda"

// WithoutCuBLAS lets devices that are not yet in use do without cuBLAS, for that reason, until
// restore is called, for tests.
func WithoutCuBLAS(reason error) (restore func()) {
	before := openBLAS
	openBLAS = func(*cuda.Stream) (blas, error) { return nil, reason }
	return func() { openBLAS = before }
}

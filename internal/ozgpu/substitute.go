package ozgpu

import "github.com/halfulp/halfulp/internal/cuda"

// WithoutCuBLAS makes cuBLAS unavailable, for the given reason, on devices not yet in use, until
// restore is called. It is for tests.
func WithoutCuBLAS(reason error) (restore func()) {
	before := openBLAS
	openBLAS = func(*cuda.Stream) (blas, error) { return nil, reason }
	return func() { openBLAS = before }
}

package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Triangles is where inverses of triangles of order N, from an elimination of as many rows, go:
// kernels/seed/seed.cu.
type Triangles struct {
	Lower, Upper                       cuda.Pointer
	LowerRS, LowerCS, UpperRS, UpperCS int64
	N, Rows                            int32
}

package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Triangles is where inverses of triangles of order N go: kernels/seed/seed.cu.
type Triangles struct {
	Lower, Upper                       cuda.Pointer
	LowerRS, LowerCS, UpperRS, UpperCS int64
	N, _                               int32
}

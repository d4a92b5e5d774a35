package abi

import "github.com/halfulp/halfulp/internal/cuda"

// Triangles are the places of the inverses of the triangular factors of order N, from an
// elimination of Rows rows: kernels/seed/seed.cu.
type Triangles struct {
	Lower, Upper                       cuda.Pointer
	LowerRS, LowerCS, UpperRS, UpperCS int64
	N, Rows                            int32
}

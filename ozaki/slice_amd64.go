//go:build amd64 && !purego

package ozaki

import "github.com/halfulp/halfulp/internal/isa"

//go:generate go -C _asm run . -out ../slice_amd64.s -stubs ../stubs_amd64.go -pkg ozaki

// slice is sliceGeneric with the instructions of the active level.
func slice(r []float64, q, rest []float32, next float64, part *[lanes]float64) (squares float64) {
	if isa.Level() < isa.AVX2 {
		return sliceGeneric(r, q, rest, next, part)
	}
	n := len(r) / lanes * lanes
	squares = sliceAVX2(r[:n], q, rest, next, part)
	return squares + sliceGeneric(r[n:], q[n:], rest[n:], next, part)
}

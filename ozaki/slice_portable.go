//go:build !amd64 || purego

package ozaki

// slice is sliceGeneric.
func slice(r []float64, q, rest []float32, next float64, part *[lanes]float64) (squares float64) {
	return sliceGeneric(r, q, rest, next, part)
}

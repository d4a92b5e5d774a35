package ozaki

import "math"

// sliceGeneric takes a slice off the remainders r of a chunk: q = ⌊r⌉, rest = RN(r) to float32, and
// then r = (r - q) next. It adds the squares of rest to the lanes, in the order that norms use, and
// returns the sum of the squares of q, an integer.
func sliceGeneric(r []float64, q, rest []float32, next float64, part *[lanes]float64) (squares float64) {
	for h, x := range r {
		y := float32(x)
		rest[h] = y
		size := math.Abs(float64(y))
		if size < smallest && x != 0 {
			size = smallest
		}
		part[h%lanes] += float64(size * size)
		z := math.RoundToEven(x)
		q[h] = float32(z)
		squares += float64(z * z)
		r[h] = float64((x - z) * next)
	}
	return squares
}

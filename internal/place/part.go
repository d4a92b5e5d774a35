package place

import "github.com/halfulp/halfulp/internal/num"

// Part returns a part of a place; T is the interface of the part. If p itself implements T, Part
// returns p; else it continues with the place that p's method Unwrap returns. ok is false if no
// place of this chain implements T, or if p is nil, the host: then the caller computes on the host.
func Part[T any](p Place) (part T, ok bool) {
	for p != nil {
		if part, ok = p.(T); ok {
			break
		}
		wrapper, wraps := p.(interface{ Unwrap() Place })
		if !wraps {
			break
		}
		p = wrapper.Unwrap()
	}
	return part, ok
}

// Oblique reports whether a place implements Newton and permits views whose entries lie along
// diagonals of the stored matrix. A grid of processes does not permit them.
func Oblique(p Place) bool {
	newton, ok := Part[Newton](p)
	return ok && newton.Oblique()
}

// Preparer is the part of a place that keeps data which products compute from their operands.
type Preparer interface {
	// Prepare lets products keep the data that they compute from a matrix of the place.
	Prepare(m num.Mat)
}

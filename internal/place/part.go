package place

import "github.com/halfulp/halfulp/internal/num"

// Part returns a part of a place, T being the part's interface: the place itself if it implements
// T, else the place that its method Unwrap returns, if it has one, and so on. It is not ok if the
// place does not offer the part, or is the host, nil: then the caller computes on the host.
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

// Oblique reports whether a place offers Newton, and views there may have their entries along
// diagonals of what is stored. They may not on a grid of processes.
func Oblique(p Place) bool {
	newton, ok := Part[Newton](p)
	return ok && newton.Oblique()
}

// Preparer is the part of a place that keeps what products compute of operands.
type Preparer interface {
	// Prepare lets products keep what they compute of a matrix that lives there.
	Prepare(m num.Mat)
}

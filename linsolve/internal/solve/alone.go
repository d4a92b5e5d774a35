package solve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// aloneBytes bounds the matrices that each process of a grid gets all of to compute alone.
const aloneBytes = 1 << 30

// Numbers of up to AloneBits bits have ways on the host that take a fraction of the products of a
// grid. Up to these products of order and number of processes one alone was faster, or as fast:
// of orders 400, 1000 and 2000 two processes together took 205, 1429 and 8781 ms of processor time
// for an inverse and one alone 16, 276 and 3857; for as many right-hand sides 264 and 1741 together
// and 63 and 672 alone, of orders 400 and 1000, and about as much for Cholesky factors and for
// least squares.
const (
	AloneBits    = 53
	aloneInverse = 4000
	AloneSystem  = 2000
)

// small reports whether a matrix lives on a grid and is no larger than each process may have all
// of to compute alone.
func small(s *call.Run, a num.Mat) bool {
	if place.Oblique(place.Of(a.Arr)) { // no grid
		return false
	}
	m, n := a.Dims()
	limit := int64(aloneBytes)
	if s.Set.Limit > 0 {
		limit = min(limit, s.Set.Limit)
	}
	return int64(m)*int64(n) <= limit/int64(a.Format().Bits()/8+8)
}

// Alone reports whether each process of a grid computes by itself, on its CPUs, a result in format
// f of a system of as many unknowns as a has columns: up to so many times the number of processes.
// All decide the same.
func Alone(s *call.Run, a num.Mat, f num.Format, most int) (bool, error) {
	for _, g := range []num.Format{a.Format(), f} {
		if g.Bits() > AloneBits || num.NewMat(g, 0, 0).Arr.Terms() > 1 {
			return false, nil
		}
	}
	p, ok := place.Part[place.Processes](place.Of(a.Arr))
	if !ok || !small(s, a) {
		return false, nil
	}
	n, err := p.Hosts(s.Ctx)
	return n > 0 && n*a.Cols <= most, err
}

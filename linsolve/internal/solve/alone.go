package solve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// aloneBytes bounds the size of a matrix that every process of a grid gets in full to compute
// alone.
const aloneBytes = 1 << 30

// For numbers of up to AloneBits bits the host has ways that take a fraction of the products of a
// grid. Up to the following products of order and number of processes, one process alone was faster
// or as fast. An inverse of order 400, 1000 and 2000 took two processes together 205, 1429 and 8781
// ms of processor time, and one alone 16, 276 and 3857 ms. As many right-hand sides of order 400
// and 1000 took 264 and 1741 ms together, 63 and 672 ms alone. Cholesky factors and least squares
// took about as much.
const (
	AloneBits    = 53
	aloneInverse = 4000
	AloneSystem  = 2000
)

// small reports whether a matrix lives on a grid and is small enough for each process to get all of
// it and compute alone.
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

// Alone reports whether each process of a grid computes a result in format f by itself, on its
// CPUs. The result belongs to a system with as many unknowns as a has columns. It does so if
// numbers have at most AloneBits bits, the matrix is small, and the unknowns times the processes
// are at most most. All processes return the same answer.
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

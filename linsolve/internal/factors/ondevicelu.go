package factors

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// luThere returns the factors of a matrix that does not live on the host, where it lives. It
// returns nil if only the host can decide: for entries that are or may be ties or zeros, pivots
// that are not proved to be larger than all other entries of their columns, matrices that are
// singular or too ill-conditioned, and entries too small for products of some bits.
func luThere(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	if a.OnHost() || min(a.Dims()) < seed.Fewest {
		return nil, nil
	}
	return factored(s, place.EliminationFactors, a, func(a num.Mat) (*LUFactors, error) { return LUOnDevice(s, a, f) })
}

// LUOnDevice returns the factors at the run's place; nil if the place does not decide them.
func LUOnDevice(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	m, n := a.Dims()
	if err := s.NewTally(); err != nil {
		return nil, err
	}
	p, err := pivotedThere(s, a, MostBits(f))
	s.Stage("approximate inverse")
	if err != nil || p == nil {
		return nil, err
	}
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	bits := f.Bits() + 4*(terms-1) + call.DeviceGuard
	p.Least = bits - call.DeviceGuard + leastGuard
	e, err := p.Enclosure(bits)
	s.Stage("products")
	if err != nil || e == nil {
		return nil, err
	}
	z := &LUFactors{P: p.Order}
	defer s.Stage("rounding")
	if z.L, err = place.NewMat(place.Of(a.Arr), f, m, p.K); err != nil {
		return nil, err
	}
	if z.U, err = place.NewMat(place.Of(a.Arr), f, p.K, n); err != nil {
		z.L.Free()
		return nil, err
	}
	ok, err := roundedLU(s, z, e, p.one)
	if err != nil || !ok {
		z.L.Free()
		z.U.Free()
		return nil, err
	}
	return z, nil
}

// leastGuard is the least number of guard bits of an enclosure that takes fewer products with it.
// An entry as large as the others of its row or column stays undecided with a probability of about
// 2^(3-leastGuard), so that one of 10^6 entries does with about 10^-4, a guess. The host then
// computes all factors, in a hundred times the time. Fewer bits save three products of order 1000.
const leastGuard = 40

// roundedLU rounds the factors. It reports whether all entries are decided and all entries of L
// below its diagonal are proved to be below 1 - 2^-54 in magnitude, so that the pivots are
// distinct. It needs a unit matrix.
func roundedLU(s *call.Run, z *LUFactors, e *ziv.Enclosure, one num.Mat) (bool, error) {
	m, k := z.L.Dims()
	u := place.Sum{X: e.U.X, D: e.U.D, Bits: e.Bits, Errors: e.U.Err, Rows: e.U.Left, Cols: e.U.Right, Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(u, z.U); err != nil {
		return false, err
	}
	// The part above the diagonal of L^T.
	above := func(a num.Mat) num.Mat { return a.Slice(0, k, 1, m) }
	l := place.Sum{X: above(e.L.X), D: above(e.L.D), Bits: e.Bits, Errors: e.L.Err[1:],
		Rows: e.L.Left, Cols: e.L.Right[1:], Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(l, above(z.L.T())); err != nil {
		return false, err
	}
	if _, err := s.NotSmall(z.L, 1-0x1p-52, s.Tally); err != nil {
		return false, err
	}
	if err := unitDiagonal(s, z.L.Slice(0, k, 0, k), one); err != nil {
		return false, err
	}
	left, err := s.Tallied()
	return left == 0, err
}

// pivotedThere is NewPivoted at the run's place.
func pivotedThere(s *call.Run, a num.Mat, most int) (*Pivoted, error) {
	m, n := a.Dims()
	k := min(m, n)
	x, err := s.Matrix(num.Float64, k, k)
	if err != nil {
		return nil, err
	}
	y, err := s.Matrix(num.Float64, k, k)
	if err != nil {
		return nil, err
	}
	rows, cols, begun, err := s.PivotedTriangles(a.Slice(0, m, 0, k), x, y)
	if err != nil || begun == nil {
		return nil, err
	}
	defer func() {
		if begun != nil {
			begun.Drop()
		}
	}()
	// What does not depend on the order is queued while the place computes the triangles.
	p := &Pivoted{LUNewton: &LUNewton{S: s, K: k, Blocks: ziv.Ones(k), x: x, y: y, By: scale.Scaling{Rows: make([]int64, m), Cols: append(cols, make([]int64, n-k)...)}}}
	f, err := s.Scaled(a, scale.Scaling{Rows: rows, Cols: p.By.Cols}, most)
	if err != nil || f.Arr == nil {
		return nil, err
	}
	if p.F, err = s.Room(f.Format(), m, n); err != nil {
		return nil, err
	}
	if p.one, err = s.Identity(k); err != nil {
		return nil, err
	}
	chosen, ok, err := begun.Settle(s.Config())
	begun = nil
	if err != nil || !ok {
		return nil, err
	}
	if p.Order, ok = exchanged(chosen, m); !ok {
		return nil, nil
	}
	order := make([]int32, m)
	for i, row := range p.Order {
		order[i], p.By.Rows[i] = int32(row), rows[row]
	}
	if err := s.Gather(f, order, p.F); err != nil {
		return nil, err
	}
	s.Drop(f)
	if err := p.sizes(); err != nil {
		return nil, err
	}
	// Entries of L are at most 1 if rows are not scaled.
	p.Amp = p.normS + int(math.Ceil(seed.Log2(float64(k))/2)) + 1
	return p, nil
}

// exchanged returns the order of m rows after exchanges that bring the rows of the pivots to the
// front, one after the other. ok reports whether the pivots are different rows.
func exchanged(pivots []int32, m int) (order []int, ok bool) {
	order = call.All(m)
	at := call.All(m) // the place of each row
	for k, row := range pivots {
		if row < 0 || int(row) >= m || at[row] < k {
			return nil, false
		}
		i := at[row]
		order[k], order[i] = order[i], order[k]
		at[order[k]], at[order[i]] = k, i
	}
	return order, true
}

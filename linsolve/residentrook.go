package linsolve

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// Factors P A P^T = L D L^T at a place have the host's pivots and approximate inverses, products
// are made there. Of blocks of two rows the host computes the entries below the diagonal, fewer
// than n numbers of a matrix.

// rookBelow is what entries of L have to be below at a place: more than the largest that exact
// pivots lead to, 1/(1 - alpha) < 2.781, and less than rookGrowth = 2.79, which the host asks for.
//
// The host takes the seed's pivots if its first enclosure by them proves that no |L[i,j]| exceeds
// 2.79. Let the rounded one not be above 2.785, which NotSmall tells up to 2^-51: of 24 bits or
// more, it is in error by 2^-23 at most, so that |L[i,j]| < 2.7851, in columns of a 1 x 1 and of a
// 2 x 2 block alike. The enclosure that it was rounded from is in error by 2^-32 at most (see
// narrow). The host's comes from the same seed by the same steps, or else from an elimination in
// more bits. It is asked for the same bits, but for those that formats of several terms have more
// here, 12 at most, and both errors lie between 2^-4 and 2^4 of what is asked for: it errs by less
// than 2^(-32+12+8) = 2^-12, and 2.7851 + 2^-12 < 2.79.
const rookBelow = 2.785

// ldltThere returns the factors, where A lives, of a matrix that does not live on the host, by the
// seed of a copy of it; nil where only the host can decide: entries that are or may be ties or
// zeros, pivots that float64 arithmetic does not tell or that are not proved to be good enough,
// singular and too ill-conditioned matrices, numbers that products of some bits do not reach.
func ldltThere(s *call.Run, a num.Mat, f num.Format, seed *rooked) (*LDLTFactors, error) {
	if a.OnHost() || seed == nil || seed.splitting == nil || f.Bits() < num.Float32.Bits() {
		return nil, nil
	}
	if !place.Oblique(place.Of(a.Arr)) { // a grid of processes
		return nil, nil
	}
	return factored(s, a, func() (*LDLTFactors, error) { return ldltResident(s, a, f, seed) })
}

func ldltResident(s *call.Run, a num.Mat, f num.Format, seed *rooked) (*LDLTFactors, error) {
	n := a.Rows
	if err := s.NewTally(); err != nil {
		return nil, err
	}
	t, err := uploaded(s, seed.splitting)
	s.Stage("approximate inverse")
	if err != nil {
		return nil, err
	}
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	e, err := t.enclosure(f.Bits() + 4*(terms-1) + residentGuard)
	s.Stage("products")
	if err != nil || e == nil || !e.narrow() {
		return nil, err
	}
	defer s.Stage("rounding")
	z := &LDLTFactors{P: seed.order, Blocks: seed.blocks}
	if z.L, err = newFactor(place.Of(a.Arr), f, n, n); err != nil {
		return nil, err
	}
	if z.D, err = newFactor(place.Of(a.Arr), f, n, n); err != nil {
		z.L.Free()
		return nil, err
	}
	ok, err := roundedRook(s, z, e)
	if err != nil || !ok {
		z.L.Free()
		z.D.Free()
		return nil, err
	}
	return z, nil
}

// uploaded returns a splitting of the host at the run's place. What is known of its condition is
// found there.
func uploaded(s *call.Run, of *splitting) (*splitting, error) {
	t := &splitting{s: s, k: of.k, blocks: of.blocks, by: of.by}
	t.amp = of.amp
	for _, m := range []struct {
		to *num.Mat
		of num.Mat
	}{{&t.f, of.f}, {&t.x, of.x}, {&t.y, of.y}} {
		var err error
		if *m.to, err = s.Upload(m.of); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// narrow reports whether the entries of L below the diagonal are in error by 2^-32 at most.
func (e *enclosure) narrow() bool {
	y, most := e.l, int64(math.MinInt64/4)
	for i, err := range y.Err {
		if err+1+y.Right[i]+most > -32 {
			return false
		}
		most = max(most, y.Left[i])
	}
	return true
}

// roundedRook rounds factors, and reports whether all entries are decided and those of L are proved
// to be as small as rookBelow says.
func roundedRook(s *call.Run, z *LDLTFactors, e *enclosure) (bool, error) {
	if ok, err := roundedBlocks(s, z, e); !ok || err != nil {
		return false, err
	}
	// L^T lies above a diagonal. Within blocks it has zeros, which nothing decides: until they are
	// stored 4/3 takes their place, of which no format's terms are zeros or ties.
	n := z.L.Rows()
	filler := new(big.Float).SetPrec(uint(e.l.X.Format().Bits()))
	filler.Quo(big.NewFloat(4), big.NewFloat(3))
	if err := change(s, belowDiagonal(e.l.X.T()), z.Blocks, func(h num.Mat, i int) {
		h.SetBig(i, 0, new(big.Float).SetMantExp(filler, int(-e.l.Left[i]-e.l.Right[i+1])))
	}); err != nil {
		return false, err
	}
	if err := change(s, belowDiagonal(e.l.D.T()), z.Blocks, func(h num.Mat, i int) { h.SetFloat64(i, 0, 0) }); err != nil {
		return false, err
	}
	above := func(a num.Mat) num.Mat { return a.Slice(0, n, 1, n) }
	l := place.Sum{X: above(e.l.X), D: above(e.l.D), Bits: e.bits, Errors: e.l.Err[1:], Rows: e.l.Left, Cols: e.l.Right[1:], Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(l, above(z.L.T().View())); err != nil {
		return false, err
	}
	if left, err := s.Tallied(); err != nil || left > 0 {
		return false, err
	}
	if err := change(s, belowDiagonal(z.L.View()), z.Blocks, func(h num.Mat, i int) { h.SetFloat64(i, 0, 0) }); err != nil {
		return false, err
	}
	if count, err := s.NotSmall(z.L.View(), rookBelow); err != nil || count > 0 {
		return false, err
	}
	if err := unitDiagonal(s, z.L.View()); err != nil {
		return false, err
	}
	left, err := s.Tallied()
	return left == 0, err
}

// roundedBlocks rounds D on the host, which has at most 2 n - 1 different entries, and reports
// whether all of them are decided and finite.
func roundedBlocks(s *call.Run, z *LDLTFactors, e *enclosure) (bool, error) {
	n, f := z.D.Rows(), z.D.Format()
	for off := range 2 {
		if off == 1 && len(z.Blocks) == n {
			break
		}
		// Entries (i, i + off) of U, in column i of a row.
		y := &bound.Nearly{Words: e.u.Words, Left: []int64{0}}
		var err error
		if y.X, err = diagonalHere(s, e.u.X.Slice(0, n-off, off, n)); err != nil {
			return false, err
		}
		if y.D, err = diagonalHere(s, e.u.D.Slice(0, n-off, off, n)); err != nil {
			return false, err
		}
		here := num.NewMat(f.View(), n-off, 1)
		u := &unknown{}
		y.X, y.D = y.X.T(), y.D.T()
		for i := range n - off {
			y.Err = append(y.Err, e.u.Err[i+off])
			y.Right = append(y.Right, e.u.Left[i]+e.u.Right[i+off])
		}
		i := 0
		for _, size := range z.Blocks {
			for j := i; j < i+size-off; j++ {
				u.open = append(u.open, wanted{part: ofU, i: 0, j: j, z: here, at: [2]int{j, 0}})
			}
			i += size
		}
		if err := decide(s, u, &enclosure{u: y, bits: e.bits}); err != nil || len(u.open) > 0 {
			return false, err
		}
		for i := range n - off {
			if here.Entry(i, 0).IsInf(0) {
				return false, nil
			}
		}
		there, err := s.Upload(here)
		if err != nil {
			return false, err
		}
		if err := place.Copy(diagonalOf(z.D.Slice(0, n-off, off, n).View()), there); err != nil {
			return false, err
		}
		if err := place.Copy(diagonalOf(z.D.Slice(off, n, 0, n-off).View()), there); err != nil {
			return false, err
		}
		s.Drop(there)
	}
	return true, nil
}

// belowDiagonal returns entries (i + 1, i) of a square matrix as a column of it.
func belowDiagonal(a num.Mat) num.Mat {
	n := a.Rows
	return diagonalOf(a.Slice(1, n, 0, n-1))
}

// columnHere returns a copy on the host of a column at the run's place.
func columnHere(s *call.Run, a num.Mat) (num.Mat, error) {
	z, err := s.Room(a.Format(), a.Rows, 1)
	if err != nil {
		return num.Mat{}, err
	}
	defer s.Drop(z)
	if err := place.Copy(z, a); err != nil {
		return num.Mat{}, err
	}
	return place.On(nil, z)
}

// change sets, for each block of two rows, number i of a column at the run's place, if i is the
// block's first row: f does so in a copy on the host.
func change(s *call.Run, column num.Mat, blocks []int, f func(h num.Mat, i int)) error {
	if len(blocks) == column.Rows+1 { // of one row each
		return nil
	}
	h, err := columnHere(s, column)
	if err != nil {
		return err
	}
	i := 0
	for _, size := range blocks {
		if size == 2 {
			f(h, i)
		}
		i += size
	}
	there, err := s.Upload(h)
	if err != nil {
		return err
	}
	defer s.Drop(there)
	return place.Copy(column, there)
}

// partThere is split at a place.
func (t *splitting) partThere(a, lower, upper num.Mat) error {
	if err := t.s.PartTriangles(a, lower, upper); err != nil {
		return err
	}
	if len(t.blocks) == t.k {
		return nil
	}
	var moved num.Mat // from one to the other, which has zeros there
	err := change(t.s, belowDiagonal(lower), t.blocks, func(h num.Mat, i int) {
		if moved.Arr == nil {
			moved = num.NewMat(h.Format(), h.Rows, 1)
		}
		moved.SetBig(i, 0, h.Big(i, 0))
		h.SetFloat64(i, 0, 0)
	})
	if err != nil {
		return err
	}
	return change(t.s, belowDiagonal(upper), t.blocks, func(h num.Mat, i int) { h.SetBig(i, 0, moved.Big(i, 0)) })
}

// belowThere is what upperProduct does below the diagonal, at a place.
func (t *splitting) belowThere(alpha float64, a, b, d num.Mat) error {
	if len(t.blocks) == t.k {
		return nil
	}
	var here [4]num.Mat
	for i, m := range []num.Mat{diagonalOf(a), belowDiagonal(a), diagonalOf(b), belowDiagonal(b)} {
		var err error
		if here[i], err = columnHere(t.s, m); err != nil {
			return err
		}
	}
	return change(t.s, belowDiagonal(d), t.blocks, func(h num.Mat, i int) {
		x := belowProduct(here[1].Big(i, 0), here[0].Big(i+1, 0), here[2].Big(i, 0), here[3].Big(i, 0))
		h.SetBig(i, 0, x.Mul(x, big.NewFloat(alpha)))
	})
}

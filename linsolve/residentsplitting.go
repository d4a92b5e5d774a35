package linsolve

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// Splittings live where A does, as doublings do (residentfactors.go). The functions here are what
// is different at a place: products there need not be rounded correctly, and norms come from it.

// splitSizes are exponents of bounds of what a splitting at a place has.
type splitSizes struct {
	normF, topF int  // ‖F‖∞ and entries of F, its leading part
	normS, topS int  // those of S
	normT, topT int  // those of T
	normW       int  // ‖S F‖∞, whatever the steps
	normV       int  // ‖V‖∞
	measured    bool // those of F are known
	off         int  // entries of V are in error by 2^off at most beside their rounding
	// what products want to know
	fRows, fCols, sRows, sCols, tRows, tCols, vRows, vCols *residue.Vectors
}

// small are rows, or columns, of k numbers whose matrix is at most 2^top in the norm ‖·‖∞.
func (t *splitting) small(columns bool, top int) *residue.Vectors {
	sum := int64(top)
	if columns {
		sum += int64(bits.Len(uint(t.k)))
	}
	return uniformVectors(t.k, t.k, int64(top), sum)
}

// sizesOf returns exponents of bounds of the norm ‖M‖∞ and of the entries, given the extents of the
// rows.
func sizesOf(x place.Extents) (norm, top int) {
	_, most := call.Sums(x)
	norm, top = -bound.MaxBits, -bound.MaxBits // of zeros
	if most.Sign() > 0 {
		norm = most.MantExp(nil)
	}
	for _, t := range x.Top {
		top = max(top, int(max(t, -bound.MaxBits)))
	}
	return norm, top
}

// extent is sizesOf a matrix at the run's place, in MP.
func extent(s *call.Run, m num.Mat) (norm, top int, err error) {
	x, err := s.Extents(m)
	if err != nil {
		return 0, 0, err
	}
	norm, top = sizesOf(x[0])
	return norm, top, nil
}

// luThere returns the factors, where A lives, of a matrix that does not live on the host; nil where
// only the host can decide: entries that are or may be ties or zeros, pivots that are not proved to
// be larger than all others of their columns, singular and too ill-conditioned matrices, numbers
// that products of some bits do not reach.
func luThere(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	if a.OnHost() || min(a.Dims()) < fewest {
		return nil, nil
	}
	return factored(s, a, func() (*LUFactors, error) { return luResident(s, a, f) })
}

func luResident(s *call.Run, a num.Mat, f num.Format) (*LUFactors, error) {
	m, n := a.Dims()
	if err := s.NewTally(); err != nil {
		return nil, err
	}
	p, err := pivotedThere(s, a, mostBits(f))
	s.Stage("approximate inverse")
	if err != nil || p == nil {
		return nil, err
	}
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	bits := f.Bits() + 4*(terms-1) + residentGuard
	e, err := p.enclosure(bits)
	s.Stage("products")
	if err != nil || e == nil {
		return nil, err
	}
	z := &LUFactors{P: p.order}
	defer s.Stage("rounding")
	if z.L, err = newFactor(place.Of(a.Arr), f, m, p.k); err != nil {
		return nil, err
	}
	if z.U, err = newFactor(place.Of(a.Arr), f, p.k, n); err != nil {
		z.L.Free()
		return nil, err
	}
	ok, err := roundedSplitting(s, z, e)
	if err != nil || !ok {
		z.L.Free()
		z.U.Free()
		return nil, err
	}
	return z, nil
}

// roundedSplitting rounds factors, and reports whether all entries are decided and all of L below
// its diagonal are proved to be below 1 - 2^-54: those are distinct pivots.
func roundedSplitting(s *call.Run, z *LUFactors, e *enclosure) (bool, error) {
	m, k := z.L.Dims()
	u := place.Sum{X: e.u.X, D: e.u.D, Bits: e.bits, Errors: e.u.Err, Rows: e.u.Left, Cols: e.u.Right, Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(u, z.U.View()); err != nil {
		return false, err
	}
	// What lies above the diagonal of L^T.
	above := func(a num.Mat) num.Mat { return a.Slice(0, k, 1, m) }
	l := place.Sum{X: above(e.l.X), D: above(e.l.D), Bits: e.bits, Errors: e.l.Err[1:],
		Rows: e.l.Left, Cols: e.l.Right[1:], Triangle: 'U', Tally: s.Tally}
	if _, err := s.SumThere(l, above(z.L.T().View())); err != nil {
		return false, err
	}
	if count, err := s.NotSmall(z.L.View(), 1-0x1p-52); err != nil || count > 0 {
		return false, err
	}
	if err := unitDiagonal(s, z.L.Slice(0, k, 0, k).View()); err != nil {
		return false, err
	}
	left, err := s.Tallied()
	return left == 0, err
}

// unitDiagonal makes the diagonal of a square matrix at the run's place 1.
func unitDiagonal(s *call.Run, a num.Mat) error {
	n := a.Rows
	ones := num.NewMat(num.Precision(24), n, 1)
	for i := range n {
		one(ones, i, 0)
	}
	x, err := s.Upload(ones)
	if err != nil {
		return err
	}
	d, err := s.Matrix(num.Precision(24), n, 1)
	if err != nil {
		return err
	}
	diagonal := place.Sum{X: x, D: d, Bits: 24, Tally: s.Tally}
	_, err = s.SumThere(diagonal, diagonalOf(a))
	return err
}

// pivotedThere is newPivoted at the run's place.
func pivotedThere(s *call.Run, a num.Mat, most int) (*pivoted, error) {
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
	rows, cols, chosen, ok, err := s.PivotedTriangles(a.Slice(0, m, 0, k), x, y)
	if err != nil || !ok {
		return nil, err
	}
	p := &pivoted{splitting: &splitting{s: s, k: k, blocks: ones(k), by: scale.Scaling{Rows: make([]int64, m), Cols: append(cols, make([]int64, n-k)...)}}}
	if p.order, ok = exchanged(chosen, m); !ok {
		return nil, nil
	}
	order := make([]int32, m)
	for i, row := range p.order {
		order[i], p.by.Rows[i] = int32(row), rows[row]
	}
	f, err := s.Scaled(a, scale.Scaling{Rows: rows, Cols: p.by.Cols}, most)
	if err != nil || f.Arr == nil {
		return nil, err
	}
	if p.f, err = s.Matrix(f.Format(), m, n); err != nil {
		return nil, err
	}
	if err := s.Gather(f, order, p.f); err != nil {
		return nil, err
	}
	s.Drop(f)
	for _, m := range []struct{ to, of *num.Mat }{{&p.x, &x}, {&p.y, &y}} {
		if *m.to, err = s.Scaled(*m.of, scale.Unscaled(k, k), most); err != nil || m.to.Arr == nil {
			return nil, err
		}
		s.Drop(*m.of)
	}
	// Entries of L are at most 1 where rows are not scaled.
	norm, _, err := extent(s, p.x)
	if err != nil {
		return nil, err
	}
	p.amp = norm + int(math.Ceil(log2(float64(k))/2)) + 1
	return p, nil
}

// exchanged returns the order of m rows after exchanges that bring the rows of pivots to the front,
// one after the other, and whether they are different rows.
func exchanged(pivots []int32, m int) (order []int, ok bool) {
	order = all(m)
	at := all(m) // where rows are
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

// spread returns amp for V, of which it finds out what is needed at a place.
func (t *splitting) spread(v num.Mat) (int, error) {
	if t.s.At == nil {
		left, right, err := bothMagnitudes(t.s, t.x, v)
		if err != nil {
			return 0, err
		}
		return sizeOf(float64((call.LargestOf(left.times(right.rows())) + t.cond) * (1 + 0x1p-50))), nil
	}
	x, err := t.s.Extents(v, v.T())
	if err != nil {
		return 0, err
	}
	t.normV, _ = sizesOf(x[0])
	t.vRows, t.vCols = vectorsOf(x[0]), vectorsOf(x[1])
	rows, _, err := t.s.Spread(t.x, v)
	return sizeOf(float64((rows + t.cond) * (1 + 0x1p-50))), err
}

// findCond finds cond, if that is not known, and at a place the norm of S F.
//
// W = S F is known up to 2^-24 of its entries and, at a place, 2^off. With ‖E‖ ≤ 2^-8, which is
// proved where cond counts, |T^-1| = |(I + E)^-1 W| has ‖|T^-1| |T|‖ ≤ 1.01 ‖|W| |T|‖.
func (t *splitting) findCond() error {
	if t.cond > 0 {
		return nil
	}
	n := t.k
	w, err := t.s.Matrix(num.Precision(24), n, n)
	if err != nil {
		return err
	}
	// n 2^off ‖T‖ ≤ 2^-24
	top, off := t.normS+t.topF, -24-bits.Len(uint(n))-max(t.normT, 0)
	within := t.s.Known(uniform(t.s, n, top, max(top-off, 1)), t.sRows, t.fCols)
	if err := t.s.GemmOfTriangles(0, 1, t.x, t.f.Slice(0, n, 0, n), 0, num.Mat{}, w, [2]byte{'L', 0}, within); err != nil {
		return err
	}
	if t.s.At == nil {
		left, right, err := bothMagnitudes(t.s, w, t.y)
		if err != nil {
			return err
		}
		norm, _ := sizesHere(w)
		t.normW = max(norm, 0) + 1
		t.foundCond(call.LargestOf(left.times(right.rows())))
		return nil
	}
	rows, _, err := t.s.Spread(w, t.y)
	if err != nil {
		return err
	}
	norm, _, err := extent(t.s, w)
	if err != nil {
		return err
	}
	t.s.Drop(w)
	t.normW = max(norm, 0) + 1 // and n 2^off
	t.foundCond(rows)
	return nil
}

// sizesHere returns exponents of bounds of the norm of a matrix in MP on the host and of its
// numbers.
func sizesHere(m num.Mat) (norm, top int) {
	return call.RowNorm64(m).MantExp(nil), int(max(largestTop(m), -bound.MaxBits))
}

// foundCond takes cond from a bound of ‖|W| |T|‖∞.
func (t *splitting) foundCond(norm float64) {
	t.cond = float64(1.01*float64(norm*(1+0x1p-20))) + 0x1p-20
	t.amp = max(t.amp, sizeOf(t.cond)) + 1
}

// tolerance finds sizes, and returns what V is known to be bounded by where it need not be rounded
// correctly; else nil. Errors δ of V beside its rounding add S δ to E: with all |δ| ≤ 2^off its
// norm is k ‖S‖ 2^off at most, 2^(amp - width - 1) altogether.
func (t *splitting) tolerance(width int) (*residue.Bound, error) {
	if t.s.At == nil {
		t.normS, t.topS = sizesHere(t.x)
		t.normT, t.topT = sizesHere(t.y)
		t.normF, t.topF = sizesHere(t.f.Slice(0, t.k, 0, t.k))
		return t.withinOff(width), nil
	}
	list := []num.Mat{t.x, t.x.T(), t.y, t.y.T()}
	if !t.measured {
		f := t.f.Slice(0, t.k, 0, t.k)
		list = append(list, f, f.T())
	}
	x, err := t.s.Extents(list...)
	if err != nil {
		return nil, err
	}
	t.normS, t.topS = sizesOf(x[0])
	t.normT, t.topT = sizesOf(x[2])
	t.sRows, t.sCols, t.tRows, t.tCols = vectorsOf(x[0]), vectorsOf(x[1]), vectorsOf(x[2]), vectorsOf(x[3])
	if !t.measured {
		t.measured = true
		t.normF, t.topF = sizesOf(x[4])
		t.fRows, t.fCols = vectorsOf(x[4]), vectorsOf(x[5])
	}
	return t.withinOff(width), nil
}

// withinOff is the end of tolerance.
func (t *splitting) withinOff(width int) *residue.Bound {
	top := t.normF + t.topT
	t.off = min(t.amp-width-1-bits.Len(uint(t.k))-t.normS, top-1)
	return t.s.Known(uniform(t.s, t.k, top, top-t.off), t.fRows, t.tCols)
}

// stepTolerances returns what the products X S and T Y of a step are known to be bounded by where
// they need not be rounded correctly; else nil. Errors δ and θ of them beside their rounding, at
// most 2^off and 2^of each, add δ F T' and S' F θ to what is left of E, of norms of at most
//
//	n 2^off ‖V‖ 1.1,  n 2^of ‖S F‖ 1.1
//
// as F T' = V (I - Y) and S' F = (I - X) S F: a quarter of 2^(amp - prec) each, but for 1.1. What
// is of second order, with the roundings ζ and η, at most 2^(2-prec) of S and T in the norm, is
//
//	δ F θ,  δ F η,  ζ F θ:    n 2^off (‖F‖ n 2^of + ‖F‖ 2^(2-prec) ‖T‖) + 2^(2-prec) ‖S‖ ‖F‖ n 2^of
//
// and less than another quarter if both ‖F‖ n 2^of and ‖F‖ 2^(2-prec) ‖T‖ are below 2^-6 and
// ‖S‖ ‖F‖ n 2^of is below 2^(amp-5).
func (t *splitting) stepTolerances(prec int) (left, right *residue.Bound) {
	if t.s.At == nil {
		return nil, nil
	}
	length := bits.Len(uint(t.k))
	off := t.amp - prec - max(t.normV, 0) - length - 2
	of := t.amp - prec - max(t.normW, 0) - length - 2
	if t.normF+length+of > -6 || t.normF+2-prec+t.normT > -6 || t.normS+t.normF+length+of > t.amp-5 {
		return nil, nil
	}
	g := t.gain
	bound := func(top, off int) *residue.Bound { return uniform(t.s, t.k, top, max(top-off, 1)) }
	left = t.s.Known(bound(1-g+t.topS, off), t.small(false, 1-g), t.sCols)
	right = t.s.Known(bound(1-g+t.normT, of), t.tRows, t.small(true, 1-g))
	return left, right
}

// finishTolerances are what the products of the last step are known to be bounded by where they
// need not be rounded correctly: the upper triangle of W = S F, and what lies beside and below the
// leading parts of W and V.
type finishTolerances struct {
	leading, right, below *residue.Bound
	rows, cols            []int64 // rows of L and columns of U are in error by 2^these
}

// finishTolerances asks for errors of about 2^-places of the rows of L and the columns of U, of
// which those of F tell the sizes, about.
//
// With rows of V and columns of W in error by 2^off, those of L = V (I - Y) and U = (I - X) W are
// by 2^off (1 + k max |Y|) and 2^off (1 + ‖X‖∞) at most, and max |Y| and ‖X‖∞ by 2^(1-gain).
func (t *splitting) finishTolerances(places int) (z finishTolerances, err error) {
	m, n := t.f.Dims()
	top := t.normS + t.topF
	off := min(-places-8, top-1)
	z.leading = t.s.Known(uniform(t.s, t.k, top, top-off), t.sRows, t.fCols)
	grown := 1 + max(bits.Len(uint(t.k))+1-t.gain, 0)
	for range t.k {
		z.rows, z.cols = append(z.rows, int64(t.off+grown)), append(z.cols, int64(off+1))
	}
	spare := places + 8 + bits.Len(uint(t.k))
	same := func(x int) []int64 {
		z := make([]int64, t.k)
		for i := range z {
			z[i] = int64(x)
		}
		return z
	}
	if n > t.k {
		tops, err := t.s.ColumnTops(t.f.Slice(0, t.k, t.k, n), -bound.MaxBits)
		if err != nil {
			return z, err
		}
		z.right = &residue.Bound{Rows: same(t.normS), Cols: tops, Within: int64(max(t.normS, 0) + spare)}
		for _, top := range tops {
			z.cols = append(z.cols, int64(t.normS+1)+top-z.right.Within)
		}
	}
	if m > t.k {
		tops, err := rowTops(t.s, t.f.Slice(t.k, m, 0, t.k))
		if err != nil {
			return z, err
		}
		if err := t.findCond(); err != nil {
			return z, err
		}
		z.below = &residue.Bound{Cols: same(t.topT), Within: int64(max(t.topT, 0) + max(t.normW, 0) + spare)}
		for _, top := range tops {
			top = max(top, -bound.MaxBits)
			z.below.Rows = append(z.below.Rows, top)
			z.rows = append(z.rows, int64(t.topT+grown)+top-z.below.Within)
		}
	}
	return z, nil
}

// errorsOf returns exponents of bounds of the errors of rows or columns of sizes 2^tops which are
// lost of that, and at a place 2^offs beside that.
func errorsOf(tops []int64, lost *big.Float, offs []int64) []int64 {
	e := make([]int64, len(tops))
	for i, top := range tops {
		if e[i] = top + int64(lost.MantExp(nil)); offs != nil {
			e[i] = max(e[i], offs[i]) + 1
		}
	}
	return e
}

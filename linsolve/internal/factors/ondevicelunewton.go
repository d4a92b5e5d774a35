package factors

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/residue"
)

// LU factors by products live where A does, as those of Cholesky factors do. The functions here are
// what is different at a place: products there need not be rounded correctly, and norms come from
// it.

// luSizes are exponents of bounds of what an LUNewton has.
type luSizes struct {
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
func (t *LUNewton) small(columns bool, top int) *residue.Vectors {
	sum := int64(top)
	if columns {
		sum += int64(bits.Len(uint(t.K)))
	}
	return call.UniformVectors(t.K, t.K, int64(top), sum)
}

// spread returns amp for V, of which it finds out what products are to be told.
func (t *LUNewton) spread(v num.Mat) (int, error) {
	if t.S.At.UsesBounds() {
		x, err := t.S.Measure(v, v.T())
		if err != nil {
			return 0, err
		}
		t.normV, _ = x[0].Size()
		t.vRows, t.vCols = x[0].Vectors(), x[1].Vectors()
	}
	rows, err := t.S.RowSpread(t.x, v)
	return call.SizeOf(float64((rows + t.cond) * (1 + 0x1p-50))), err
}

// findCond finds cond, if that is not known, and at a place the norm of S F.
//
// W = S F is known up to 2^-24 of its entries and, at a place, 2^off. With ‖E‖ ≤ 2^-8, which is
// proved where cond counts, |T^-1| = |(I + E)^-1 W| has ‖|T^-1| |T|‖ ≤ 1.01 ‖|W| |T|‖.
func (t *LUNewton) findCond() error {
	if t.cond > 0 {
		return nil
	}
	n := t.K
	w, err := t.S.Matrix(num.Precision(24), n, n)
	if err != nil {
		return err
	}
	// n 2^off ‖T‖ ≤ 2^-24
	top, off := t.normS+t.topF, -24-bits.Len(uint(n))-max(t.normT, 0)
	within := t.S.Known(uniform(t.S, n, top, max(top-off, 1)), t.sRows, t.fCols)
	if err := t.S.GemmOfTriangles(0, 1, t.x, t.F.Slice(0, n, 0, n), 0, num.Mat{}, w, [2]byte{'L', 0}, within); err != nil {
		return err
	}
	size, err := t.S.RowSpread(w, t.y)
	if err != nil {
		return err
	}
	norm, _, err := t.S.Size(w)
	if err != nil {
		return err
	}
	t.S.Drop(w)
	t.normW = max(norm, 0) + 1 // and n 2^off
	t.cond = float64(1.01*float64(size*(1+0x1p-20))) + 0x1p-20
	t.Amp = max(t.Amp, call.SizeOf(t.cond)) + 1
	return nil
}

// tolerance finds sizes, and returns what V is known to be bounded by where it need not be rounded
// correctly; else nil. Errors δ of V beside its rounding add S δ to E: with all |δ| ≤ 2^off its
// norm is k ‖S‖ 2^off at most, 2^(amp - width - 1) altogether.
func (t *LUNewton) tolerance(width int) (*residue.Bound, error) {
	list := []num.Mat{t.x, t.x.T(), t.y, t.y.T()}
	if !t.measured {
		f := t.F.Slice(0, t.K, 0, t.K)
		list = append(list, f, f.T())
	}
	x, err := t.S.Measure(list...)
	if err != nil {
		return nil, err
	}
	t.normS, t.topS = x[0].Size()
	t.normT, t.topT = x[2].Size()
	t.sRows, t.sCols, t.tRows, t.tCols = x[0].Vectors(), x[1].Vectors(), x[2].Vectors(), x[3].Vectors()
	if !t.measured {
		t.measured = true
		t.normF, t.topF = x[4].Size()
		t.fRows, t.fCols = x[4].Vectors(), x[5].Vectors()
	}
	top := t.normF + t.topT
	t.off = min(t.Amp-width-1-bits.Len(uint(t.K))-t.normS, top-1)
	return t.S.Known(uniform(t.S, t.K, top, top-t.off), t.fRows, t.tCols), nil
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
func (t *LUNewton) stepTolerances(prec int) (left, right *residue.Bound) {
	if !t.S.At.UsesBounds() {
		return nil, nil
	}
	length := bits.Len(uint(t.K))
	off := t.Amp - prec - max(t.normV, 0) - length - 2
	of := t.Amp - prec - max(t.normW, 0) - length - 2
	if t.normF+length+of > -6 || t.normF+2-prec+t.normT > -6 || t.normS+t.normF+length+of > t.Amp-5 {
		return nil, nil
	}
	g := t.Gain
	bound := func(top, off int) *residue.Bound { return uniform(t.S, t.K, top, max(top-off, 1)) }
	left = t.S.Known(bound(1-g+t.topS, off), t.small(false, 1-g), t.sCols)
	right = t.S.Known(bound(1-g+t.normT, of), t.tRows, t.small(true, 1-g))
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
func (t *LUNewton) finishTolerances(places int) (z finishTolerances, err error) {
	m, n := t.F.Dims()
	top := t.normS + t.topF
	off := min(-places-8, top-1)
	z.leading = t.S.Known(uniform(t.S, t.K, top, top-off), t.sRows, t.fCols)
	grown := 1 + max(bits.Len(uint(t.K))+1-t.Gain, 0)
	for range t.K {
		z.rows, z.cols = append(z.rows, int64(t.off+grown)), append(z.cols, int64(off+1))
	}
	spare := places + 8 + bits.Len(uint(t.K))
	same := func(x int) []int64 {
		z := make([]int64, t.K)
		for i := range z {
			z[i] = int64(x)
		}
		return z
	}
	if n > t.K {
		tops, err := t.S.ColumnTops(t.F.Slice(0, t.K, t.K, n), -bound.MaxBits)
		if err != nil {
			return z, err
		}
		z.right = &residue.Bound{Rows: same(t.normS), Cols: tops, Within: int64(max(t.normS, 0) + spare)}
		for _, top := range tops {
			z.cols = append(z.cols, int64(t.normS+1)+top-z.right.Within)
		}
	}
	if m > t.K {
		tops, err := t.S.RowSums(t.F.Slice(t.K, m, 0, t.K))
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

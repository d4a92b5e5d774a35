package factors

import (
	"cmp"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/residue"
)

// LUNewton runs where A lives, like CholeskyNewton. This file holds the differences at a place:
// products there need not be correctly rounded, and norms are computed there.

// luSizes are exponents of bounds of the matrices of an LUNewton.
type luSizes struct {
	normF, topF int        // ‖F‖∞ and entries of F, for its leading part
	normS, topS int        // the same for S
	sizeS       *big.Float // ≥ ‖S‖∞
	normT, topT int        // the same for T
	normW       int        // ‖S F‖∞, before and after every step
	normV       int        // ‖V‖∞
	sized       bool       // the sizes of the rows of S and the columns of T are known
	across      bool       // the sizes of the columns of S and the rows of T are known
	measured    bool       // the sizes of F are known
	off         int        // entries of V are in error by at most 2^off beside their rounding
	// sizes of rows and columns, for the bounds of products
	fRows, fCols, sRows, sCols, tRows, tCols, vRows, vCols *residue.Vectors
	// exponents of bounds of the sums of magnitudes of rows of V
	vSums []int64
}

// small returns the sizes of the rows, or columns, of a k x k matrix with ‖·‖∞ ≤ 2^top.
func (t *LUNewton) small(columns bool, top int) *residue.Vectors {
	sum := int64(top)
	if columns {
		sum += int64(bits.Len(uint(t.K)))
	}
	return call.UniformVectors(t.K, t.K, int64(top), sum)
}

// luAhead holds results that a place computes before they are known to be needed, while the host
// would wait. They belong to the last V and E.
type luAhead struct {
	w            num.Mat // the leading part of W = S F in a k x n matrix; may be missing
	wOff         int     // entries of W may be in error by 2^wOff beside their rounding
	wCols        call.Extent
	square       num.Mat // -(X1 E + Y1²) in Float64, or the parts of E in lower and upper
	lower, upper num.Mat
}

// goAhead computes the leading part of W in width bits if the next step is expected to be the last
// one. It drops the results that belonged to an earlier V.
func (t *LUNewton) goAhead(width int) (err error) {
	for _, m := range []num.Mat{t.w, t.square, t.lower, t.upper} {
		if m.Arr != nil {
			t.S.Drop(m)
		}
	}
	t.luAhead = luAhead{}
	if t.last && t.S.At.UsesBounds() {
		t.w, err = t.upperPart(width-t.Amp-4, width)
	}
	return err
}

// lookInto computes the square of E, or where that is not possible the parts of E.
func (t *LUNewton) lookInto(e num.Mat) (err error) {
	if !t.S.At.UsesBounds() {
		return nil
	}
	if len(t.Blocks) == t.K {
		if t.square, err = t.S.SquareThere(e); err != nil || t.square.Arr != nil {
			return err
		}
	}
	t.lower, t.upper, err = t.split(e)
	return err
}

// bySquare returns the x and y of correction and the error lost of E' from the square of E in
// float64 arithmetic, if three terms suffice and the square is accurate enough; else x has no
// array.
//
// By place.Squaring the norm of the error of the square is at most (n + 16) 2^-51 ‖E‖², and n
// 2^-900. The error of E' counts four times, as in correction.
func (t *LUNewton) bySquare(e num.Mat, places int) (x, y num.Mat, lost *big.Float, err error) {
	z, g := t.square, t.Gain
	t.square = num.Mat{}
	if z.Arr == nil {
		return num.Mat{}, num.Mat{}, nil, nil
	}
	defer t.S.Drop(z)
	lost = bound.Exp2(bits.Len(uint(t.K+16)) - 51 + 2 - 2*g)
	format := num.Precision(uint(max(places-g+4, 24)))
	if order(g, places+3) != 3 || lost.MantExp(nil) > -places-3 || max(e.Format().Bits(), format.Bits()) > place.MostSummed {
		return num.Mat{}, num.Mat{}, nil, nil
	}
	lost.Add(lost, bound.Exp2(-800))
	s, err := t.S.Room(format, t.K, t.K)
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if err := t.S.Sum(e, z, s); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	t.S.Drop(e)
	x, y, err = t.split(s)
	t.S.Drop(s)
	lost.Add(lost, bound.Exp2(3-3*g))
	return x, y, lost.Add(lost, bound.Exp2(1-g-format.Bits())), err
}

// upperPart returns W, of which the upper triangle of the leading part is computed, in width bits,
// up to errors of about 2^-places; or the W of goAhead.
func (t *LUNewton) upperPart(places, width int) (num.Mat, error) {
	if t.w.Arr != nil {
		w := t.w
		t.w = num.Mat{}
		return w, nil
	}
	k := t.K
	w, err := t.S.Matrix(num.Precision(uint(width)), k, t.F.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	top := t.normS + t.topF
	t.wOff = min(-places-8, top-1)
	limit := t.S.Known(uniform(t.S, k, top, top-t.wOff), t.sRows, t.fCols)
	return w, t.S.GemmOfTriangles('U', 1, t.x, t.F.Slice(0, k, 0, k), 0, num.Mat{}, w.Slice(0, k, 0, k), [2]byte{'L', 0}, limit)
}

// nearAmp bounds the bits by which ‖S‖∞ ‖V‖∞ may exceed the guess of amp for it to be used in place
// of ‖|S| |V|‖∞, which takes longer to compute.
const nearAmp = 4

// spread returns amp for V. At a place it also measures V for the bounds of later products, and W.
func (t *LUNewton) spread(v num.Mat) (int, error) {
	if t.S.At.UsesBounds() {
		list := []num.Mat{v, v.T()}
		if t.w.Arr != nil {
			list = append(list, t.w.Slice(0, t.K, 0, t.K).T())
		}
		x, err := t.S.Measure(list...)
		if err != nil {
			return 0, err
		}
		t.normV, _ = x[0].Size()
		t.vRows, t.vCols, t.vSums = x[0].Vectors(), x[1].Vectors(), x[0].Sums()
		if t.w.Arr != nil {
			t.wCols = x[2]
		}
		sum := bound.Upper().Mul(t.sizeS, x[0].Norm())
		if amp := sum.Add(sum, new(big.Float).SetFloat64(t.cond)).MantExp(nil); amp <= t.Amp+nearAmp {
			return amp, nil
		}
	}
	if err := t.convert(); err != nil {
		return 0, err
	}
	rows, err := t.S.RowSpread(t.x, v)
	return call.SizeOf(float64((rows + t.cond) * (1 + 0x1p-50))), err
}

// convert converts S and T to MP.
func (t *LUNewton) convert() error { return cmp.Or(inMP(t.S, &t.x), inMP(t.S, &t.y)) }

// findCond computes cond, if that is not known, and at a place the norm of S F.
//
// Entries of W = S F have relative errors of 2^-24 and, at a place, further errors of 2^off. With
// ‖E‖ ≤ 2^-8, which is proved wherever cond matters, |T^-1| = |(I + E)^-1 W|, so that
// ‖|T^-1| |T|‖ ≤ 1.01 ‖|W| |T|‖.
func (t *LUNewton) findCond() error {
	if t.cond > 0 {
		return nil
	}
	if err := t.convert(); err != nil {
		return err
	}
	if err := t.stepSizes(); err != nil {
		return err
	}
	n := t.K
	w, err := t.S.Room(num.Precision(24), n, n)
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

// tolerance returns the known bound of the entries of V, with the error that V may have where it
// need not be correctly rounded; else nil. It measures S and T if they are not measured. Errors δ
// of V beside its rounding add S δ to E. If all |δ| ≤ 2^off, the norm of S δ is at most k ‖S‖
// 2^off, which is at most 2^(amp - width - 1).
func (t *LUNewton) tolerance(width int) (*residue.Bound, error) {
	if !t.sized {
		if err := t.sizes(); err != nil {
			return nil, err
		}
	}
	top := t.normF + t.topT
	t.off = min(t.Amp-width-1-bits.Len(uint(t.K))-t.normS, top-1)
	return t.S.Known(uniform(t.S, t.K, top, top-t.off), t.fRows, t.tCols), nil
}

// sizes measures the rows of S, the columns of T and, the first time, F.
func (t *LUNewton) sizes() error {
	list := []num.Mat{t.x, t.y.T()}
	if !t.measured {
		f := t.F.Slice(0, t.K, 0, t.K)
		list = append(list, f, f.T())
	}
	x, err := t.S.Measure(list...)
	if err != nil {
		return err
	}
	t.sized = true
	t.normS, t.topS = x[0].Size()
	t.sizeS = x[0].Norm()
	_, t.topT = x[1].Size()
	t.sRows, t.tCols = x[0].Vectors(), x[1].Vectors()
	if !t.measured {
		t.measured = true
		t.normF, t.topF = x[2].Size()
		t.fRows, t.fCols = x[2].Vectors(), x[3].Vectors()
	}
	return nil
}

// stepSizes measures the columns of S and the rows of T for a step, unless they are measured.
func (t *LUNewton) stepSizes() error {
	if t.across {
		return nil
	}
	x, err := t.S.Measure(t.x.T(), t.y)
	if err != nil {
		return err
	}
	t.across = true
	t.normT, _ = x[1].Size()
	t.sCols, t.tRows = x[0].Vectors(), x[1].Vectors()
	return nil
}

// stepTolerances returns the known bounds of the entries of the products X S and T Y of a step,
// with the errors that the products may have where they need not be correctly rounded; else nil.
// Let δ and θ be these errors beside the roundings, with entries of at most 2^off and 2^of. They
// add δ F T' and S' F θ to the remaining E, with norms of at most
//
//	n 2^off ‖V‖ 1.1,  n 2^of ‖S F‖ 1.1
//
// as F T' = V (I - Y) and S' F = (I - X) S F. Each is a quarter of 2^(amp - prec), up to the factor
// 1.1. With the roundings ζ and η of S' and T', whose norms are at most 2^(2-prec) ‖S‖ and
// 2^(2-prec) ‖T‖, the terms of second order are
//
//	δ F θ,  δ F η,  ζ F θ:    n 2^off (‖F‖ n 2^of + ‖F‖ 2^(2-prec) ‖T‖) + 2^(2-prec) ‖S‖ ‖F‖ n 2^of
//
// They are less than another quarter if both ‖F‖ n 2^of and ‖F‖ 2^(2-prec) ‖T‖ are below 2^-6 and
// ‖S‖ ‖F‖ n 2^of is below 2^(amp-5).
func (t *LUNewton) stepTolerances(prec int) (left, right *residue.Bound, err error) {
	if !t.S.At.UsesBounds() {
		return nil, nil, nil
	}
	if err := t.stepSizes(); err != nil {
		return nil, nil, err
	}
	length := bits.Len(uint(t.K))
	off := t.Amp - prec - max(t.normV, 0) - length - 2
	of := t.Amp - prec - max(t.normW, 0) - length - 2
	if t.normF+length+of > -6 || t.normF+2-prec+t.normT > -6 || t.normS+t.normF+length+of > t.Amp-5 {
		return nil, nil, nil
	}
	g := t.Gain
	bound := func(top, off int) *residue.Bound { return uniform(t.S, t.K, top, max(top-off, 1)) }
	left = t.S.Known(bound(1-g+t.topS, off), t.small(false, 1-g), t.sCols)
	right = t.S.Known(bound(1-g+t.normT, of), t.tRows, t.small(true, 1-g))
	return left, right, nil
}

// finishTolerances are the known bounds of the products of the last step where they need not be
// correctly rounded: of W right of its leading part (right), and of V below its leading part
// (below).
type finishTolerances struct {
	right, below *residue.Bound
	rows, cols   []int64 // exponents of error bounds of rows of L and columns of U
}

// finishTolerances requests errors of about 2^-places relative to the rows of L and the columns of
// U, whose sizes it estimates from the rows and columns of F. The leading part of W exists.
//
// If rows of V and columns of W have errors of 2^off, the errors of L = V (I - Y) and U = (I - X) W
// are at most 2^off (1 + k max |Y|) and 2^off (1 + ‖X‖∞). max |Y| and ‖X‖∞ are at most 2^(1-gain).
func (t *LUNewton) finishTolerances(places int) (z finishTolerances, err error) {
	m, n := t.F.Dims()
	grown := 1 + max(bits.Len(uint(t.K))+1-t.Gain, 0)
	for range t.K {
		z.rows, z.cols = append(z.rows, int64(t.off+grown)), append(z.cols, int64(t.wOff+1))
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

// errorsOf returns exponents of bounds of the errors of rows or columns with sizes 2^tops: lost
// times the size, and at a place 2^offs in addition.
func errorsOf(tops []int64, lost *big.Float, offs []int64) []int64 {
	e := make([]int64, len(tops))
	for i, top := range tops {
		if e[i] = top + int64(lost.MantExp(nil)); offs != nil {
			e[i] = max(e[i], offs[i]) + 1
		}
	}
	return e
}

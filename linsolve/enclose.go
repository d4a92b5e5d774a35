package linsolve

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/raw"
)

// enclosure encloses the factors of an m x n matrix C whose leading minors of order up to k are not
// 0, for k = m or k = n: the first k columns are L U with L unit lower triangular (m x k), and the
// first k rows are L U with U upper triangular (k x n). With diagonal blocks larger than 1 x 1, L
// is block lower triangular with unit matrices on its diagonal, and U block upper triangular.
//
// For S about the inverse of the leading rows of L, block lower triangular with the same diagonal,
// and T about that of the leading columns of U, block upper triangular, let I + E = S C T, with the
// leading k x k part of C. If X is strictly block lower, Y block upper triangular, and
//
//	X + Y = E - X Y,
//
// then I + E = (I + X)(I + Y), so that U = (I + X)^-1 S C and L = C T (I + Y)^-1, with all columns
// and all rows of C. Where ‖E‖ ≤ e ≤ 1/8, Brouwer's theorem has such an X + Y with a norm of at
// most the smaller root r ≤ 2 e of r = e + r², in a weighted maximum norm, and (I + X)^-1 - I and
// (I + Y)^-1 - I have norms of at most r/(1 - r) ≤ 4 e.
//
// The factors are those of F = D1 C D2, for powers of two that bring its entries near 1: those of C
// are D1^-1 L D1 and D1^-1 U D2^-1.
type enclosure struct {
	l, u *nearly               // of the transpose of L and of U, or
	root *nearly               // of the transpose of L diag(U)^(1/2), or
	each [][]interval.Interval // of L below the diagonal blocks and of U
	bits int
}

// enclose returns enclosures by these S and T, nil if they are not good enough.
func (s *solver) enclose(c, li, ui *halfulp.Matrix, bits int) (*enclosure, error) {
	m, n := c.Dims()
	k := li.Rows()
	z := scale.Equilibrate(raw.Matrix(c), scale.Unscaled(m, n))
	top := z.Rows[:k]
	f := scaled(c, z, maxBits)
	left := scaled(li, scale.Scaling{Rows: top, Cols: negated(top)}, maxBits)
	right := scaled(ui, scale.Scaling{Rows: negated(z.Cols[:k]), Cols: negated(top)}, maxBits)
	if f == nil || left == nil || right == nil {
		return nil, fmt.Errorf("numbers of more than %d bits, or exponents beyond 2^29: %w", maxBits, ErrRange)
	}
	v, w := halfulp.NewMatrix(halfulp.MP(uint(bits)), m, k), halfulp.NewMatrix(halfulp.MP(uint(bits)), k, n)
	if err := s.gemm(1, f.Slice(0, m, 0, k), right, 0, nil, v); err != nil {
		return nil, err
	}
	if err := s.gemm(1, left, f.Slice(0, k, 0, n), 0, nil, w); err != nil {
		return nil, err
	}
	near := halfulp.NewMatrix(halfulp.MP(64), k, k)
	if err := s.gemm(1, left, v.Slice(0, k, 0, k), -1, halfulp.Identity(halfulp.Float64, k), near); err != nil {
		return nil, err
	}
	// V is rounded, by less than 2^-bits of each entry, and so is E, which bounds cover.
	unit := make([]int64, max(m, n))
	boundsOf := func(x *halfulp.Matrix) bounds { return boundsOf(raw.Matrix(x), unit, unit) }
	lost := boundsOf(left).times(boundsOf(v.Slice(0, k, 0, k)).sums())
	lost.SetMantExp(lost, 1-bits)
	norm := upper().Add(boundsOf(near).norm(), lost)
	if norm.Cmp(big.NewFloat(0.125)) > 0 {
		return nil, nil
	}
	s.stats.Rho = measure(norm)
	// V and W are rounded, again.
	four := upper().Add(upper().SetMantExp(norm, 2), exp2(1-bits))
	e := &enclosure{bits: bits}
	e.l = &nearly{x: v.T(), d: halfulp.NewMatrix(halfulp.MP(halfulp.MinPrec), k, m), words: words(bits), left: top, right: negated(z.Rows)}
	for _, sum := range boundsOf(v).sums() {
		e.l.err = append(e.l.err, int64(upper().Mul(sum, four).MantExp(nil)))
	}
	e.u = &nearly{x: w, d: halfulp.NewMatrix(halfulp.MP(halfulp.MinPrec), k, n), words: words(bits), left: negated(top), right: negated(z.Cols)}
	radius := int64(upper().Mul(boundsOf(w).norm(), four).MantExp(nil))
	for range n {
		e.u.err = append(e.u.err, radius)
	}
	return e, nil
}

// interval returns an enclosure of entry (i, j).
func (y *nearly) interval(i, j, bits int) interval.Interval {
	mid := interval.ExactAdd(y.x.Big(i, j), y.d.Big(i, j))
	rad := exp2(int(y.err[j]))
	p := interval.Prec(bits + 64)
	x := interval.Interval{Lo: p.Down().Sub(mid, rad), Hi: p.Up().Add(mid, rad)}
	shift := int(y.left[i] + y.right[j])
	return interval.Interval{Lo: x.Lo.SetMantExp(x.Lo, shift), Hi: x.Hi.SetMantExp(x.Hi, shift)}
}

// arithmetic is that of intervals of entries.
func (e *enclosure) arithmetic() interval.Prec { return interval.Prec(e.bits + 64) }

// lower encloses entry (i, j) of L.
func (e *enclosure) lower(i, j int) interval.Interval {
	if e.each != nil {
		return e.each[i][j].Copied()
	}
	return e.l.interval(j, i, e.bits)
}

// upper encloses entry (i, j) of U.
func (e *enclosure) upper(i, j int) interval.Interval {
	if e.each != nil {
		return e.each[i][j].Copied()
	}
	return e.u.interval(i, j, e.bits)
}

// entry returns what encloses an entry that is wanted, and where; nil if that is a product of
// others, or an interval.
func (e *enclosure) entry(w *wanted) (y *nearly, i, j int) {
	switch {
	case e.each != nil:
		return nil, 0, 0
	case w.part == ofL:
		return e.l, w.j, w.i
	case w.part == ofU:
		return e.u, w.i, w.j
	}
	return e.root, w.j, w.i
}

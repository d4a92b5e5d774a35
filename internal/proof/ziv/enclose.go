package ziv

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Square encloses R[k,j]^2 = L[j,k]^2 U[k,k].
func (e *Enclosure) Square(k, j int) interval.Interval {
	p := e.Arithmetic()
	if e.Root != nil {
		x := e.Root.Interval(k, j, e.Bits)
		return p.Mul(x, x)
	}
	d := e.Upper(k, k)
	if k == j {
		return d
	}
	x := e.Lower(j, k)
	return p.Mul(p.Mul(x, x), d)
}

// Enclosure encloses the factors of an m x n matrix C whose leading minors of order up to k are not
// 0, for k = m or k = n: the first k columns of C are L U with L unit lower triangular (m x k), and
// the first k rows are L U with U upper triangular (k x n). With diagonal blocks larger than 1 x 1,
// L is block lower triangular with unit matrices on its diagonal, and U is block upper triangular.
//
// The factors are computed for F = D1 C D2, with powers of two D1 and D2 that bring the entries of
// F near 1. If F = L U, then C has the factors D1^-1 L D1 and D1^-1 U D2^-1.
//
// Proof of the bounds. Let S be an approximate inverse of the leading rows of L, block lower
// triangular with the same diagonal, and T an approximate inverse of the leading columns of U,
// block upper triangular. Let I + E = S C T, with the leading k x k part of C. If X is strictly
// block lower triangular, Y is block upper triangular, and
//
//	X + Y = E - X Y,
//
// then I + E = (I + X)(I + Y), so that U = (I + X)^-1 S C and L = C T (I + Y)^-1, with all columns
// and all rows of C. If ‖E‖ ≤ e ≤ 1/8 in a weighted maximum norm, then by Brouwer's theorem such X
// and Y exist, and ‖X + Y‖ is at most the smaller root r ≤ 2 e of r = e + r². Then (I + X)^-1 - I
// and (I + Y)^-1 - I have norms of at most r/(1 - r) ≤ 4 e.
type Enclosure struct {
	L, U *bound.Nearly         // enclose the transpose of L, and U; or
	Root *bound.Nearly         // encloses the transpose of L diag(U)^(1/2); or
	Each [][]interval.Interval // intervals of the entries of L below the diagonal blocks and of U
	Bits int
}

// Enclose returns the enclosures that follow from li as S and ui as T, or nil if ‖E‖ is not proved
// to be at most 1/8. The error wraps call.ErrRange if numbers have more than bound.MaxBits bits or
// exponents are beyond 2^29.
func Enclose(s *call.Run, c, li, ui num.Mat, bits int) (*Enclosure, error) {
	m, n := c.Dims()
	k := li.Rows
	z := scale.Equilibrate(c, scale.Unscaled(m, n))
	top := z.Rows[:k]
	f := call.Scaled(c, z, bound.MaxBits)
	left := call.Scaled(li, scale.Scaling{Rows: top, Cols: bound.Negated(top)}, bound.MaxBits)
	right := call.Scaled(ui, scale.Scaling{Rows: bound.Negated(z.Cols[:k]), Cols: bound.Negated(top)}, bound.MaxBits)
	if f.Arr == nil || left.Arr == nil || right.Arr == nil {
		return nil, fmt.Errorf("numbers of more than %d bits, or exponents beyond 2^29: %w", bound.MaxBits, call.ErrRange)
	}
	v, w := num.NewMat(num.Precision(uint(bits)), m, k), num.NewMat(num.Precision(uint(bits)), k, n)
	if err := s.Gemm(1, f.Slice(0, m, 0, k), right, 0, num.Mat{}, v); err != nil {
		return nil, err
	}
	if err := s.Gemm(1, left, f.Slice(0, k, 0, n), 0, num.Mat{}, w); err != nil {
		return nil, err
	}
	near := num.NewMat(num.Precision(64), k, k)
	if err := s.Gemm(1, left, v.Slice(0, k, 0, k), -1, num.Identity(num.Float64, k), near); err != nil {
		return nil, err
	}
	// V is rounded, with a relative error below 2^-bits in each entry, and so is E; the bounds
	// cover both.
	unit := make([]int64, max(m, n))
	boundsOf := func(x num.Mat) bound.Bounds { return bound.BoundsOf(x, unit, unit) }
	lost := boundsOf(left).Times(boundsOf(v.Slice(0, k, 0, k)).Sums())
	lost.SetMantExp(lost, 1-bits)
	norm := bound.Upper().Add(boundsOf(near).Norm(), lost)
	if norm.Cmp(big.NewFloat(0.125)) > 0 {
		return nil, nil
	}
	s.Stats.Rho = call.Measure(norm)
	// The last term covers the rounding of V and W.
	four := bound.Upper().Add(bound.Upper().SetMantExp(norm, 2), bound.Exp2(1-bits))
	e := &Enclosure{Bits: bits}
	e.L = &bound.Nearly{X: v.T(), D: num.NewMat(num.Precision(num.MinPrec), k, m), Words: call.WordsFor(bits), Left: top, Right: bound.Negated(z.Rows)}
	for _, sum := range boundsOf(v).Sums() {
		e.L.Err = append(e.L.Err, int64(bound.Upper().Mul(sum, four).MantExp(nil)))
	}
	e.U = &bound.Nearly{X: w, D: num.NewMat(num.Precision(num.MinPrec), k, n), Words: call.WordsFor(bits), Left: bound.Negated(top), Right: bound.Negated(z.Cols)}
	radius := int64(bound.Upper().Mul(boundsOf(w).Norm(), four).MantExp(nil))
	for range n {
		e.U.Err = append(e.U.Err, radius)
	}
	return e, nil
}

// Arithmetic returns the precision of the interval arithmetic with entries.
func (e *Enclosure) Arithmetic() interval.Prec { return interval.Prec(e.Bits + 64) }

// Lower encloses entry (i, j) of L.
func (e *Enclosure) Lower(i, j int) interval.Interval {
	if e.Each != nil {
		return e.Each[i][j].Copied()
	}
	return e.L.Interval(j, i, e.Bits)
}

// Upper encloses entry (i, j) of U.
func (e *Enclosure) Upper(i, j int) interval.Interval {
	if e.Each != nil {
		return e.Each[i][j].Copied()
	}
	return e.U.Interval(i, j, e.Bits)
}

// entry returns the enclosure of a wanted entry and the entry's position in the enclosure. The
// enclosure is nil if the entry is a product of other entries or has an interval of its own.
func (e *Enclosure) entry(w *Wanted) (y *bound.Nearly, i, j int) {
	switch {
	case e.Each != nil:
		return nil, 0, 0
	case w.Part == OfL:
		return e.L, w.J, w.I
	case w.Part == OfU:
		return e.U, w.I, w.J
	}
	return e.Root, w.J, w.I
}

// Narrow reports whether the errors of the entries of L below the diagonal are at most 2^-32.
func (e *Enclosure) Narrow() bool {
	y, most := e.L, int64(math.MinInt64/4)
	for i, err := range y.Err {
		if err+1+y.Right[i]+most > -32 {
			return false
		}
		most = max(most, y.Left[i])
	}
	return true
}

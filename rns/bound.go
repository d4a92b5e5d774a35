package rns

import (
	"context"

	"github.com/halfulp/halfulp"
)

// Bound holds the papers' bounds on the error of a computed ŷ = α A x + β y in the 1-norm,
// y* the exact result (001, formulas 18 and 19):
//
//	‖y* - ŷ‖ ≤ Absolute = γ ‖ |α A| |x| + |β y| ‖,  γ = (N + 2) u / (1 - (N + 2) u), u = 4/√M
//	‖y* - ŷ‖ / ‖y*‖ ≤ Relative = Absolute / (‖ŷ‖ - Absolute)
//
// with N the number of addends of a row. Both are rounded up. Relative divides by ‖ŷ‖ - Absolute ≤
// ‖y*‖, since ‖y*‖ is not known. It is +Inf where ‖ŷ‖ ≤ Absolute or γ is not defined.
//
// Sums do not underflow, as no addition makes an exponent smaller. A product may underflow where
// the exponents of its factors add up to less than -2^30. It then loses less than √M 2^(-2^30),
// which Absolute includes. A result with an overflow is NaN, and has infinite bounds.
type Bound struct {
	Absolute, Relative XFloat
}

// GemvBound returns the bounds that Options.Bound receives for a result that Gemv or GemvBasic
// computed from the other arguments; y is the vector before the call. It runs on the CPU, and
// copies operands on a device to the host. It returns an error if the copy fails or the context is
// cancelled.
func GemvBound(ctx context.Context, trans halfulp.Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y, result *Vector) (Bound, error) {
	t := isTrans(trans)
	gemvShapes(t, a, x, y)
	_ = a.arr.b.scalars(alpha, beta)
	y.like(result)
	limit, err := boundOfOperands(ctx, t, alpha, a, x, beta, y)
	if err != nil {
		return Bound{}, err
	}
	return boundOfResult(limit, result)
}

// boundOfOperands is gemvBound for operands wherever they live.
func boundOfOperands(ctx context.Context, trans bool, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector) (XFloat, error) {
	m, err := a.onHost()
	if err != nil {
		return xInf, err
	}
	u, err := x.onHost()
	if err != nil {
		return xInf, err
	}
	v, err := y.onHost()
	if err != nil {
		return xInf, err
	}
	return gemvBound(ctx, trans, alpha, m, u, beta, v)
}

// boundOfResult is newBound for a result wherever it lives.
func boundOfResult(absolute XFloat, y *Vector) (Bound, error) {
	v, err := y.onHost()
	if err != nil {
		return Bound{}, err
	}
	return newBound(absolute, v), nil
}

// SumBound returns the bounds on the error of a sum of x that was computed in any order,
// by Reduce1, Reduce2, Reduce3, or Asum of numbers ≥ 0: no addend goes through more than
// N - 1 rounded additions, so
//
//	|s* - ŝ| ≤ Absolute = (N - 1) u / (1 - (N - 1) u) Σ |x_i|.
//
// SumBound runs on the CPU, and copies the entries of a vector on a device to the host. It returns
// an error if the copy fails or the context is cancelled.
func SumBound(ctx context.Context, x *Vector, sum *Number) (Bound, error) {
	b := x.arr.b
	_ = b.scalars(sum)
	x, err := x.onHost()
	if err != nil {
		return Bound{}, err
	}
	var norm XFloat
	for i := range x.n {
		if cancelled(ctx, i) {
			return Bound{}, ctx.Err()
		}
		v := x.val(i)
		norm = norm.AddUp(b.magnitude(&v, true))
	}
	return numberBound(norm, xZero, x.n-1, sum), nil
}

// DotBound is SumBound for products, |s* - ŝ| ≤ N u / (1 - N u) Σ |x_i y_i|.
func DotBound(ctx context.Context, x, y *Vector, dot *Number) (Bound, error) {
	x.like(y)
	b := x.arr.b
	_ = b.scalars(dot)
	x, err := x.onHost()
	if err != nil {
		return Bound{}, err
	}
	if y, err = y.onHost(); err != nil {
		return Bound{}, err
	}
	var norm, lost XFloat
	for i := range x.n {
		if cancelled(ctx, i) {
			return Bound{}, ctx.Err()
		}
		u, v := x.val(i), y.val(i)
		norm = norm.AddUp(b.magnitude(&u, true).MulUp(b.magnitude(&v, true)))
		if underflows(&u, &v) {
			lost = lost.AddUp(b.tiny())
		}
	}
	return numberBound(norm, lost, x.n, dot), nil
}

// Nrm2Bound returns the bounds on the error of a norm that Nrm2 returned: with the root, squares go
// through at most N + 1 roundings,
//
//	|‖x‖₂ - ‖x̂‖| ≤ Absolute = (N + 1) u / (1 - (N + 1) u) ‖x‖₂.
//
// Nrm2Bound runs on the CPU, and copies the entries of a vector on a device to the host. It returns
// an error if the copy fails or the context is cancelled.
func Nrm2Bound(ctx context.Context, x *Vector, norm *Number) (Bound, error) {
	b := x.arr.b
	_ = b.scalars(norm)
	x, err := x.onHost()
	if err != nil {
		return Bound{}, err
	}
	var sum, lost XFloat
	for i := range x.n {
		if cancelled(ctx, i) {
			return Bound{}, ctx.Err()
		}
		v := x.val(i)
		size := b.magnitude(&v, true)
		sum = sum.AddUp(size.MulUp(size))
		if underflows(&v, &v) {
			lost = lost.AddUp(b.tiny())
		}
	}
	// √(s - t) ≥ √s - √t for the loss t by underflow of squares.
	return numberBound(sum.sqrt(true), lost.sqrt(true), x.n+1, norm), nil
}

// cancelled reports whether a context is cancelled; it looks only at some of the steps k.
func cancelled(ctx context.Context, k int) bool { return k%interval == 0 && ctx.Err() != nil }

// numberBound returns the bounds of a number; each addend goes through k roundings.
func numberBound(norm, lost XFloat, k int, z *Number) Bound {
	y := z.b.NewVector(1)
	y.Set(0, z)
	return newBound(z.b.absolute(norm, lost, max(k, 0)), y)
}

// absolute returns the bound for addends that go through k roundings each. norm is the sum of their
// magnitudes, lost a bound on the loss by underflow of products.
func (b *Base) absolute(norm, lost XFloat, k int) XFloat {
	gamma := b.gamma(k)
	return norm.MulUp(gamma).AddUp(lost.MulUp(XFloat{1, 0}.AddUp(gamma)))
}

// underflows reports whether the product of numbers may underflow. Rounding makes exponents
// larger only.
func underflows(vs ...*val) bool {
	exp := int64(0)
	for _, v := range vs {
		if v.isZero() || v.isNaN() {
			return false
		}
		exp += int64(v.exp)
	}
	return exp < minExp
}

// tiny is above all numbers of exponents below minExp.
func (b *Base) tiny() XFloat { return XFloat{1, int32((b.bigM.BitLen()+1)/2) + minExp - 1} }

// magnitude returns an upper bound for |v|, or a lower bound.
func (b *Base) magnitude(v *val, up bool) XFloat {
	switch {
	case v.isNaN():
		return xInf
	case v.isZero():
		return xZero
	case up:
		return v.ev.Up.MulUp(b.mUp).scale(int64(v.exp), true)
	}
	return v.ev.Lo.MulDown(b.mLo).scale(int64(v.exp), false)
}

// gemvBound returns the bound (18) plus the loss by underflow, rounded up.
func gemvBound(ctx context.Context, trans bool, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector) (XFloat, error) {
	b := a.arr.b
	al, be := b.magnitude(&alpha.v, true), b.magnitude(&beta.v, true)
	var sum, lost XFloat
	if !be.isZero() {
		for i := range y.n {
			if cancelled(ctx, i) {
				return xInf, ctx.Err()
			}
			v := y.val(i)
			sum = sum.AddUp(be.MulUp(b.magnitude(&v, true)))
			if underflows(&beta.v, &v) {
				lost = lost.AddUp(b.tiny())
			}
		}
	}
	// An underflow in a (α x) loses |a| times or once as much as one number may, in α (a x)
	// |α| times or once; a sum has the exponent of one of its addends or a larger one.
	atOnce := al.AddUp(XFloat{1, 0})
	if !al.isZero() {
		for j := range x.n {
			v := x.val(j)
			column, line := XFloat{}, a.line(!trans, j)
			for i := range line.n {
				if cancelled(ctx, i) {
					return xInf, ctx.Err()
				}
				u := line.val(i)
				size := b.magnitude(&u, true)
				column = column.AddUp(size)
				if underflows(&u, &v) || !u.isZero() && underflows(&alpha.v, &v) || underflows(&alpha.v, &u, &v) {
					lost = lost.AddUp(size.AddUp(atOnce).MulUp(b.tiny()))
				}
			}
			sum = sum.AddUp(column.MulUp(al.MulUp(b.magnitude(&v, true))))
		}
	}
	return b.absolute(sum, lost, x.n+2), nil
}

// gamma returns k u / (1 - k u) rounded up, infinity unless k u < 1.
func (b *Base) gamma(k int) XFloat {
	ku := roundX(uint64(k), 0, true).MulUp(b.u)
	one := XFloat{1, 0}
	if one.Cmp(ku) <= 0 {
		return xInf
	}
	return ku.DivUp(one.SubDown(ku))
}

func newBound(absolute XFloat, y *Vector) Bound {
	var norm XFloat
	for i := range y.n {
		v := y.val(i)
		if v.isNaN() {
			return Bound{xInf, xInf}
		}
		norm = norm.AddDown(y.arr.b.magnitude(&v, false))
	}
	r := Bound{absolute, xInf}
	switch rest := norm.SubDown(absolute); {
	case absolute.isZero():
		r.Relative = xZero
	case !rest.isZero():
		r.Relative = absolute.DivUp(rest)
	}
	return r
}

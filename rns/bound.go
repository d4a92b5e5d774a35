package rns

// Bound holds the papers' bounds on the error of a computed ŷ = α A x + β y in the 1-norm,
// y* the exact result (001, formulas 18 and 19):
//
//	‖y* - ŷ‖ ≤ Absolute = γ ‖ |α A| |x| + |β y| ‖,  γ = (N + 2) u / (1 - (N + 2) u), u = 4/√M
//	‖y* - ŷ‖ / ‖y*‖ ≤ Relative = Absolute / (‖ŷ‖ - Absolute)
//
// with N the number of addends of a row. Both are rounded up. Relative is +Inf where
// ‖ŷ‖ ≤ Absolute or γ is not defined; it has ‖ŷ‖ - Absolute ≤ ‖y*‖ in place of ‖y*‖,
// which is not known. They hold unless exponents overflow or underflow.
type Bound struct {
	Absolute, Relative XFloat
}

// GemvBound returns what Options.Bound receives for a result that Gemv or GemvBasic
// computed from the other arguments, y being the vector before.
func GemvBound(trans Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y, result *Vector) Bound {
	gemvShapes(trans, a, x, y)
	_ = a.arr.b.scalars(alpha, beta)
	y.like(result)
	return newBound(gemvBound(trans, alpha, a, x, beta, y), result)
}

// SumBound returns the bounds on the error of a sum of x that was computed in any order,
// by Reduce1, Reduce2, Reduce3, or Asum of numbers ≥ 0: no addend goes through more than
// N - 1 rounded additions, so
//
//	|s* - ŝ| ≤ Absolute = (N - 1) u / (1 - (N - 1) u) Σ |x_i|.
func SumBound(x *Vector, sum *Number) Bound {
	b := x.arr.b
	_ = b.scalars(sum)
	var norm XFloat
	for i := range x.n {
		v := x.val(i)
		norm = norm.AddUp(b.magnitude(&v, true))
	}
	return numberBound(norm, x.n-1, sum)
}

// DotBound is SumBound for products, |s* - ŝ| ≤ N u / (1 - N u) Σ |x_i y_i|.
func DotBound(x, y *Vector, dot *Number) Bound {
	x.like(y)
	b := x.arr.b
	_ = b.scalars(dot)
	var norm XFloat
	for i := range x.n {
		u, v := x.val(i), y.val(i)
		norm = norm.AddUp(b.magnitude(&u, true).MulUp(b.magnitude(&v, true)))
	}
	return numberBound(norm, x.n, dot)
}

// numberBound returns the bounds of a number, of which an addend goes through k roundings.
func numberBound(norm XFloat, k int, z *Number) Bound {
	y := z.b.NewVector(1)
	y.Set(0, z)
	return newBound(norm.MulUp(z.b.gamma(max(k, 0))), y)
}

// magnitude returns a bound for |v| from above, or from below.
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

// gemvBound returns the bound (18), rounded up.
func gemvBound(trans Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector) XFloat {
	b := a.arr.b
	gamma := b.gamma(x.n + 2)
	al, be := b.magnitude(&alpha.v, true), b.magnitude(&beta.v, true)
	var sum XFloat
	if !be.isZero() {
		for i := range y.n {
			v := y.val(i)
			sum = sum.AddUp(be.MulUp(b.magnitude(&v, true)))
		}
	}
	if !al.isZero() {
		for j := range x.n {
			v := x.val(j)
			column, line := XFloat{}, a.line(!trans, j)
			for i := range line.n {
				u := line.val(i)
				column = column.AddUp(b.magnitude(&u, true))
			}
			sum = sum.AddUp(column.MulUp(al.MulUp(b.magnitude(&v, true))))
		}
	}
	return sum.MulUp(gamma)
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

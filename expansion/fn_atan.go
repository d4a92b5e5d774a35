package expansion

import "math"

// The angle of (x, y), with u the smaller and v the larger of |x| and |y|, and c the multiple
// of 1/128 nearest to u/v:
//
//	atan(u/v) = atan c + atan t,  t = (u - c v) / (v + c u),  |t| < 2^-7.9,
//
// atan c from a table, and its reflection into the half plane and the octant.

// ratioLimit is the exponent of u/v below which u is scaled up.
const ratioLimit = -400

// atan2 sets z to the angle of the point (x, y).
func (e *evaluator) atan2(z, y, x *block) {
	var index, up [lanes]int32
	t := e.take(5)
	u, v, p, c := &t[0], &t[1], &t[2], &t[3][0]
	sign, multiple := &t[3][1], &t[3][2]
	for i := range e.n {
		y0, x0 := math.Abs(y[0][i]), math.Abs(x[0][i])
		swap := y0 > x0
		if swap {
			e.octant(u, v, &up, x, y, i)
		} else {
			e.octant(u, v, &up, y, x, i)
		}
		m, k := nearest(float64(u[0][i] / v[0][i] * 128))
		c[i] = m * (1.0 / 128)
		index[i] = k
		// The angle is multiple π/2 + sign (atan c + atan t).
		sign[i], multiple[i] = 1, 0
		switch negative := math.Signbit(x[0][i]); {
		case swap:
			multiple[i] = 1
			if !negative {
				sign[i] = -1
			}
		case negative:
			multiple[i], sign[i] = 2, -1
		}
		if multiple[i] > 0 {
			up[i] = 0
		}
	}
	e.mulFloat(z, v, c)
	e.sub(z, u, z)
	e.mulFloat(p, u, c)
	e.add(p, v, p)
	e.div(u, z, p) // t
	e.mul(v, u, u)
	e.series(p, v, &atanSeries)
	e.mul(p, p, v)
	e.mul(p, p, u)
	e.add(p, u, p)
	e.gather(u, atanTable, &index)
	e.add(p, u, p)
	e.scale(p, &up)
	for k := range e.w {
		for i := range p[k][:e.n] {
			p[k][i] *= sign[i]
		}
	}
	e.constant(v, &halfPi)
	e.mulFloat(v, v, multiple)
	e.add(z, v, p)
	e.negateWhere(z, &y[0])
	for i := range e.n {
		if y, x := y[0][i], x[0][i]; y != y || x != x {
			z[0][i] = math.NaN()
		} else if y == 0 && !math.Signbit(x) {
			z[0][i] = y
		}
	}
	e.finish(z)
	e.give(5)
}

// octant sets lane i of u = |y| and v = |x|, |y| <= |x|, scaled so that v is between 1 and 2. u is
// also scaled up by 2^-up. Infinities become 0 and 1, or 1 and 1; a NaN becomes any number.
func (e *evaluator) octant(u, v *block, up *[lanes]int32, y, x *block, i int) {
	up[i] = 0
	y0, x0 := y[0][i], x[0][i]
	if x0 == 0 || x0-x0 != 0 {
		e.set(v, i, 1)
		e.set(u, i, 0)
		if math.IsInf(y0, 0) {
			e.set(u, i, 1)
		}
		return
	}
	n := exponent(x0)
	f, g := powersOf2(-n)
	e.scaled(v, x, i, f, g)
	if y0 == 0 || y0 != y0 {
		e.set(u, i, 0)
		return
	}
	if d := exponent(y0) - n; d < ratioLimit {
		up[i] = d - ratioLimit
		f, g = powersOf2(ratioLimit - exponent(y0))
	}
	e.scaled(u, y, i, f, g)
}

// scaled sets lane i of z to |x| f g.
func (e *evaluator) scaled(z, x *block, i int, f, g float64) {
	if x[0][i] < 0 {
		f = -f
	}
	for k := range e.w {
		z[k][i] = float64(x[k][i]*f) * g
	}
}

// atan sets z = atan x.
func (e *evaluator) atan(z, x *block) {
	t := e.take(1)
	e.ones(&t[0])
	e.atan2(z, x, &t[0])
	e.give(1)
}

// asin sets z = asin x, the angle of (√((1 - x) (1 + x)), x).
func (e *evaluator) asin(z, x *block) {
	t := e.take(1)
	e.cathetus(&t[0], x)
	e.atan2(z, x, &t[0])
	e.give(1)
}

// acos sets z = acos x, the angle of (x, √((1 - x) (1 + x))).
func (e *evaluator) acos(z, x *block) {
	t := e.take(1)
	e.cathetus(&t[0], x)
	e.atan2(z, &t[0], x)
	e.give(1)
}

// cathetus sets z = √((1 - x) (1 + x)).
func (e *evaluator) cathetus(z, x *block) {
	t := e.take(2)
	e.addNumber(&t[0], x, 1)
	e.copy(&t[1], x)
	e.negate(&t[1])
	e.addNumber(&t[1], &t[1], 1)
	e.mul(&t[0], &t[0], &t[1])
	e.root(z, &t[0])
	e.give(2)
}

// ones sets z = 1.
func (e *evaluator) ones(z *block) { e.constant(z, &QD{1}) }

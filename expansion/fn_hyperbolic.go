package expansion

import "math"

// With u = e^|x| - 1:
//
//	sinh |x| = (u + u/(u + 1)) / 2,  cosh x = 1 + u (u/(u + 1)) / 2,
//	tanh |x| = u (u + 2) / (u (u + 2) + 2).
//
// Beyond 2^300, u is smaller by a power of two, and the terms 1 and 2 are lost.

// sinh sets z = sinh x.
func (e *evaluator) sinh(z, x *block) {
	var k [lanes]int32
	t := e.take(2)
	u, v := &t[0], &t[1]
	e.magnitude(z, x)
	e.expm1Parts(u, &k, z)
	e.addNumber(v, u, 1)
	e.div(v, u, v)
	e.add(z, u, v)
	e.half(&k)
	e.scale(z, &k)
	e.expOverflowBoth(z, x)
	e.negateWhere(z, &x[0])
	e.keepZero(z, &x[0])
	e.give(2)
}

// cosh sets z = cosh x.
func (e *evaluator) cosh(z, x *block) {
	var k [lanes]int32
	t := e.take(2)
	u, v := &t[0], &t[1]
	e.magnitude(z, x)
	e.expm1Parts(u, &k, z)
	e.addNumber(v, u, 1)
	e.div(v, u, v)
	e.mul(v, u, v)
	e.addNumber(z, v, 2)
	e.half(&k)
	e.scale(z, &k)
	e.expOverflowBoth(z, x)
	e.give(2)
}

// tanh sets z = tanh x.
func (e *evaluator) tanh(z, x *block) {
	var k [lanes]int32
	t := e.take(2)
	u, v := &t[0], &t[1]
	e.magnitude(z, x)
	e.expm1Parts(u, &k, z)
	e.addNumber(v, u, 2)
	e.mul(u, u, v)
	e.addNumber(v, u, 2)
	e.div(z, u, v)
	for i, x := range x[0][:e.n] {
		switch {
		case x != x:
			z[0][i] = x
		case math.Abs(x) >= expLimit:
			e.set(z, i, 1)
		}
	}
	e.finish(z)
	e.negateWhere(z, &x[0])
	e.keepZero(z, &x[0])
	e.give(2)
}

// half subtracts 1 from every exponent.
func (e *evaluator) half(k *[lanes]int32) {
	for i := range k[:e.n] {
		k[i]--
	}
}

// expOverflowBoth sets the lanes of z to Inf where |x| exceeds expLimit, and to NaN where x is NaN.
func (e *evaluator) expOverflowBoth(z, x *block) {
	t := e.take(1)
	for i, x := range x[0][:e.n] {
		t[0][0][i] = math.Abs(x)
	}
	e.expOverflow(z, &t[0][0])
	e.give(1)
}

// hyperbolicLimit is the bound above which the inverse functions compute ln 2x.
const hyperbolicLimit = 0x1p300

// asinh sets z = asinh x = ln(1 + v), v = |x| + x² / (1 + √(1 + x²)).
func (e *evaluator) asinh(z, x *block) {
	t := e.take(4)
	a, v, s := &t[0], &t[1], &t[2]
	e.magnitude(a, x)
	e.clip(&t[3], a)
	e.mul(v, &t[3], &t[3])
	e.addNumber(s, v, 1)
	e.root(s, s)
	e.addNumber(s, s, 1)
	e.div(v, v, s)
	e.add(v, &t[3], v)
	e.logDouble(z, v, a)
	e.negateWhere(z, &x[0])
	e.keepZero(z, &x[0])
	e.give(4)
}

// acosh sets z = acosh x = ln(1 + v), v = d + √(d (d + 2)), d = x - 1.
func (e *evaluator) acosh(z, x *block) {
	t := e.take(3)
	d, v, s := &t[0], &t[1], &t[2]
	e.clip(d, x)
	e.addNumber(d, d, -1)
	e.addNumber(s, d, 2)
	e.mul(s, d, s)
	e.root(v, s)
	e.add(v, d, v)
	e.logDouble(z, v, x)
	for i := range e.n {
		if d[0][i] < 0 {
			z[0][i] = math.NaN()
		}
	}
	e.finish(z)
	e.give(3)
}

// clip sets z = x, or 1 where x exceeds hyperbolicLimit.
func (e *evaluator) clip(z, x *block) {
	e.copy(z, x)
	for i, x := range x[0][:e.n] {
		if !(x < hyperbolicLimit) {
			e.set(z, i, 1)
		}
	}
}

// logDouble sets z = ln(1 + v), or ln 2x where x exceeds hyperbolicLimit; it overwrites v.
func (e *evaluator) logDouble(z, v, x *block) {
	t := e.take(2)
	far := &t[0][0]
	for i, x0 := range x[0][:e.n] {
		far[i] = 0
		if !(x0 < hyperbolicLimit) {
			far[i] = 1
			for k := range e.w {
				v[k][i] = x[k][i]
			}
		}
	}
	e.log1p(z, v)
	e.constant(&t[1], &ln2)
	e.mulFloat(&t[1], &t[1], far)
	e.add(&t[1], &t[1], z)
	for i := range far[:e.n] {
		if far[i] == 1 && x[0][i] <= math.MaxFloat64 {
			for k := range e.w {
				z[k][i] = t[1][k][i]
			}
		}
	}
	e.give(2)
}

// atanh sets z = atanh x = ln(1 + 2|x| / (1 - |x|)) / 2.
func (e *evaluator) atanh(z, x *block) {
	t := e.take(3)
	a, b, special := &t[0], &t[1], &t[2][0]
	e.magnitude(a, x)
	e.copy(b, a)
	e.negate(b)
	e.addNumber(b, b, 1)
	for i, y := range b[0][:e.n] {
		special[i] = 0
		switch {
		case y > 0:
			continue
		case y == 0:
			special[i] = math.Inf(1)
		default:
			special[i] = math.NaN()
		}
		e.set(a, i, 0)
		e.set(b, i, 1)
	}
	e.div(a, a, b)
	e.times(a, 2)
	e.log1p(z, a)
	e.times(z, 0.5)
	for i, y := range special[:e.n] {
		if y != 0 {
			e.set(z, i, y)
		}
	}
	e.finish(z)
	e.negateWhere(z, &x[0])
	e.keepZero(z, &x[0])
	e.give(3)
}

// times multiplies z by power, a power of two.
func (e *evaluator) times(z *block, power float64) {
	for k := range e.w {
		for i := range z[k][:e.n] {
			z[k][i] *= power
		}
	}
}

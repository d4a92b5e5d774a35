package expansion

import "math"

// pow sets z = x^y = exp(y ln x). The logarithm and its product with y hold one word more than a
// block, so that an exponent of 700 costs no accuracy.
func (e *evaluator) pow(z, x, y *block) {
	var k [lanes]int32
	t := e.take(4)
	a, low, p, high := &t[0], &t[1], &t[2], &t[3][0]
	err := &t[3][1]
	e.magnitude(p, x)
	copy(high[:e.n], p[0][:e.n])
	e.rest(a, p)
	e.logParts(high, low, &k, high, a, true)
	// (high + low) y = p + q, with y = y0 + rest: high y0 exactly, high rest, low y.
	for i := range high[:e.n] {
		err[i] = high[i] // of the logarithm
	}
	e.rest(a, y)
	e.mulFloat(a, a, err)
	for i, l := range err[:e.n] {
		high[i], err[i] = twoProd(l, y[0][i])
		if !(math.Abs(high[i]) < expLimit) {
			err[i] = 0
		}
	}
	e.addFloat(a, a, err)
	e.mul(p, low, y)
	e.add(a, a, p)
	for i, h := range high[:e.n] {
		err[i] = h
		if !(math.Abs(h) < expLimit) {
			e.set(a, i, 0)
		}
	}
	e.lead(high, a)
	for i, h := range err[:e.n] {
		if !(math.Abs(h) < expLimit) {
			high[i] = h
		}
	}
	e.expPair(z, high, a)
	e.powSpecial(z, x, y)
	e.give(4)
}

// powSpecial sets the sign of z. It sets the lanes whose x or y is a zero, an infinity or a NaN,
// and the lanes without a result, as math.Pow does.
func (e *evaluator) powSpecial(z, x, y *block) {
	for i := range e.n {
		x0, y0 := x[0][i], y[0][i]
		if x0 > 0 && x0 != 1 && x0 <= math.MaxFloat64 && ordinary(y0) {
			continue
		}
		integer, odd := e.integer(y, i)
		switch {
		case y0 == 0 || x0 == 1 && x[1][i] == 0:
			e.set(z, i, 1)
		case x0 != x0 || y0 != y0:
			e.set(z, i, math.NaN())
		case x0 == 0 || math.IsInf(x0, 0):
			r := 0.0
			if (x0 == 0) == (y0 < 0) {
				r = math.Inf(1)
			}
			if odd {
				r = math.Copysign(r, x0)
			}
			e.set(z, i, r)
		case math.IsInf(y0, 0):
			grows := math.Abs(x0) > 1 || math.Abs(x0) == 1 && math.Signbit(x0) == math.Signbit(x[1][i])
			switch {
			case math.Abs(x0) == 1 && x[1][i] == 0:
				e.set(z, i, 1)
			case grows == (y0 > 0):
				e.set(z, i, math.Inf(1))
			default:
				e.set(z, i, 0)
			}
		case x0 < 0 && !integer:
			e.set(z, i, math.NaN())
		case x0 < 0 && odd:
			for k := range e.w {
				z[k][i] = -z[k][i]
			}
		}
	}
	e.finish(z)
}

// integer reports whether lane i of y is an integer, and whether that integer is odd.
func (e *evaluator) integer(y *block, i int) (integer, odd bool) {
	integer = true
	for k := range e.w {
		w := y[k][i]
		if w != math.Trunc(w) { // NaN too
			integer = false
		}
		if half := w * 0.5; math.Abs(w) < 1<<53 && half != math.Trunc(half) {
			odd = !odd
		}
	}
	return integer, integer && odd
}

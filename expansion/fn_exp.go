package expansion

import "math"

// exp(x) with k = 256 e + j the nearest integer to x 256 / ln 2, |j| <= 128, and
// r = x - k ln 2 / 256, |r| < 2^-9.5: exp(x) = 2^e (1 + s),
//
//	1 + s = 2^(j/256) e^r = 1 + E_j + (p + E_j p),  p = e^r - 1 = r + r² (1/2 + r/6 + ...).
//
// Tang, Table-driven implementation of the exponential function, ACM TOMS 15 (1989).

// expLimit exceeds every |x| for which exp(x) is neither 0 nor Inf.
const expLimit = 800

// expReduce sets r and, for k, exponent = e and index = j + 128, for x = high + low. Where |high|
// exceeds expLimit, it counts as 0.
func (e *evaluator) expReduce(r *block, exponent, index *[lanes]int32, high *row, low *block) {
	t := e.take(1)
	near, minus := &t[0][0], &t[0][1]
	for i, x := range high[:e.n] {
		if !(math.Abs(x) < expLimit) {
			x = 0
		}
		m, k := nearest(float64(x * (256 / math.Ln2)))
		near[i] = math.FMA(-m, expHigh, x) // exact
		minus[i] = -m
		exponent[i], index[i] = expSplit(k)
	}
	e.constant(r, &expRest)
	e.mulFloat(r, r, minus)
	e.add(r, r, low)
	e.addFloat(r, r, near)
	e.give(1)
}

// expSplit returns e and j + 128 for k = 256 e + j.
func expSplit(k int32) (exponent, index int32) {
	exponent = (k + 128) >> 8
	return exponent, k - exponent<<8 + 128
}

// expReduced sets s for r and index; it overwrites r.
func (e *evaluator) expReduced(s, r *block, index *[lanes]int32) {
	t := e.take(1)
	p := &t[0]
	e.series(p, r, &expSeries)
	e.mul(p, p, r)
	e.mul(p, p, r)
	e.add(p, r, p)
	e.gather(r, expTable, index)
	e.mul(s, r, p)
	e.add(s, p, s)
	e.add(s, r, s)
	e.give(1)
}

// expParts sets s and exponent with exp(high + low) = 2^exponent (1 + s).
func (e *evaluator) expParts(s *block, exponent *[lanes]int32, high *row, low *block) {
	var index [lanes]int32
	t := e.take(1)
	e.expReduce(&t[0], exponent, &index, high, low)
	e.expReduced(s, &t[0], &index)
	e.give(1)
}

// expOverflow sets the lanes of z = exp(x) where |x| exceeds expLimit or x is NaN, and puts results
// beyond the range of float64 into their form.
func (e *evaluator) expOverflow(z *block, x *row) {
	for i, x := range x[:e.n] {
		switch {
		case math.Abs(x) < 700:
		case math.Abs(x) < expLimit:
			e.finishLane(z, i)
		case x > 0:
			e.set(z, i, math.Inf(1))
		case x < 0:
			e.set(z, i, 0)
		default:
			e.set(z, i, math.NaN())
		}
	}
}

// exp sets z = exp(x).
func (e *evaluator) exp(z, x *block) {
	t := e.take(1)
	e.rest(&t[0], x)
	e.expPair(z, &x[0], &t[0])
	e.give(1)
}

// expPair sets z = exp(high + low).
func (e *evaluator) expPair(z *block, high *row, low *block) {
	var k [lanes]int32
	e.expParts(z, &k, high, low)
	e.addNumber(z, z, 1)
	e.scale(z, &k)
	e.expOverflow(z, high)
}

// exp2 sets z = 2^x: k is the nearest integer to 256 x, and r = (x - k/256) ln 2.
func (e *evaluator) exp2(z, x *block) {
	const limit = expLimit / math.Ln2
	var exponent, index [lanes]int32
	t := e.take(3)
	r, c, near := &t[0], &t[1], &t[2][0]
	for i, x := range x[0][:e.n] {
		if !(math.Abs(x) < limit) {
			x = 0
		}
		m, k := nearest(float64(x * 256))
		near[i] = x - float64(m*0x1p-8)
		exponent[i], index[i] = expSplit(k)
	}
	e.rest(r, x)
	e.addFloat(r, r, near)
	e.constant(c, &ln2)
	e.mul(r, r, c)
	e.expReduced(z, r, &index)
	e.addNumber(z, z, 1)
	e.scale(z, &exponent)
	for i, x := range x[0][:e.n] {
		near[i] = x * math.Ln2
	}
	e.expOverflow(z, near)
	e.give(3)
}

// expm1Parts sets u and k with exp(x) - 1 = 2^k u, to a relative error. For x < 200, k = 0; above,
// the term 1 is lost.
func (e *evaluator) expm1Parts(u *block, k *[lanes]int32, x *block) {
	const most = 300
	var exponent [lanes]int32
	t := e.take(2)
	e.rest(&t[0], x)
	e.expParts(u, &exponent, &x[0], &t[0])
	high, low := &t[1][0], &t[1][1]
	for i, m := range exponent[:e.n] {
		m = min(max(m, -most), most)
		k[i] = max(exponent[i], most) - most
		exponent[i] = m
		high[i], low[i] = twoSum(powerOf2(m), -1)
	}
	e.scale(u, &exponent)
	e.addFloat(u, u, low)
	e.addFloat(u, u, high)
	e.give(2)
}

// expm1 sets z = exp(x) - 1.
func (e *evaluator) expm1(z, x *block) {
	var k [lanes]int32
	e.expm1Parts(z, &k, x)
	e.scale(z, &k)
	for i, x := range x[0][:e.n] {
		switch {
		case x == 0:
			e.set(z, i, x)
		case math.Abs(x) < expLimit:
			e.finishLane(z, i)
		case x > 0:
			e.set(z, i, math.Inf(1))
		case x < 0:
			e.set(z, i, -1)
		default:
			e.set(z, i, math.NaN())
		}
	}
}

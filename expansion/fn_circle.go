package expansion

import "math"

// sin(x) and cos(x) with k the nearest integer to x 1024/π and r = x - k π/1024:
//
//	sin(a + r) = sin a + (sin a (cos r - 1) + cos a sin r),  a = k π/1024,
//
// where sin a and cos a come from a table and |r| < 2^-9.3. The same reduction and table
// as in QD (Hida, Li, Bailey, ARITH 2001), with less cancellation.

// circleLimit bounds the arguments whose k has 25 bits.
const circleLimit = 0x1p16

// circleReduce sets r and k, k modulo 2048, for finite x; other lanes count as 0.
func (e *evaluator) circleReduce(r *block, k *[lanes]int32, x *block) {
	t := e.take(1)
	near, minus := &t[0][0], &t[0][1]
	for i, x := range x[0][:e.n] {
		if !(math.Abs(x) < circleLimit) {
			x = 0
		}
		m, n := nearest(float64(x * (1024 / math.Pi)))
		near[i] = math.FMA(-m, circleHigh, x) // exact
		minus[i] = -m
		k[i] = n
	}
	rest := e.take(1)
	e.rest(&rest[0], x)
	e.constant(r, &circleRest)
	e.mulFloat(r, r, minus)
	e.add(r, r, &rest[0])
	e.addFloat(r, r, near)
	e.give(2)
	// A long argument, and an argument so near to a multiple of π/2 that the constant's words do
	// not give all of r.
	for i, x0 := range x[0][:e.n] {
		long := !(math.Abs(x0) < circleLimit)
		if long || k[i]&511 == 0 && k[i] != 0 && math.Abs(r[0][i]) < math.Abs(float64(k[i]))*0x1p-35 {
			e.circleReduceExact(r, k, x, i)
		}
	}
}

// circleValues gathers s = sin(a) and c = cos(a), a = k π/1024.
func (e *evaluator) circleValues(s, c *block, k *[lanes]int32) {
	for i, k := range k[:e.n] {
		j := k & 511
		p, q := &sinTable[j], &sinTable[512-j]
		if k&512 != 0 {
			p, q = q, p
		}
		f, g := 1.0, 1.0 // signs of the sine and of the cosine
		if k&1024 != 0 {
			f = -1
		}
		if (k+512)&1024 != 0 {
			g = -1
		}
		for w := range e.w {
			s[w][i] = f * p[w]
			c[w][i] = g * q[w]
		}
	}
}

// circleSeries sets p = sin r and q = cos r - 1.
func (e *evaluator) circleSeries(p, q, r *block) {
	t := e.take(2)
	r2, r3 := &t[0], &t[1]
	e.mul(r2, r, r)
	e.mul(r3, r2, r)
	e.series(p, r2, &sinSeries)
	e.mul(p, p, r3)
	e.add(p, r, p)
	e.series(q, r2, &cosSeries)
	e.mul(q, q, r2)
	e.give(2)
}

// circleSum sets z = s + (s q + c p) = sin(a + r); it overwrites p.
func (e *evaluator) circleSum(z, s, c, p, q *block) {
	t := e.take(1)
	e.mul(z, c, p)
	e.mul(&t[0], s, q)
	e.add(z, z, &t[0])
	e.add(z, s, z)
	e.give(1)
}

// sinQuarter sets z = sin(x + turns π/2).
func (e *evaluator) sinQuarter(z, x *block, turns int32) {
	var k [lanes]int32
	t := e.take(5)
	r, s, c, p, q := &t[0], &t[1], &t[2], &t[3], &t[4]
	e.circleReduce(r, &k, x)
	for i := range k[:e.n] {
		k[i] += turns << 9
	}
	e.circleValues(s, c, &k)
	e.circleSeries(p, q, r)
	e.circleSum(z, s, c, p, q)
	e.circleSpecial(z, &x[0])
	e.give(5)
}

// circleSpecial makes the lanes of z NaN where x is infinite or NaN, and finishes z.
func (e *evaluator) circleSpecial(z *block, x *row) {
	for i, x := range x[:e.n] {
		if x-x != 0 {
			z[0][i] = math.NaN()
		}
		e.finishLane(z, i)
	}
}

// sin sets z = sin x.
func (e *evaluator) sin(z, x *block) {
	e.sinQuarter(z, x, 0)
	e.keepZero(z, &x[0])
}

// cos sets z = cos x.
func (e *evaluator) cos(z, x *block) { e.sinQuarter(z, x, 1) }

// keepZero sets z = x where x is a zero, for its sign.
func (e *evaluator) keepZero(z *block, x *row) {
	for i, x := range x[:e.n] {
		if x == 0 {
			e.set(z, i, x)
		}
	}
}

// sinCos sets y = sin x and z = cos x.
func (e *evaluator) sinCos(y, z, x *block) {
	var k [lanes]int32
	t := e.take(5)
	r, s, c, p, q := &t[0], &t[1], &t[2], &t[3], &t[4]
	e.circleReduce(r, &k, x)
	e.circleValues(s, c, &k)
	e.circleSeries(p, q, r)
	e.circleSum(y, s, c, p, q)
	e.negate(s)
	e.circleSum(z, c, s, p, q)
	e.circleSpecial(y, &x[0])
	e.circleSpecial(z, &x[0])
	e.keepZero(y, &x[0])
	e.give(5)
}

// tan sets z = sin x / cos x.
func (e *evaluator) tan(z, x *block) {
	t := e.take(2)
	e.sinCos(&t[0], &t[1], x)
	e.div(z, &t[0], &t[1])
	e.circleSpecial(z, &x[0])
	e.keepZero(z, &x[0])
	e.give(2)
}

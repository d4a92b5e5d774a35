package expansion

import "math"

// ln x with x = 2^e m, m between √½ and √2, and table factors c₁ ≈ 1/m to 7 bits and
// c₂ ≈ 1/(m c₁) to 14 bits, c = c₁ c₂ exact in a float64: with r = m c - 1, |r| < 2^-14.8,
//
//	ln x = e ln 2 - ln c₁ - ln c₂ + r - r² (1/2 - r/3 + ...).
//
// The leading part of m c - 1 is exact, and so is the sum of the tables' leading parts, all
// multiples of 2^-42. So the result, a float64 and a block, holds a word more than a block.
// c = 1 about x = 1: no cancellation. After Tang, Table-driven implementation
// of the logarithm function, ACM TOMS 16 (1990), with two tables.

// logSplit has the bits of the float64 next to √½, where the interval of m begins.
const logSplit = 0x3fe6a09e667f3bcd

// logParts sets high + low = ln(x + y) - k ln 2, for positive finite x + y with |y| at most an ulp
// of x. 2^k is the power of two with (x + y) = 2^k m; |low| < 2^-12 |high|. If whole is set, the
// result is ln(x + y). Other lanes count as 1.
func (e *evaluator) logParts(high *row, low *block, k *[lanes]int32, x *row, y *block, whole bool) {
	var index1, index2 [lanes]int32
	t := e.take(4)
	r, s, sum := &t[0], &t[1], &t[2]
	factor, err, exact, power := &t[3][0], &t[3][1], &t[3][2], &t[3][3]
	for i, x := range x[:e.n] {
		up, down := 1.0, int32(0)
		if !(x > 0x1p-900 && x < 0x1p900) {
			x, up, down = logScale(x)
		}
		b := math.Float64bits(x)
		d := b - logSplit
		n := int32(int64(d) >> 52)
		m := math.Float64frombits(b - d&^(1<<52-1))
		f := powerOf2(-n)
		for j := range e.w {
			r[j][i] = float64(y[j][i]*up) * f
		}
		_, i1 := nearest(float64((m - 1) * 128))
		t1 := &logTable1[i1-logFirst1]
		_, i2 := nearest(float64(math.FMA(m, t1[0], -1) * (1 << 14)))
		t2 := &logTable2[i2-logFirst2]
		index1[i], index2[i] = i1-logFirst1, i2-logFirst2
		c := t1[0] * t2[0]
		p, q := twoProd(m, c)
		high[i] = p - 1
		err[i] = q
		factor[i] = c
		n -= down
		k[i] = n
		power[i] = 0
		if whole {
			power[i] = float64(n)
		}
		exact[i] = float64(power[i]*ln2High) + (t1[1] + t2[1])
	}
	// r = high + low is m c - 1.
	e.mulFloat(low, r, factor)
	e.addFloat(low, low, err)
	e.lead(high, low)
	copy(r[0][:e.n], high[:e.n])
	for j := 1; j < e.w; j++ {
		copy(r[j][:e.n], low[j-1][:e.n])
	}
	e.series(s, r, &logSeries)
	e.mul(s, s, r)
	e.mul(s, s, r)
	// The small parts of the sum.
	e.add(low, low, s)
	e.gather(s, logRest1, &index1)
	e.gather(sum, logRest2, &index2)
	e.add(sum, sum, s)
	if whole {
		e.constant(s, &ln2Rest)
		e.mulFloat(s, s, power)
		e.add(sum, sum, s)
	}
	for i := range high[:e.n] {
		high[i], err[i] = twoSum(exact[i], high[i])
	}
	e.addFloat(sum, sum, err)
	e.add(low, sum, low)
	e.give(4)
}

// logScale scales an x far from 1 by up = 2^down. An x that is not positive and finite becomes 1.
func logScale(x float64) (scaled, up float64, down int32) {
	switch {
	case !(x > 0 && x <= math.MaxFloat64):
		return 1, 1, 0
	case x < 1:
		return x * 0x1p200, 0x1p200, 200
	}
	return x * 0x1p-200, 0x1p-200, -200
}

// logSpecial sets the lanes of z = ln(x) where x is not positive and finite, and finishes z.
func (e *evaluator) logSpecial(z *block, x *row) {
	for i, x := range x[:e.n] {
		switch {
		case x > 0 && x <= math.MaxFloat64:
			e.finishLane(z, i)
		case x == 0:
			e.set(z, i, math.Inf(-1))
		case x > 0:
			e.set(z, i, x)
		default:
			e.set(z, i, math.NaN())
		}
	}
}

// log sets z = ln x.
func (e *evaluator) log(z, x *block) {
	var k [lanes]int32
	t := e.take(2)
	y, high := &t[0], &t[1][0]
	e.rest(y, x)
	e.logParts(high, z, &k, &x[0], y, true)
	e.addFloat(z, z, high)
	e.logSpecial(z, &x[0])
	e.give(2)
}

// log2 sets z = log2 x = k + ln(m) / ln 2.
func (e *evaluator) log2(z, x *block) {
	var k [lanes]int32
	t := e.take(2)
	y, high := &t[0], &t[1][0]
	e.rest(y, x)
	e.logParts(high, z, &k, &x[0], y, false)
	e.addFloat(z, z, high)
	e.constant(y, &log2E)
	e.mul(z, z, y)
	for i, k := range k[:e.n] {
		high[i] = float64(k)
	}
	e.addFloat(z, z, high)
	e.logSpecial(z, &x[0])
	e.give(2)
}

// log10 sets z = log10 x = ln(x) / ln 10.
func (e *evaluator) log10(z, x *block) {
	t := e.take(1)
	e.log(z, x)
	e.constant(&t[0], &log10E)
	e.mul(z, z, &t[0])
	e.logSpecial(z, &x[0])
	e.give(1)
}

// log1p sets z = ln(1 + x).
func (e *evaluator) log1p(z, x *block) {
	var k [lanes]int32
	t := e.take(2)
	y, one, err, high := &t[0], &t[1][0], &t[1][1], &t[1][2]
	for i, x := range x[0][:e.n] {
		one[i], err[i] = twoSum(1, x)
	}
	e.rest(y, x)
	e.addFloat(y, y, err)
	e.lead(one, y)
	e.logParts(high, z, &k, one, y, true)
	e.addFloat(z, z, high)
	for i, x := range x[0][:e.n] {
		if x == 0 || x > math.MaxFloat64 {
			one[i] = 1
			e.set(z, i, x)
		}
	}
	e.logSpecial(z, one)
	e.give(2)
}

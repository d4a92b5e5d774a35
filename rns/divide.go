package rns

import "math"

// Quotients and roots are found digit by digit. Each digit is the leading 45 bits or so of the
// remainder's quotient, from interval evaluations of exact remainders. As these are accurate to
// 2^-37, a digit takes 36 bits off the remainder.
const (
	digitBits    = 45
	digitSlack   = 10 // log2 of a bound on the error of a digit, with room to spare
	remainderLim = -3 // remainders are below 2^-2 M
)

// nextDigit returns D and t ≥ 0 with D 2^t near (r/y), D < 2^46, and D = 0 only if r/y is below
// 1/2, all to a relative error of 2^-37.
func nextDigit(r, y XFloat) (d uint64, t int) {
	return leading(r.F/y.F, int(r.I)-int(y.I))
}

// leading returns D and t ≥ 0 with D 2^t near f 2^i, 1/2 < f < 4.
func leading(f float64, i int) (d uint64, t int) {
	if i > digitBits {
		return uint64(f * (1 << digitBits)), i - digitBits
	}
	if i < -3 {
		return 0, 0
	}
	return uint64(math.Floor(math.Ldexp(f, i) + 0.5)), 0
}

// remainderBound returns an upper bound for a remainder after a digit at 2^t.
func remainderBound(y XFloat, t int) XFloat {
	up := y.Scale(t + digitSlack)
	if up.I > remainderLim {
		return XFloat{1, remainderLim}
	}
	return up
}

// div sets z = x / y, and NaN for y = 0.
//
// With the largest k for which Q = X 2^k / Y stays below the target of rounding, the
// significand is Q to nearest, nearly: |error| ≤ 1/2 + 2^-20.
func (b *Base) div(z, x, y *val, w *scratch) {
	switch {
	case x.isNaN() || y.isNaN() || y.isZero():
		z.setNaN()
		return
	case x.isZero():
		z.setZero()
		return
	}
	exp, neg := int64(x.exp)-int64(y.exp), x.neg != y.neg
	ye := b.evaluate(y.x, y.ev.Up, w)
	k := max(fit(x.ev.Up, b.target.MulDown(b.mLo).MulDown(y.ev.Lo)), 0) // 0 for X ≤ S, Y = 1

	q, r, d := w.q, w.r, w.t
	clear(q)
	b.mulPow2(r, x.x, k)
	re, negR := b.evaluate(r, x.ev.Up.scale(int64(k), true), w), false
	for {
		digit, t := nextDigit(re.Lo, ye.Lo)
		if digit == 0 {
			break
		}
		b.setUint(d, digit)
		b.mulPow2(d, d, t)
		b.addSigned(q, d, negR)
		b.mulMod(d, d, y.x)
		b.subMod(r, r, d)
		if digit == 1 && t == 0 || isZero(r) { // the remainder is at most 1/2 of Y
			break
		}
		up := remainderBound(y.ev.Up, t)
		if b.sign(r, up, w) < 0 {
			b.negMod(r, r)
			negR = !negR
		}
		re = b.evaluate(r, up, w)
	}
	copy(z.x, q)
	z.neg, z.ev = neg, b.evaluate(q, b.lim.AddUp(b.iUp), w)
	b.finish(z, exp-int64(k), w)
}

// addSigned sets q = q + d, or q - d for neg.
func (b *Base) addSigned(q, d []uint32, neg bool) {
	if neg {
		b.subMod(q, q, d)
	} else {
		b.addMod(q, q, d)
	}
}

// sqrt sets z to the square root of x, and NaN for x < 0.
//
// With the largest k for which exp - k is even and Q = √(X 2^k) stays below the
// target of rounding, the significand is Q to nearest, nearly: |error| ≤ 1/2 + 2^-20.
func (b *Base) sqrt(z, x *val, w *scratch) {
	switch {
	case x.isNaN() || x.neg && !x.isZero():
		z.setNaN()
		return
	case x.isZero():
		z.setZero()
		return
	}
	exp := int64(x.exp)
	k := fit(x.ev.Up, b.target.MulDown(b.target).MulDown(b.mLo))
	if (exp-int64(k))%2 != 0 {
		k--
	}
	square, q, r, d := w.u, w.q, w.r, w.t
	b.mulPow2(square, x.x, k)
	e := b.evaluate(square, x.ev.Up.scale(int64(k), true), w)

	// The first digit: √(e M).
	f, i := e.Lo.F*b.mLo.F, int(e.Lo.I)+int(b.mLo.I)
	if i%2 != 0 {
		f, i = f/2, i+1
	}
	digit, t := leading(math.Sqrt(f), i/2)
	b.setUint(d, digit)
	b.mulPow2(q, d, t)
	twice := b.evaluate(q, b.lim.AddUp(b.iUp), w).scale(1)
	for {
		b.mulMod(r, q, q)
		b.subMod(r, square, r) // X 2^k - Q²
		if isZero(r) {
			break
		}
		up := remainderBound(twice.Up, t)
		negR := b.sign(r, up, w) < 0
		if negR {
			b.negMod(r, r)
		}
		digit, s := nextDigit(b.evaluate(r, up, w).Lo, twice.Lo)
		if digit == 0 {
			break
		}
		t = s
		b.setUint(d, digit)
		b.mulPow2(d, d, t)
		b.addSigned(q, d, negR)
		if digit == 1 && t == 0 {
			break
		}
	}
	copy(z.x, q)
	z.neg, z.ev = false, b.evaluate(q, b.lim.AddUp(b.iUp), w)
	b.finish(z, (exp-int64(k))/2, w)
}

package rns

import "math"

// Finite numbers have exponents from minExp to maxExp. The exponent nanExp, with a
// zero significand, marks NaN.
const (
	maxExp = 1 << 30
	minExp = -maxExp
	nanExp = math.MaxInt32
)

// val is a number (-1)^neg X 2^exp: the fields of a Number, or of one number of an
// Array, whose residues it shares. See doc.go for the conditions on its fields.
type val struct {
	x   []uint32 // residues of X
	ev  Interval // encloses X/M
	exp int32
	neg bool
}

func (v *val) isNaN() bool  { return v.exp == nanExp }
func (v *val) isZero() bool { return v.ev.Up.isZero() && v.exp != nanExp }

func (v *val) setZero() {
	clear(v.x)
	v.ev, v.exp, v.neg = Interval{}, 0, false
}

func (v *val) setNaN() {
	v.setZero()
	v.exp = nanExp
}

// set copies u to v.
func (v *val) set(u *val) {
	copy(v.x, u.x)
	v.ev, v.exp, v.neg = u.ev, u.exp, u.neg
}

// setExp stores an exponent; beyond the range a number becomes NaN or zero.
func (v *val) setExp(e int64) {
	switch {
	case e > maxExp:
		v.setNaN()
	case e < minExp:
		v.setZero()
	default:
		v.exp = int32(e)
	}
}

// Each operation below sets z from operands that are distinct from z, but may share their residues
// with it.

// add sets z = x + y, with the sign of y inverted for minus.
//
// The operand of the larger exponent is scaled up to the smaller one, which is exact, as long as
// its evaluation stays below sumLim. Otherwise the other operand is below S/(15/16 M) times as
// large, and is dropped.
func (b *Base) add(z, x, y *val, minus bool, w *scratch) {
	yNeg := y.neg != minus
	switch {
	case x.isNaN() || y.isNaN():
		z.setNaN()
		return
	case y.isZero():
		z.set(x)
		return
	case x.isZero():
		z.set(y)
		z.neg = yNeg
		return
	}
	p, q, pNeg, qNeg := x, y, x.neg, yNeg
	if p.exp < q.exp {
		p, q, pNeg, qNeg = q, p, qNeg, pNeg
	}
	px, pe := p.x, p.ev
	if d := int64(p.exp) - int64(q.exp); d > 0 {
		if d > b.room(pe.Up) {
			z.set(p)
			z.neg = pNeg
			return
		}
		b.mulPow2(w.t, px, int(d))
		px, pe = w.t, pe.scale(int(d))
	}
	b.combine(z, int64(q.exp), addend{px, pe, pNeg}, addend{q.x, q.ev, qNeg}, w)
}

// room returns the largest k with 2^k up ≤ sumLim.
func (b *Base) room(up XFloat) int64 { return int64(fit(up, b.sumLim)) }

// fit returns the largest k with 2^k x ≤ lim.
func fit(x, lim XFloat) int {
	k := int(lim.I) - int(x.I)
	if x.F > lim.F {
		k--
	}
	return k
}

// addend is a significand, not zero, with its evaluation and sign.
type addend struct {
	x   []uint32
	ev  Interval
	neg bool
}

// combine sets z to p + q, both times 2^exp, rounded.
func (b *Base) combine(z *val, exp int64, p, q addend, w *scratch) {
	z.neg = p.neg
	switch {
	case p.neg == q.neg:
		b.addMod(z.x, p.x, q.x)
		z.ev = Interval{p.ev.Lo.AddDown(q.ev.Lo), p.ev.Up.AddUp(q.ev.Up)}
	case q.ev.Up.less(p.ev.Lo):
		b.subMod(z.x, p.x, q.x)
		z.ev = Interval{p.ev.Lo.SubDown(q.ev.Up), p.ev.Up.SubUp(q.ev.Lo)}
	case p.ev.Up.less(q.ev.Lo):
		b.subMod(z.x, q.x, p.x)
		z.ev = Interval{q.ev.Lo.SubDown(p.ev.Up), q.ev.Up.SubUp(p.ev.Lo)}
		z.neg = q.neg
	default: // the evaluations overlap
		b.subMod(z.x, p.x, q.x)
		if isZero(z.x) {
			z.setZero()
			return
		}
		up := maxX(p.ev.Up.SubUp(q.ev.Lo), q.ev.Up.SubUp(p.ev.Lo))
		if b.sign(z.x, up, w) < 0 {
			b.negMod(z.x, z.x)
			z.neg = q.neg
		}
		z.ev = b.evaluate(z.x, up, w)
	}
	b.finish(z, exp, w)
}

func maxX(x, y XFloat) XFloat {
	if x.less(y) {
		return y
	}
	return x
}

// mul sets z = x y. The product of the significands is exact, as S² < M.
func (b *Base) mul(z, x, y *val, w *scratch) {
	switch {
	case x.isNaN() || y.isNaN():
		z.setNaN()
		return
	case x.isZero() || y.isZero():
		z.setZero()
		return
	}
	exp := int64(x.exp) + int64(y.exp)
	z.neg, z.ev = x.neg != y.neg, b.mulEval(x.ev, y.ev)
	b.mulMod(z.x, x.x, y.x)
	b.finish(z, exp, w)
}

// mulEval returns an evaluation of X Y from evaluations of X and Y.
func (b *Base) mulEval(x, y Interval) Interval {
	return Interval{
		x.Lo.MulDown(y.Lo).MulDown(b.mLo),
		x.Up.MulUp(y.Up).MulUp(b.mUp),
	}
}

// finish normalises z, not zero, as doc.go requires, with the exponent exp before rounding.
func (b *Base) finish(z *val, exp int64, w *scratch) {
	if z.ev.tooWide() {
		z.ev = b.evaluate(z.x, z.ev.Up, w)
	}
	if b.lim.less(z.ev.Up) {
		exp += int64(b.round(z, w))
	}
	z.setExp(exp)
}

// round scales the significand of z down by the least 2^k that brings it below
// target, to nearest, and returns k.
func (b *Base) round(z *val, w *scratch) int {
	k := -fit(z.ev.Up, b.target)
	b.scaleDown(z.x, z.x, k, w)
	e := z.ev.scale(-k)
	z.ev = Interval{e.Lo.SubDown(b.half), e.Up.AddUp(b.half)}
	if z.ev.tooWide() {
		z.ev = b.evaluate(z.x, z.ev.Up, w)
	}
	return k
}

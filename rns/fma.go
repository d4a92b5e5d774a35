package rns

// fma sets z = x y + c with one rounding of an almost exact value (see doc.go).
func (b *Base) fma(z, x, y, c *val, w *scratch) {
	switch {
	case x.isNaN() || y.isNaN() || c.isNaN():
		z.setNaN()
		return
	case x.isZero() || y.isZero():
		z.set(c)
		return
	case c.isZero():
		b.mul(z, x, y, w)
		return
	}
	b.mulMod(w.u, x.x, y.x)
	p, pe, pNeg := w.u, b.mulEval(x.ev, y.ev), x.neg != y.neg
	if pe.tooWide() {
		pe = b.evaluate(p, pe.Up, w)
	}
	exp := int64(x.exp) + int64(y.exp)
	d := exp - int64(c.exp)
	switch {
	case d >= 0 && d > b.room(pe.Up): // c is below S/(15/16 M) times the product
		copy(z.x, p)
		z.neg, z.ev = pNeg, pe
		b.finish(z, exp, w)
	case d >= 0:
		b.mulPow2(p, p, int(d))
		b.combine(z, int64(c.exp), addend{p, pe.scale(int(d)), pNeg}, addend{c.x, c.ev, c.neg}, w)
	default:
		b.addProduct(z, p, pe, pNeg, exp, c, -d, w)
	}
}

// sharedRoom is the room, in bits, that each of two addends leaves for the other one.
const sharedRoom = 2

// addProduct sets z to (-1)^neg P 2^exp + c for a c of the exponent exp + k, k > 0.
// c is scaled up as far as it goes, the product down by the rest, at least by 2 if
// both would come too close to M.
func (b *Base) addProduct(z *val, p []uint32, pe Interval, neg bool, exp int64, c *val, k int64, w *scratch) {
	j := min(k, b.room(c.ev.Up)-sharedRoom)
	if j == k && b.room(pe.Up) < sharedRoom {
		j = max(k-sharedRoom, 0)
	}
	if r := k - j; r > 0 {
		bits := int64(b.bigM.BitLen() + 1)
		b.scaleDown(p, p, int(min(r, bits)), w)
		if isZero(p) {
			z.set(c)
			return
		}
		pe = pe.scale(-int(r))
		pe = Interval{pe.Lo.SubDown(b.half), pe.Up.AddUp(b.half)}
		if pe.tooWide() {
			pe = b.evaluate(p, pe.Up, w)
		}
		exp += r
	}
	b.mulPow2(w.t, c.x, int(j))
	b.combine(z, exp, addend{w.t, c.ev.scale(int(j)), c.neg}, addend{p, pe, neg}, w)
}

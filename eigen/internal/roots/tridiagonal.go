package roots

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sync"

	"gonum.org/v1/gonum/lapack/gonum"
)

// A tridiagonal is a symmetric tridiagonal matrix T with nonzero off-diagonal entries, so that its
// eigenvalues differ from each other. Its entries are at most about 1 in magnitude.
type tridiagonal struct {
	n int
	// entries returns the diagonal and the squares of the off-diagonal entries, each rounded to w
	// bits.
	entries func(w uint) (a, square []*big.Float)

	seeds  []float64 // approximate eigenvalues, ascending
	norm   *big.Float
	mu     sync.Mutex
	levels map[uint]level
}

// A level counts eigenvalues in arithmetic of some precision. u bounds the relative error of every
// operation.
//
// Let q_k = (a_k - x) - s_(k-1) / q_(k-1) be the computed pivots, s the squares of the off-diagonal
// entries. With errors ε of the operations,
//
//	q_k / ((1 + ε_1)(1 + ε_4)) = (a_k - x) - s_(k-1) (1 + ε_2)(1 + ε_3) / ((1 + ε_1) q_(k-1)),
//
// ε_1 the error of a_k - x, ε_2 of the quotient, ε_3 of s, ε_4 of the difference. So the left
// sides, which have the signs of the q_k, are the exact pivots of a matrix T' - x I. The diagonals
// of T' and T are equal, and the squares of off-diagonal entries differ by factors with six errors
// (1 + ε): three above, one below, and the two of the pivot before. So the entries b differ by at
// most 3.1 u b, and by Weyl's theorem the eigenvalues of T' and T by at most 3.1 u max (b_(k-1) +
// b_k), plus u max |a_k| for the rounding of the diagonal. A pivot that is 0 is replaced by u max
// b, as if a_k were larger by that. slack bounds the sum of these differences.
//
// If n pivots are negative, T' has n eigenvalues below x (Sylvester). So n eigenvalues of T are
// below x + slack, and the others are at least x - slack.
type level interface {
	bits() uint // precision of shifts
	slack() *big.Float
	// count returns the numbers of negative pivots for the shifts x and y; not ok if exponents
	// leave the range of the arithmetic.
	count(x, y *big.Float) (n, m int, ok bool)
	// correct is count for one shift, and estimates the distance from x to the nearest eigenvalue:
	// γ/‖z‖², where z is the vector of the twisted factorisation with the smallest γ (Dhillon and
	// Parlett, 2004). by is nil if there is no estimate.
	correct(x *big.Float) (n int, by *big.Float, ok bool)
	// gain is the factor by which a correction may exceed its own error.
	gain() float64
}

// guardBits are the bits by which enclosures are narrower than the numbers of a format: one entry
// in about 2^guardBits needs another attempt.
const guardBits = 24

func newTridiagonal(n int, entries func(w uint) (a, square []*big.Float)) *tridiagonal {
	t := &tridiagonal{n: n, entries: entries, levels: map[uint]level{}}
	a, s := entries(64)
	d, e := make([]float64, n), make([]float64, max(n-1, 0))
	largest := 0.0
	for k := range d {
		d[k], _ = a[k].Float64()
		largest = max(largest, math.Abs(d[k]))
	}
	off := 0.0
	for k := range e {
		e[k], _ = new(big.Float).Sqrt(s[k]).Float64()
		off = max(off, e[k])
	}
	// A bound of the magnitude of all eigenvalues; 2 covers the roundings.
	t.norm = new(big.Float).SetFloat64(float64(largest+float64(2*off)) * 2)
	ok := gonum.Implementation{}.Dsterf(n, d, e)
	for _, x := range d {
		ok = ok && math.Abs(x) <= math.MaxFloat64
	}
	if !ok {
		d = make([]float64, n) // no seeds: bisection finds the eigenvalues
	}
	t.seeds = d
	return t
}

// level returns a level with about the given bits or more.
func (t *tridiagonal) level(w uint) level {
	if w > doubleBits-doubleLoss {
		w = (w + 63) / 64 * 64
	} else {
		w = doubleBits
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.levels[w]; l != nil {
		return l
	}
	var l level
	if w == doubleBits {
		if d := newDoubles(t); d != nil {
			l = d
		}
	}
	if l == nil {
		l = newFloats(t, max(w, 128))
	}
	t.levels[w] = l
	return l
}

// doubleLoss are the bits by which enclosures in double-double arithmetic are usually wider than u.
const doubleLoss = 16

// floats returns the level of w bits in numbers of math/big.
func (t *tridiagonal) floats(w uint) level {
	w = (w+63)/64*64 + 1
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.levels[w] == nil {
		t.levels[w] = newFloats(t, w)
	}
	return t.levels[w]
}

// enclosed is an eigenvalue and what is known about it.
type enclosed struct {
	t      *tridiagonal
	i      int        // number of smaller eigenvalues
	lo, hi *big.Float // lo ≤ λ ≤ hi
	x      *big.Float // an approximation
	gap    float64    // approximate distance to the next eigenvalue
	bits   uint       // for which the enclosure was narrowed
}

func (t *tridiagonal) eigenvalue(i int) *enclosed {
	e := &enclosed{t: t, i: i, lo: new(big.Float).Neg(t.norm), hi: t.norm, x: big.NewFloat(t.seeds[i]), gap: math.Inf(1)}
	if i > 0 {
		e.gap = t.seeds[i] - t.seeds[i-1]
	}
	if i+1 < t.n {
		e.gap = min(e.gap, t.seeds[i+1]-t.seeds[i])
	}
	return e
}

// refine narrows the enclosure to a few times the slack of a level of w bits or more. The first
// steps have about as many bits as the next ones need.
func (e *enclosed) refine(ctx context.Context, w uint) error {
	steps := []uint{w}
	for v := w; v > doubleBits; {
		v = max(v/2+40, doubleBits-doubleLoss)
		if v > 160 && v < 200 { // little less than the next step
			continue
		}
		if v <= 160 {
			v = doubleBits - doubleLoss
		}
		steps = append(steps, v)
		if v < doubleBits {
			break
		}
	}
	slices.Reverse(steps)
	for _, v := range steps {
		if v <= e.bits {
			continue
		}
		for l := e.t.level(v); !e.narrow(ctx, l); l = e.t.floats(max(v, 128)) {
			// exponents left the range of double-double
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e.bits = v
	}
	return nil
}

// narrow narrows the enclosure to a few times the slack of a level; not ok if exponents leave the
// range of its arithmetic. Where the nearest eigenvalue's correction leads out of the bounds known
// so far, the next shift is their middle.
func (e *enclosed) narrow(ctx context.Context, l level) (ok bool) {
	w, slack := l.bits(), l.slack()
	down, up := outward(w + 64)
	// Bounds of the eigenvalue of T' for this level: T' depends on the shift, so they may cross the
	// true eigenvalue by slack.
	lo, hi := e.lo, e.hi
	note := func(x *big.Float, n int) {
		if n > e.i {
			if x.Cmp(hi) < 0 {
				hi = new(big.Float).Set(x)
			}
			if v := up().Add(x, slack); v.Cmp(e.hi) < 0 {
				e.hi = v
			}
			return
		}
		if x.Cmp(lo) > 0 {
			lo = new(big.Float).Set(x)
		}
		if v := down().Sub(x, slack); v.Cmp(e.lo) > 0 {
			e.lo = v
		}
	}
	x := new(big.Float).SetPrec(w).Set(e.x)
	r := new(big.Float).SetMantExp(slack, 1)
	width := func() *big.Float { return new(big.Float).SetPrec(64).Sub(e.hi, e.lo) }
	enough := new(big.Float).SetMantExp(slack, 4)
	failed := 0
	for steps := 0; width().Cmp(enough) > 0; steps++ {
		if ctx.Err() != nil {
			return true
		}
		n, by, fine := l.correct(x)
		if !fine {
			return false
		}
		note(x, n)
		inside := false
		if by != nil && steps < 32 {
			x.Add(x, by)
			inside = x.Cmp(lo) > 0 && x.Cmp(hi) < 0
		}
		if !inside {
			x.SetMantExp(x.Add(lo, hi), -1)
			if x.Cmp(lo) <= 0 || x.Cmp(hi) >= 0 { // adjacent numbers
				break
			}
			continue
		}
		// The error of a Rayleigh quotient is about the square of that of its vector.
		left, _ := by.Float64()
		if s, _ := slack.Float64(); math.Abs(left) > s && !(float64(left*left) < float64(e.gap*s) && math.Abs(left) < s*l.gain()) {
			continue
		}
		// Steps from x down and up grow until the eigenvalue is between them.
		for step := new(big.Float).Copy(r); ; step.SetMantExp(step, 8) {
			below, above := new(big.Float).SetPrec(w).Sub(x, step), new(big.Float).SetPrec(w).Add(x, step)
			n, m, fine := l.count(below, above)
			if !fine {
				return false
			}
			note(below, n)
			note(above, m)
			if n <= e.i && m > e.i {
				break
			}
		}
		if x.Cmp(lo) <= 0 || x.Cmp(hi) >= 0 {
			x.SetMantExp(x.Add(lo, hi), -1)
		}
		if failed++; failed > 1 && failed < 8 { // estimates have larger errors here
			r.SetMantExp(r, 1)
			enough.SetMantExp(enough, 1)
		}
	}
	e.x = new(big.Float).Copy(x)
	return true
}

// outward returns makers of numbers that round down and up.
func outward(w uint) (down, up func() *big.Float) {
	return func() *big.Float { return new(big.Float).SetPrec(w).SetMode(big.ToNegativeInf) },
		func() *big.Float { return new(big.Float).SetPrec(w).SetMode(big.ToPositiveInf) }
}

// floats is the level of numbers of math/big.
type floats struct {
	w         uint
	a, square []*big.Float
	err, tiny *big.Float
}

func newFloats(t *tridiagonal, w uint) *floats {
	l := &floats{w: w}
	l.a, l.square = t.entries(w)
	l.err, l.tiny = slackOf(l.a, l.square, int(w))
	return l
}

// slackOf returns the slack and the replacement of pivots that are 0 for u = 2^-w: with the largest
// off-diagonal entry b and diagonal entry a, 3.1 u 2 b + u b + u a < u (8 b + a).
func slackOf(a, square []*big.Float, w int) (slack, tiny *big.Float) {
	largest, off := new(big.Float).SetPrec(64), new(big.Float).SetPrec(64)
	for _, x := range a {
		if y := new(big.Float).Abs(x); y.Cmp(largest) > 0 {
			largest.Set(y)
		}
	}
	for _, s := range square {
		if s.Cmp(off) > 0 {
			off.Set(s)
		}
	}
	off.Sqrt(off)
	tiny = new(big.Float).SetMantExp(off, -w)
	slack = new(big.Float).SetPrec(64).Add(new(big.Float).SetMantExp(off, 3), largest)
	slack.Mul(slack, big.NewFloat(1.001)) // the roundings of these lines
	return slack.SetMantExp(slack, -w), tiny
}

func (l *floats) bits() uint        { return l.w }
func (l *floats) slack() *big.Float { return l.err }

// pivots computes the pivots from the first row on, or from the last row up if back is set, and
// calls each with them.
func (l *floats) pivots(x *big.Float, back bool, each func(k int, shifted, q *big.Float)) {
	n := len(l.a)
	q, s, t := new(big.Float).SetPrec(l.w), new(big.Float).SetPrec(l.w), new(big.Float).SetPrec(l.w)
	for j := range n {
		k, off := j, j-1
		if back {
			k, off = n-1-j, n-1-j
		}
		l.difference(t, l.a[k], x)
		if j == 0 {
			q.Set(t)
		} else {
			l.difference(q, t, s.Quo(l.square[off], q))
		}
		if q.Sign() == 0 {
			q.Set(l.tiny)
			if q.Sign() == 0 { // a matrix of order 1
				q.SetMantExp(big.NewFloat(1), -int(l.w))
			}
		}
		each(k, t, q)
	}
}

// difference sets z to x - y with a relative error of at most u. math/big would compute all bits
// between two numbers far apart.
func (l *floats) difference(z, x, y *big.Float) {
	if x.Sign() != 0 && y.Sign() != 0 {
		apart := x.MantExp(nil) - y.MantExp(nil)
		if apart > int(l.w)+2 {
			z.Set(x)
			return
		}
		if -apart > int(l.w)+2 {
			z.Neg(y)
			return
		}
	}
	z.Sub(x, y)
}

func (l *floats) count(x, y *big.Float) (n, m int, ok bool) {
	l.pivots(x, false, func(_ int, _, q *big.Float) { n += boolInt(q.Sign() < 0) })
	l.pivots(y, false, func(_ int, _, q *big.Float) { m += boolInt(q.Sign() < 0) })
	return n, m, true
}

func (l *floats) correct(x *big.Float) (n int, by *big.Float, ok bool) {
	m := len(l.a)
	top, bottom := make([]*big.Float, m), make([]*big.Float, m)
	l.pivots(x, false, func(k int, _, q *big.Float) {
		n += boolInt(q.Sign() < 0)
		top[k] = new(big.Float).Copy(q)
	})
	at := -1
	var least *big.Float
	g, opposite := new(big.Float).SetPrec(l.w), new(big.Float)
	l.pivots(x, true, func(k int, shifted, q *big.Float) {
		bottom[k] = new(big.Float).Copy(q)
		l.difference(g, top[k], opposite.Neg(q))
		l.difference(g, g, shifted)
		if least == nil || magnitude(g).Cmp(magnitude(least)) < 0 {
			least, at = new(big.Float).Copy(g), k
		}
	})
	// Half the bits suffice for the norm: corrections are about 2^(-w/2) in the end.
	h := l.w/2 + 32
	norm := new(big.Float).SetPrec(h).SetInt64(1)
	z, s := new(big.Float).SetPrec(h).SetInt64(1), new(big.Float).SetPrec(h)
	times := func(k int, q *big.Float) (more bool) { // z² becomes z² b² / q²
		z.Mul(z, s.Set(l.square[k]))
		z.Quo(z, s.Mul(q, q))
		switch apart := z.MantExp(nil) - norm.MantExp(nil); {
		case z.Sign() == 0 || apart < -int(h): // math/big would compute all bits between them
		case apart > int(h):
			norm.Set(z)
		default:
			norm.Add(norm, z)
		}
		return z.Sign() != 0 && !z.IsInf() // small entries may stand between large ones
	}
	for k := at; k > 0 && times(k-1, top[k-1]); k-- { // z_(k-1) = -b_(k-1) z_k / top_(k-1)
	}
	z.SetInt64(1)
	for k := at; k+1 < m && times(k, bottom[k+1]); k++ {
	}
	if norm.IsInf() {
		return n, nil, true
	}
	return n, least.Quo(least, norm), true
}

func (l *floats) gain() float64 { return math.Ldexp(1, int(min(l.w/2, 1000))) }

func magnitude(x *big.Float) *big.Float { return new(big.Float).Abs(x) }

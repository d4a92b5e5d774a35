package roots

import (
	"math"
	"math/big"
	"slices"
	"sync"
)

// double is the number h + l, |l| ≤ ulp(h)/2: double-double arithmetic, u = 2^-53. If nothing
// underflows, sums have a relative error of at most 3u² + O(u³) (Joldes, Muller and Popescu, Tight
// and rigorous error bounds for basic building blocks of double-word arithmetic, 2017, algorithm
// 6). Quotients have one of at most 13u² + O(u³): see quo. Both are below 2^-doubleBits.
type double struct{ h, l float64 }

const doubleBits = 102

// shiftBits are bits of numbers that every double holds.
const shiftBits = 104

func twoSum(x, y float64) (s, e float64) {
	s = x + y
	t := s - x
	return s, (x - (s - t)) + (y - t)
}

func fastTwoSum(x, y float64) (s, e float64) {
	s = x + y
	return s, y - (s - x)
}

func (x double) sub(y double) double {
	s, e := twoSum(x.h, -y.h)
	t, f := twoSum(x.l, -y.l)
	v, w := fastTwoSum(s, e+t)
	z := double{}
	z.h, z.l = fastTwoSum(v, f+w)
	return z
}

// quo returns x/y. Let t = RN(x_h/y_h), so that |x - t y| ≤ 3u |x| + O(u²). The product r of t and
// y has an error of at most 2u² (algorithm 9 of the same paper). x_h - r_h is exact (Sterbenz),
// |x_l - r_l| ≤ 2u |x| is rounded with an error of 2u², and the sum d of both, about 3u |x|, with
// an error of 3u². y_h in place of y changes d/y by 3u², and rounding d/y_h adds 3u².
func (x double) quo(y double) double {
	t := x.h / y.h
	p := float64(t * y.h)
	e := math.FMA(t, y.h, -p)
	c := math.FMA(t, y.l, e)
	rh, rl := fastTwoSum(p, c)
	d := (x.h - rh) + (x.l - rl)
	z := double{}
	z.h, z.l = fastTwoSum(t, d/y.h)
	return z
}

// doubleOf returns x, which is exact for numbers of up to shiftBits bits.
func doubleOf(x *big.Float) double {
	h, _ := x.Float64()
	l, _ := new(big.Float).SetPrec(x.Prec()+64).Sub(x, big.NewFloat(h)).Float64()
	return double{h, l}
}

// doubles is the level of double-double arithmetic.
type doubles struct {
	a, square []double
	err       *big.Float
	tiny      float64
	pairs     sync.Pool // of *pair
}

// Magnitudes for which no operation of pivots underflows or overflows.
const (
	leastDouble = 0x1p-300
	mostDouble  = 0x1p300
)

// newDoubles returns nil if entries are too small for double-double arithmetic.
func newDoubles(t *tridiagonal) *doubles {
	l := &doubles{}
	a, square := t.entries(128)
	for _, x := range a {
		y := doubleOf(x)
		if m := math.Abs(y.h); x.Sign() != 0 && !(m > leastDouble && m < mostDouble) {
			return nil
		}
		l.a = append(l.a, y)
	}
	for _, x := range square {
		y := doubleOf(x)
		if !(y.h > leastDouble && y.h < mostDouble) {
			return nil
		}
		l.square = append(l.square, y)
	}
	var tiny *big.Float
	l.err, tiny = slackOf(a, square, doubleBits)
	l.tiny, _ = tiny.Float64()
	return l
}

func (l *doubles) bits() uint        { return shiftBits }
func (l *doubles) gain() float64     { return 0x1p48 }
func (l *doubles) slack() *big.Float { return l.err }

// next returns the pivot after q, and a_k - x.
func (l *doubles) next(k int, x, square, q double) (pivot, shifted double) {
	shifted = l.a[k].sub(x)
	pivot = shifted.sub(square.quo(q))
	if pivot.h == 0 {
		pivot = double{l.tiny, 0}
	}
	return pivot, shifted
}

// safe reports whether operations with the pivot neither underflow nor overflow.
func (x double) safe() bool {
	m := math.Abs(x.h)
	return m > leastDouble && m < mostDouble
}

// A pair holds two sequences of pivots.
type pair struct{ p, q []double }

// pivots computes the pivots for shift x from the first row on, and the pivots for shift y
// likewise, or from the last row up if back is set. Each sequence is a chain of operations that
// wait for each other, so two at a time take little longer than one. It is not ok if exponents
// leave the range of the arithmetic.
func (l *doubles) pivots(x, y double, back bool, to *pair) (ok bool) {
	m := len(l.a)
	p, q := double{1, 0}, double{1, 0}
	to.p, to.q = slices.Grow(to.p[:0], m)[:m], slices.Grow(to.q[:0], m)[:m]
	for k := range m {
		var above, other double
		j := k
		if k > 0 {
			above, other = l.square[k-1], l.square[k-1]
		}
		if back {
			if j = m - 1 - k; k > 0 {
				other = l.square[j]
			}
		}
		p, _ = l.next(k, x, above, p)
		q, _ = l.next(j, y, other, q)
		if !p.safe() || !q.safe() {
			return false
		}
		to.p[k], to.q[j] = p, q
	}
	return true
}

func (l *doubles) take() *pair {
	if p, ok := l.pairs.Get().(*pair); ok {
		return p
	}
	return new(pair)
}

func negative(q []double) (n int) {
	for _, x := range q {
		if x.h < 0 {
			n++
		}
	}
	return n
}

func (l *doubles) count(x, y *big.Float) (n, m int, ok bool) {
	t := l.take()
	defer l.pairs.Put(t)
	if !l.pivots(doubleOf(x), doubleOf(y), false, t) {
		return 0, 0, false
	}
	return negative(t.p), negative(t.q), true
}

func (l *doubles) correct(x *big.Float) (n int, by *big.Float, ok bool) {
	t := l.take()
	defer l.pairs.Put(t)
	s := doubleOf(x)
	if !l.pivots(s, s, true, t) {
		return 0, nil, false
	}
	at := -1
	var least double
	for k, q := range t.q {
		g := t.p[k].sub(l.a[k].sub(s)).sub(double{-q.h, -q.l})
		if at < 0 || math.Abs(g.h) < math.Abs(least.h) {
			at, least = k, g
		}
	}
	norm, z := 1.0, 1.0
	for k := at; k > 0 && z != 0; k-- {
		q := t.p[k-1].h
		z = float64(z * (l.square[k-1].h / float64(q*q)))
		norm += z
	}
	z = 1
	for k := at; k+1 < len(l.a) && z != 0; k++ {
		q := t.q[k+1].h
		z = float64(z * (l.square[k].h / float64(q*q)))
		norm += z
	}
	n = negative(t.p)
	if !(norm <= math.MaxFloat64) {
		return n, nil, true
	}
	by = least.float()
	return n, by.Quo(by, big.NewFloat(norm)), true
}

// float returns x in shiftBits bits.
func (x double) float() *big.Float {
	z := new(big.Float).SetPrec(shiftBits).SetFloat64(x.h)
	return z.Add(z, big.NewFloat(x.l))
}

// times returns x y with a relative error of at most 5u² (algorithm 11 of the paper above).
func (x double) times(y double) double {
	p := float64(x.h * y.h)
	e := math.FMA(x.h, y.h, -p)
	c := math.FMA(x.l, y.h, float64(x.h*y.l))
	z := double{}
	z.h, z.l = fastTwoSum(p, e+c)
	return z
}

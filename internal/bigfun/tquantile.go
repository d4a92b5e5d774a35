package bigfun

import (
	"math"
	"math/big"
)

// TQuantile encloses the t for which the magnitude of a random number of Student's t distribution
// with n degrees of freedom is larger than t with probability alpha: lower ≤ t ≤ upper. It requires
// 0 < alpha < 1 and n ≥ 1. The relative width is about 2^(1-prec). Where alpha is too small or too
// near 1 for [FTail], the enclosure is wider, at worst 0 and +Inf.
//
// The tail P(t) = FTail(t², 1, n) is a convex and falling function of t, with the derivative
//
//	P'(t) = -2/(√n B(n/2, 1/2)) (n/(n + t²))^((n+1)/2).
//
// Bisection finds the first bits of t, and Newton's method the others. Neither is trusted: an end
// of the enclosure is returned only if the enclosure of its tail proves that it lies on its side of
// t.
func TQuantile(alpha *big.Rat, n int64, prec uint) (lower, upper *big.Float) {
	q := tQuantile{alpha: alpha, n: n, lower: new(big.Float), upper: new(big.Float).SetInf(false)}
	rest := new(big.Rat).Sub(big.NewRat(1, 1), alpha)
	q.extra = 64 + smallness(alpha) + smallness(rest)
	t := q.bisect()
	if t == nil {
		return q.lower, q.upper
	}
	w := min(uint(64), prec+32)
	for range mostNewton {
		t = q.newton(t, w)
		if t.Sign() <= 0 || t.IsInf() {
			break
		}
		if w >= prec+32 {
			d := new(big.Float).SetMantExp(integer(1, 64), -int(prec))
			q.test(down(w).Mul(t, down(w).Sub(integer(1, w), d)), w)
			q.test(up(w).Mul(t, up(w).Add(integer(1, w), d)), w)
			if q.narrow(prec) {
				break
			}
		}
		w = min(2*w-16, prec+32)
	}
	return q.lower, q.upper
}

// mostNewton bounds the steps of Newton's method, which takes about log2 prec.
const mostNewton = 32

// tQuantile is the state of one call of TQuantile.
type tQuantile struct {
	alpha        *big.Rat
	n            int64
	extra        uint       // bits that tails have more than t
	lower, upper *big.Float // proved bounds of t
}

// smallness returns the k with 2^-k ≤ x, for 0 < x < 1, rounded up.
func smallness(x *big.Rat) uint {
	return uint(max(0, x.Denom().BitLen()-x.Num().BitLen()+1))
}

// tail encloses P(t) - alpha.
func (q *tQuantile) tail(t *big.Float, w uint) (lower, upper *big.Float) {
	w += q.extra
	square := number(2*t.Prec()).Mul(t, t) // exact
	low, high := FTail(square, 1, q.n, w)
	return down(w).Sub(low, up(w).SetRat(q.alpha)), up(w).Sub(high, down(w).SetRat(q.alpha))
}

// test raises lower or reduces upper to t, whichever P(t) proves. It returns the sign of P(t) -
// alpha, or 0 if that is unknown.
func (q *tQuantile) test(t *big.Float, w uint) int {
	lower, upper := q.tail(t, w)
	switch {
	case lower.Sign() > 0:
		if t.Cmp(q.lower) > 0 {
			q.lower = t
		}
		return 1
	case upper.Sign() < 0:
		if t.Cmp(q.upper) < 0 {
			q.upper = t
		}
		return -1
	}
	return 0
}

// narrow reports whether the relative width of the enclosure is at most about 2^(1-prec).
func (q *tQuantile) narrow(prec uint) bool {
	if q.lower.Sign() == 0 || q.upper.IsInf() {
		return false
	}
	width := new(big.Float).SetPrec(64).Sub(q.upper, q.lower)
	return width.MantExp(nil)-q.lower.MantExp(nil) <= 3-int(prec)
}

// bisect returns a number near t where Newton's method converges, or nil if tails do not separate
// numbers from t.
func (q *tQuantile) bisect() *big.Float {
	const w = 64
	// Powers of 2, by ever larger steps until some are on both sides of t, then by smaller ones.
	low, high := math.MinInt, math.MaxInt
	for e, step := 0, 1; low == math.MinInt || high == math.MaxInt || high-low > 1; {
		switch q.test(scale(integer(1, w), e), w) {
		case 1:
			low = e
		case -1:
			high = e
		default:
			return q.either(scale(integer(1, w), e))
		}
		switch {
		case low == math.MinInt:
			e -= step
			step *= 2
		case high == math.MaxInt:
			e += step
			step *= 2
		default:
			e = low + (high-low)/2
		}
		if max(e, -e) > 1<<29 {
			return nil
		}
	}
	// Newton's method is fast from numbers with relative errors below |P'(t) / (t P''(t))|. This is
	// (n + t²) / ((n + 1) t²), which falls with t.
	for {
		a, _ := q.lower.Float64()
		b, _ := q.upper.Float64()
		n := float64(q.n)
		if a == 0 || math.IsInf(float64(b*b), 0) || b/a-1 < 1/(8+float64(8*(n+1))/(1+n/float64(b*b))) {
			return q.lower
		}
		mid := number(w).Add(q.lower, q.upper)
		mid = scale(mid, -1)
		if mid.Cmp(q.lower) <= 0 || mid.Cmp(q.upper) >= 0 {
			return q.lower
		}
		if q.test(mid, w) == 0 {
			return mid
		}
	}
}

// either returns t if Newton's method can begin with it: if it has at least some bits in common
// with the quantile, as its tail is alpha as far as is known.
func (q *tQuantile) either(t *big.Float) *big.Float {
	lower, upper := q.tail(t, 64)
	if new(big.Float).Sub(upper, lower).MantExp(nil) > -32-int(smallness(q.alpha)) {
		return nil
	}
	return t
}

// newton returns t - (P(t) - alpha)/P'(t) in w bits.
func (q *tQuantile) newton(t *big.Float, w uint) *big.Float {
	lower, upper := q.tail(t, w)
	p := w + q.extra
	d := scale(number(p).Add(lower, upper), -1)
	n := integer(q.n, p)
	x := number(p).Quo(n, number(p).Add(n, number(p).Mul(t, t)))
	slope := halfPower(x, q.n+1, p)
	slope.Mul(slope, inverseBeta(q.n, 1, p))
	slope.Quo(slope, number(p).Sqrt(n))
	slope = scale(slope, 1)
	if slope.Sign() == 0 {
		return new(big.Float)
	}
	return number(w).Add(t, d.Quo(d, slope))
}

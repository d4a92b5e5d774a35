// Package bigfun computes elementary functions of big.Float numbers with a relative error below
// 2^-prec, by simple and slow methods. It serves package linsolve, the tests of package expansion
// as a reference, and the generation of package expansion's tables. Arguments are finite and in the
// domain of the function.
package bigfun

import (
	"math"
	"math/big"
	"sync"
)

// guard is the number of extra bits that cover the rounding of a few hundred operations.
const guard = 64

// exact is a precision that holds sums of a few float64 numbers without rounding.
const exact = 4400

func number(prec uint) *big.Float { return new(big.Float).SetPrec(prec) }

func integer(i int64, prec uint) *big.Float { return number(prec).SetInt64(i) }

// small reports whether |x| < 2^e.
func small(x *big.Float, e int) bool { return x.Sign() == 0 || x.MantExp(nil) <= e }

func scale(x *big.Float, e int) *big.Float { return new(big.Float).SetMantExp(x, e) }

// series returns Σ t_k, t_0 = first, t_k = next(t_(k-1), k), up to terms that no longer contribute.
func series(first *big.Float, next func(t *big.Float, k int64), prec uint) *big.Float {
	t, sum := number(prec).Set(first), number(prec)
	for k := int64(1); t.Sign() != 0 && (sum.Sign() == 0 || t.MantExp(nil) > sum.MantExp(nil)-int(prec)-2); k++ {
		sum.Add(sum, t)
		next(t, k)
	}
	return sum
}

// constant caches one constant to the largest precision requested so far.
type constant struct {
	mu    sync.Mutex
	value *big.Float
	f     func(prec uint) *big.Float
}

func (c *constant) get(prec uint) *big.Float {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.value == nil || c.value.Prec() < prec+guard {
		c.value = c.f(prec + guard)
	}
	return c.value
}

// inverseSeries returns Σ s^k / ((2k+1) n^(2k+1)): atanh(1/n) for s = 1, atan(1/n) for s = -1.
func inverseSeries(n, s int64, prec uint) *big.Float {
	p := number(prec).Quo(integer(1, prec), integer(n, prec))
	n2 := integer(s*n*n, prec)
	sum, t := number(prec), number(prec)
	for k := int64(0); p.MantExp(nil) > -int(prec)-2; k++ {
		sum.Add(sum, t.Quo(p, integer(2*k+1, prec)))
		p.Quo(p, n2)
	}
	return sum
}

var ln2 = constant{f: func(prec uint) *big.Float { return scale(inverseSeries(3, 1, prec), 1) }}

// π/4 = 4 atan(1/5) - atan(1/239), by Machin.
var pi = constant{f: func(prec uint) *big.Float {
	a, b := scale(inverseSeries(5, -1, prec), 4), scale(inverseSeries(239, -1, prec), 2)
	return a.Sub(a, b)
}}

// Ln2 returns ln 2.
func Ln2(prec uint) *big.Float { return ln2.get(prec) }

// Pi returns π.
func Pi(prec uint) *big.Float { return pi.get(prec) }

// Expm1 returns e^x - 1.
func Expm1(x *big.Float, prec uint) *big.Float {
	p := prec + guard
	if !small(x, 0) {
		e := Exp(x, p)
		return e.Sub(e, integer(1, p))
	}
	// (1 + u)^2 - 1 = u (2 + u) undoes the halving of the argument.
	const halvings = 16
	h := scale(number(p).Set(x), -halvings)
	u := series(h, func(t *big.Float, k int64) {
		t.Mul(t, h)
		t.Quo(t, integer(k+1, p))
	}, p)
	for range halvings {
		t := number(p).Add(u, integer(2, p))
		u.Mul(u, t)
	}
	return u
}

// Exp returns e^x, for |x| < 2^30.
func Exp(x *big.Float, prec uint) *big.Float {
	p := prec + guard
	q, _ := number(p).Quo(x, Ln2(p)).Float64()
	k := int(math.Floor(q))
	r := number(p).Mul(integer(int64(k), p), Ln2(p+64))
	r.Sub(x, r)
	e := Expm1(scale(r, -1), p)
	e.Add(e, integer(1, p))
	e.Mul(e, e)
	return scale(e, k)
}

// Log returns ln x.
func Log(x *big.Float, prec uint) *big.Float {
	m := new(big.Float)
	e := x.MantExp(m)
	return LogScaled(m, int64(e), prec)
}

// LogScaled returns ln(x 2^e), for 1/4 < x < 2.
func LogScaled(x *big.Float, e int64, prec uint) *big.Float {
	p := prec + guard
	for ; x.Cmp(big.NewFloat(0.7)) < 0; e-- {
		x = scale(x, 1)
	}
	for ; x.Cmp(big.NewFloat(1.45)) > 0; e++ {
		x = scale(x, -1)
	}
	l := Log1p(number(max(exact, p)).Sub(x, integer(1, exact)), p)
	return l.Add(l, number(p).Mul(integer(e, p), Ln2(p))) // |ln x| < 0.38
}

// Log1p returns ln(1 + x): by 2 atanh(x / (2 + x)) near 0, and else by Halley's iteration with Exp.
func Log1p(x *big.Float, prec uint) *big.Float {
	p := prec + guard
	w := max(exact, p)
	if small(x, -10) {
		s := number(w).Add(x, integer(2, exact))
		s = number(p).Quo(x, s)
		s2 := number(p).Mul(s, s)
		power := number(p).Set(s)
		return scale(series(s, func(t *big.Float, k int64) {
			power.Mul(power, s2)
			t.Quo(power, integer(2*k+1, p))
		}, p), 1)
	}
	a := number(w).Add(x, integer(1, exact))
	m := new(big.Float)
	e := a.MantExp(m)
	f, _ := m.Float64()
	y := number(p).SetFloat64(math.Log(f))
	y.Add(y, number(p).Mul(integer(int64(e), p), Ln2(p)))
	for bits := uint(45); bits < p; bits *= 3 {
		t := Exp(y, p)
		d := number(p).Sub(a, t)
		t.Add(t, a)
		d.Quo(d, t)
		y.Add(y, scale(d, 1))
	}
	return y
}

// Quadrant returns an integer q modulo 4 and r with x = q π/2 + r modulo 2π, |r| <= π/4.
func Quadrant(x *big.Float, prec uint) (q int, r *big.Float) {
	p := prec + guard
	if x.Sign() == 0 {
		return 0, number(p)
	}
	w := uint(max(0, x.MantExp(nil))) + x.MinPrec() + p // x may be so near to a multiple of π/2
	half := scale(Pi(w), -1)
	k := number(w).Quo(x, half)
	k.Add(k, number(w).SetFloat64(math.Copysign(0.5, float64(k.Sign()))))
	n, _ := k.Int(nil)
	t := number(w).SetInt(n)
	r = number(w).Sub(x, t.Mul(t, half))
	return int(new(big.Int).And(n, big.NewInt(3)).Int64()), number(p).Set(r)
}

// sinSeries returns Σ (-1)^k r^(2k+1) / (2k+1)!, and cosSeries Σ (-1)^k r^2k / (2k)!.
func sinSeries(r *big.Float, p uint) *big.Float {
	r2 := number(p).Mul(r, r)
	return series(r, func(t *big.Float, k int64) {
		t.Mul(t, r2)
		t.Quo(t, integer(-2*k*(2*k+1), p))
	}, p)
}

func cosSeries(r *big.Float, p uint) *big.Float {
	r2 := number(p).Mul(r, r)
	return series(integer(1, p), func(t *big.Float, k int64) {
		t.Mul(t, r2)
		t.Quo(t, integer(-2*k*(2*k-1), p))
	}, p)
}

// SinCos returns sin x and cos x.
func SinCos(x *big.Float, prec uint) (sin, cos *big.Float) {
	p := prec + guard
	q, r := Quadrant(x, p)
	sin, cos = sinSeries(r, p), cosSeries(r, p)
	if q&1 == 1 {
		sin, cos = cos, sin.Neg(sin)
	}
	if q&2 == 2 {
		sin.Neg(sin)
		cos.Neg(cos)
	}
	return sin, cos
}

// Atan2 returns the angle of the point (x, y) in (-π, π], for (x, y) ≠ (0, 0).
func Atan2(y, x *big.Float, prec uint) *big.Float {
	p := prec + guard
	u, v := number(exact).Abs(y), number(exact).Abs(x)
	swap := u.Cmp(v) > 0
	if swap {
		u, v = v, u
	}
	a := atan(number(p).Quo(u, v), p)
	if swap {
		a.Sub(scale(Pi(p), -1), a)
	}
	if x.Sign() < 0 {
		a.Sub(Pi(p), a)
	}
	if y.Sign() < 0 {
		a.Neg(a)
	}
	return a
}

// atan returns atan x for 0 <= x <= 1. It halves the angle by atan x = 2 atan(x / (1 + √(1 + x²)))
// several times.
func atan(x *big.Float, p uint) *big.Float {
	const halvings = 8
	for range halvings {
		t := number(p).Mul(x, x)
		t.Add(t, integer(1, p))
		t.Sqrt(t)
		t.Add(t, integer(1, p))
		x = number(p).Quo(x, t)
	}
	x2 := number(p).Mul(x, x)
	power := number(p).Set(x)
	return scale(series(x, func(t *big.Float, k int64) {
		power.Mul(power, x2)
		power.Neg(power)
		t.Quo(power, integer(2*k+1, p))
	}, p), halvings)
}

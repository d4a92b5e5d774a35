package bigfun

import (
	"math"
	"math/big"
)

// FTail encloses the probability P that a random number of Fisher's F distribution with m and n
// degrees of freedom is larger than f: lower ≤ P ≤ upper. It requires m, n ≥ 1 and a finite f > 0.
// For m = 1, P is the probability that the magnitude of a random number of Student's t distribution
// with n degrees of freedom is larger than √f. The relative width is about 2^-prec times the number
// of operations, and more where P is computed as 1 minus another probability. Where
// (m + n) |log2 f| exceeds 2^30, the powers of x and y may leave the exponents of big.Float: then
// the bounds are 0 and 1.
//
// P is the incomplete beta function I_x(a, b) with a = n/2, b = m/2, x = n/(n + m f), or 1 - I_y(b,
// a) with y = 1 - x (NIST Handbook of Mathematical Functions 8.17.2, 8.17.4), and
//
//	I_x(a, b) = x^a y^b / (a B(a, b)) Σ c_k, c_0 = 1, c_(k+1) = c_k x (a + b + k)/(a + 1 + k)
//
// (8.17.8). All terms are positive. So with u = 2^-prec the relative error of the computed number,
// without the terms left out, is at most (1 + u)^K - 1 ≤ 2 K u for K u ≤ 1/2, where K counts the
// roundings. The sum of the terms left out is less than the first of them divided by 1 minus the
// largest ratio of the following terms.
func FTail(f *big.Float, m, n int64, prec uint) (lower, upper *big.Float) {
	if e := int64(f.MantExp(nil)); f.Sign() == 0 || max(e, -e, 64) > 1<<30/(m+n) {
		return number(prec), integer(1, prec)
	}
	nf := number(prec).Mul(integer(m, prec), f)
	sum := number(prec).Add(nf, integer(n, prec))
	x, y := number(prec).Quo(integer(n, prec), sum), number(prec).Quo(nf, sum) // 3 roundings each
	one := integer(1, prec)
	direct, _ := terms(x, y, n, m, prec)
	other, rise := terms(y, x, m, n, prec)
	if direct <= other || rise > float64(prec/4) { // 1 minus the other one would lose as many bits
		lower, upper = incompleteBeta(x, y, n, m, prec)
	} else {
		l, u := incompleteBeta(y, x, m, n, prec)
		lower, upper = down(prec).Sub(one, u), up(prec).Sub(one, l)
	}
	if lower.Sign() < 0 {
		lower.SetInt64(0)
	}
	if upper.Cmp(one) > 0 {
		upper = one
	}
	return lower, upper
}

func down(prec uint) *big.Float { return number(prec).SetMode(big.ToNegativeInf) }
func up(prec uint) *big.Float   { return number(prec).SetMode(big.ToPositiveInf) }

// terms estimates how many terms of the series of I_x(n/2, m/2) contribute, and how many of these
// increase.
func terms(x, y *big.Float, n, m int64, prec uint) (count, rise float64) {
	p, _ := x.Float64()
	q, _ := y.Float64()
	if q == 0 {
		return math.Inf(1), math.Inf(1)
	}
	a, b := float64(float64(n)/2), float64(float64(m)/2) // rounded: no fused multiply-add
	rise = max(0, float64(float64(p*(a+b))-a-1)/q)
	return rise + float64(float64(prec)*math.Ln2/-math.Log1p(-q)), rise
}

// incompleteBeta encloses I_x(n/2, m/2). x and y = 1 - x have 3 roundings each.
func incompleteBeta(x, y *big.Float, n, m int64, prec uint) (lower, upper *big.Float) {
	// The series. A term has 6 more roundings than the previous one: 3 of x and 3 of its own
	// operations.
	t, sum, w := integer(1, prec), integer(1, prec), number(prec)
	k := int64(0)
	var rest *big.Float // a bound of the terms left out
	for {
		t.Mul(t, x)
		t.Mul(t, w.SetInt64(n+m+2*k))
		t.Quo(t, w.SetInt64(n+2+2*k))
		k++
		if t.MantExp(nil) < sum.MantExp(nil)-int(prec) || k%64 == 0 {
			if rest = remainder(t, x, n, m, k); rest != nil && rest.MantExp(nil) < sum.MantExp(nil)-int(prec) {
				break
			}
		}
		sum.Add(sum, t)
	}
	// x^(n/2) y^(m/2) / B(n/2, m/2) times 2/n
	z := sum
	z.Mul(z, halfPower(x, n, prec))
	z.Mul(z, halfPower(y, m, prec))
	z.Mul(z, inverseBeta(n, m, prec))
	z.Mul(z, integer(2, prec))
	z.Quo(z, integer(n, prec))
	// Roundings: 7 for each term; for each unit of n and m, 2 for the powers and 1 for B; some
	// others, and one for the terms left out.
	count := 7*k + 6*(n+m) + 64
	err := new(big.Float).SetMantExp(integer(count, 64), 2-int(prec)) // 4 K u
	low, high := down(prec).Sub(integer(1, prec), err), up(prec).Add(integer(1, prec), err)
	if low.Sign() < 0 {
		low.SetInt64(0)
	}
	return down(prec).Mul(z, low), up(prec).Mul(z, high)
}

// remainder bounds c_k + c_(k+1) + ... by c_k / (1 - r), where r bounds the ratios from there on;
// nil if r may be 1 or more.
func remainder(c, x *big.Float, n, m, k int64) *big.Float {
	const bits = 128
	r := up(bits).Set(x)
	if m > 2 { // the ratios fall to x, else they rise to it
		r.Mul(r, integer(n+m+2*k, bits))
		r.Quo(r, integer(n+2+2*k, bits))
	}
	// for the roundings of x
	r.Mul(r, up(bits).Add(integer(1, bits), scale(integer(1, bits), -60)))
	left := down(bits).Sub(integer(1, bits), r)
	if left.Sign() <= 0 {
		return nil
	}
	return up(bits).Quo(c, left)
}

// halfPower returns x^(n/2).
func halfPower(x *big.Float, n int64, prec uint) *big.Float {
	z, p := integer(1, prec), number(prec).Set(x)
	for k := n / 2; k > 0; k /= 2 {
		if k%2 == 1 {
			z.Mul(z, p)
		}
		p.Mul(p, p)
	}
	if n%2 == 1 {
		z.Mul(z, number(prec).Sqrt(x))
	}
	return z
}

// inverseBeta returns 1/B(n/2, m/2) = Γ((n+m)/2) / (Γ(n/2) Γ(m/2)): 1/π, 1/2 or 1 for n, m ≤ 2,
// times (i + j)/i for each step from i to i + 2.
func inverseBeta(n, m int64, prec uint) *big.Float {
	i, j := 2-n%2, 2-m%2
	z := integer(1, prec)
	switch {
	case i == 1 && j == 1:
		z.Quo(z, number(prec).Set(Pi(prec)))
	case i != j:
		z = scale(z, -1)
	}
	w := number(prec)
	for ; i < n; i += 2 {
		z.Mul(z, w.SetInt64(i+j))
		z.Quo(z, w.SetInt64(i))
	}
	for ; j < m; j += 2 {
		z.Mul(z, w.SetInt64(i+j))
		z.Quo(z, w.SetInt64(j))
	}
	return z
}

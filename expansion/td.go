package expansion

import "math"

// TD is the unevaluated sum of three float64 words, normalised: |x[i+1]| ≤
// ulp(x[i])/2. If x[0] is zero, infinite or NaN, the other words are +0.
type TD [3]float64

// Add returns a + b, with an error of at most 8u³ |a + b| (u = 2^-53).
//
// The addition network for three terms of Zhang, Aiken, High-performance branch-free algorithms for
// extended-precision floating-point arithmetic, SC25, whose relative error they verify by machine.
// The constant 8 is the limit that the tests here check: no search has found more than 3.0u³. 63
// operations.
func (a TD) Add(b TD) TD {
	z0, z1, z2 := addTD(a[0], a[1], a[2], b[0], b[1], b[2])
	return finishTD(z0, z1, z2, a[0]+b[0])
}

// Sub returns a - b: see [TD.Add].
func (a TD) Sub(b TD) TD {
	z0, z1, z2 := addTD(a[0], a[1], a[2], -b[0], -b[1], -b[2])
	return finishTD(z0, z1, z2, a[0]-b[0])
}

// Mul returns a b = b a, with an error of at most 32u³ |a b|.
//
// The multiplication network for three terms of Zhang, Aiken, SC25, with one fused multiply-add.
// The bound adds up the worst roundings of all terms of order u², 29u³ in all, and 2u³ for a1 b2 +
// a2 b1, which is left out. 44 operations.
func (a TD) Mul(b TD) TD {
	z0, z1, z2 := mulTD(a[0], a[1], a[2], b[0], b[1], b[2])
	return finishTD(z0, z1, z2, float64(a[0]*b[0]))
}

// Sqr returns a², with an error of at most 18u³ a²: [TD.Mul] for equal factors. 32
// operations.
func (a TD) Sqr() TD {
	z0, z1, z2 := sqrTD(a[0], a[1], a[2])
	return finishTD(z0, z1, z2, float64(a[0]*a[0]))
}

// FMA returns a b + c, with an error of at most 32u³ |a b| + 8u³ |a b + c| to first
// order: [TD.Mul], then [TD.Add]. The product must not overflow. 107 operations.
func (a TD) FMA(b, c TD) TD {
	p0, p1, p2 := mulTD(a[0], a[1], a[2], b[0], b[1], b[2])
	z0, z1, z2 := addTD(p0, p1, p2, c[0], c[1], c[2])
	return finishTD(z0, z1, z2, leadFMA(a[0], b[0], c[0]))
}

// Div returns a / b, with an error of at most 80u³ |a / b|: long division.
//
// Each word of the quotient is a rounded quotient of leading words, whose remainder is exact. Terms
// of order u (with a0 of order 1) are added without error to the next remainder, whose leading word
// is the next numerator. Terms of order u² are added in plain arithmetic, with six roundings of at
// most 47u³ in all. The omitted terms cost 3u³, b0 in place of b and the last rounding 14u³ each.
// 49 operations, 3 of them divisions.
func (a TD) Div(b TD) TD {
	z0, z1, z2 := divTD(a[0], a[1], a[2], b[0], b[1], b[2])
	return finishTD(z0, z1, z2, a[0]/b[0])
}

// Recip returns 1 / a, with an error of at most 42u³ / |a|: see [TD.Div]. 41
// operations, 3 of them divisions.
func (a TD) Recip() TD {
	z0, z1, z2 := recipTD(a[0], a[1], a[2])
	return finishTD(z0, z1, z2, 1/a[0])
}

// Sqrt returns √a, with an error of at most 24u³ √a: word by word with exact
// remainders, as in [TD.Div]. 39 operations, one of them a root and 2 divisions.
func (a TD) Sqrt() TD {
	z0, z1, z2 := sqrtTD(a[0], a[1], a[2])
	return finishTD(z0, z1, z2, math.Sqrt(a[0]))
}

// Rsqrt returns 1/√a, with an error of at most 66u³ / √a: [TD.Sqrt], then
// [TD.Recip]. 80 operations.
func (a TD) Rsqrt() TD {
	s0, s1, s2 := sqrtTD(a[0], a[1], a[2])
	z0, z1, z2 := recipTD(s0, s1, s2)
	return finishTD(z0, z1, z2, 1/math.Sqrt(a[0]))
}

// AddFloat returns a + b, with an error of at most 6u³ |a + b|: a0 + b is either exact, or not
// small compared with a. 37 operations.
func (a TD) AddFloat(b float64) TD {
	z0, z1, z2 := addFloatTD(a[0], a[1], a[2], b)
	return finishTD(z0, z1, z2, a[0]+b)
}

// MulFloat returns a b, with an error of at most 7u³ |a b|. 36 operations.
func (a TD) MulFloat(b float64) TD {
	z0, z1, z2 := mulFloatTD(a[0], a[1], a[2], b)
	return finishTD(z0, z1, z2, float64(a[0]*b))
}

// Neg returns -a.
func (a TD) Neg() TD { return TD{-a[0], 0 - a[1], 0 - a[2]} }

// Abs returns |a|.
func (a TD) Abs() TD {
	if math.Signbit(a[0]) {
		return a.Neg()
	}
	return a
}

func finishTD(z0, z1, z2, s float64) TD {
	if ordinary(z0) {
		return TD{z0, z1, z2}
	}
	return TD{special(z0, s), 0, 0}
}

func addTD(x0, x1, x2, y0, y1, y2 float64) (z0, z1, z2 float64) {
	a, b := twoSum(x0, y0)
	c, d := twoSum(x1, y1)
	e, f := twoSum(x2, y2)
	a, c = fastTwoSum(a, c)
	b += f
	d, e = twoSum(d, e)
	a, d = fastTwoSum(a, d)
	b, c = twoSum(b, c)
	c += e
	c, d = twoSum(c, d)
	b, c = twoSum(b, c)
	a, b = fastTwoSum(a, b)
	c += d
	b, c = fastTwoSum(b, c)
	a, b = fastTwoSum(a, b)
	b, c = fastTwoSum(b, c)
	return a, b, c
}

func mulTD(x0, x1, x2, y0, y1, y2 float64) (z0, z1, z2 float64) {
	p0, e0 := twoProd(x0, y0)
	p1, e1 := twoProd(x0, y1)
	q1, f1 := twoProd(x1, y0)
	p2 := float64(x0*y2) + float64(x2*y0)
	p1, q1 = twoSum(p1, q1)
	e1 += f1
	e0, p1 = twoSum(e0, p1)
	p2 = math.FMA(x1, y1, p2)
	p0, e0 = fastTwoSum(p0, e0)
	p1 += q1
	e1 += p2
	p1 += e1
	e0, p1 = twoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	e0, p1 = fastTwoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	return p0, e0, p1
}

func sqrTD(x0, x1, x2 float64) (z0, z1, z2 float64) {
	d := x0 + x0
	p0, e0 := twoProd(x0, x0)
	p1, e1 := twoProd(d, x1)
	e1 = math.FMA(d, x2, math.FMA(x1, x1, e1))
	e0, p1 = twoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	p1 += e1
	e0, p1 = twoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	e0, p1 = fastTwoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	return p0, e0, p1
}

func divTD(x0, x1, x2, y0, y1, y2 float64) (z0, z1, z2 float64) {
	q0 := x0 / y0
	r := math.FMA(-q0, y0, x0)
	p01, e01 := twoProd(-q0, y1)
	g, h := twoSum(x1, p01)
	g, e := twoSum(g, r)
	q1 := g / y0
	r = math.FMA(-q1, y0, g)
	r = (r + e) + (h + (x2 + e01))
	r = math.FMA(-q0, y2, r)
	r = math.FMA(-q1, y1, r)
	return renormTD(q0, q1, r/y0)
}

func recipTD(y0, y1, y2 float64) (z0, z1, z2 float64) {
	q0 := 1 / y0
	r := math.FMA(-q0, y0, 1)
	p01, e01 := twoProd(-q0, y1)
	g, e := twoSum(r, p01)
	q1 := g / y0
	r = math.FMA(-q1, y0, g)
	r = (r + e) + e01
	r = math.FMA(-q0, y2, r)
	r = math.FMA(-q1, y1, r)
	return renormTD(q0, q1, r/y0)
}

func sqrtTD(x0, x1, x2 float64) (z0, z1, z2 float64) {
	s0 := math.Sqrt(x0)
	d := s0 + s0
	r := math.FMA(-s0, s0, x0)
	g, e := twoSum(r, x1)
	s1 := g / d
	r = math.FMA(-d, s1, g)
	r = (r + e) + x2
	r = math.FMA(-s1, s1, r)
	return renormTD(s0, s1, r/d)
}

func addFloatTD(x0, x1, x2, y float64) (z0, z1, z2 float64) {
	s, e := twoSum(x0, y)
	m, e := twoSum(x1, e)
	return renormTD(s, m, x2+e)
}

func mulFloatTD(x0, x1, x2, y float64) (z0, z1, z2 float64) {
	p0, e0 := twoProd(x0, y)
	p1, e1 := twoProd(x1, y)
	e0, p1 = twoSum(e0, p1)
	p1 += math.FMA(x2, y, e1)
	return renormTD(p0, e0, p1)
}

// renormTD normalises a + b + c.
func renormTD(a, b, c float64) (z0, z1, z2 float64) {
	b, c = twoSum(b, c)
	a, b = twoSum(a, b)
	b, c = twoSum(b, c)
	a, b = fastTwoSum(a, b)
	b, c = fastTwoSum(b, c)
	return a, b, c
}

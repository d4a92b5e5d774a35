package expansion

import "math"

// QD is the unevaluated sum of four float64 words, normalised: |x[i+1]| ≤
// ulp(x[i])/2. If x[0] is zero, infinite or NaN, the other words are +0.
type QD [4]float64

// Add returns a + b, with an error of at most 16u⁴ |a + b| (u = 2^-53).
//
// The addition network for four terms of Zhang, Aiken, High-performance branch-free algorithms for
// extended-precision floating-point arithmetic, SC25, whose relative error they verify by machine.
// The constant 16 is the limit that the tests here check: no search has found more than 2.0u⁴. 124
// operations.
func (a QD) Add(b QD) QD {
	z0, z1, z2, z3 := addQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	return finishQD(z0, z1, z2, z3, a[0]+b[0])
}

// Sub returns a - b: see [QD.Add].
func (a QD) Sub(b QD) QD {
	z0, z1, z2, z3 := addQD(a[0], a[1], a[2], a[3], -b[0], -b[1], -b[2], -b[3])
	return finishQD(z0, z1, z2, z3, a[0]-b[0])
}

// Mul returns a b = b a, with an error of at most 106u⁴ |a b|.
//
// The multiplication network for four terms of Zhang, Aiken, SC25. The bound adds up the worst
// roundings of all terms of order u³, 103u⁴ in all, and 3u⁴ for a1 b3 + a2 b2 + a3 b1, which is
// left out. 124 operations.
func (a QD) Mul(b QD) QD {
	z0, z1, z2, z3 := mulQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	return finishQD(z0, z1, z2, z3, float64(a[0]*b[0]))
}

// Sqr returns a², with an error of at most 61u⁴ a²: [QD.Mul] for equal factors. 92
// operations.
func (a QD) Sqr() QD {
	z0, z1, z2, z3 := sqrQD(a[0], a[1], a[2], a[3])
	return finishQD(z0, z1, z2, z3, float64(a[0]*a[0]))
}

// FMA returns a b + c, with an error of at most 106u⁴ |a b| + 16u⁴ |a b + c| to
// first order: [QD.Mul], then [QD.Add]. The product must not overflow. 248
// operations.
func (a QD) FMA(b, c QD) QD {
	p0, p1, p2, p3 := mulQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	z0, z1, z2, z3 := addQD(p0, p1, p2, p3, c[0], c[1], c[2], c[3])
	return finishQD(z0, z1, z2, z3, leadFMA(a[0], b[0], c[0]))
}

// Div returns a / b, with an error of at most 600u⁴ |a / b|: long division as in [TD.Div]. The
// twelve roundings of terms of order u³ come to at most 421u⁴, the omitted terms to 17u⁴, b0 in
// place of b and the last rounding to 76u⁴ each. 118 operations, 4 of them divisions.
func (a QD) Div(b QD) QD {
	z0, z1, z2, z3 := divQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	return finishQD(z0, z1, z2, z3, a[0]/b[0])
}

// Recip returns 1 / a, with an error of at most 304u⁴ / |a|: see [QD.Div]. 97
// operations, 4 of them divisions.
func (a QD) Recip() QD {
	z0, z1, z2, z3 := recipQD(a[0], a[1], a[2], a[3])
	return finishQD(z0, z1, z2, z3, 1/a[0])
}

// Sqrt returns √a, with an error of at most 140u⁴ √a: see [TD.Sqrt]. 86
// operations, one of them a root and 3 divisions.
func (a QD) Sqrt() QD {
	z0, z1, z2, z3 := sqrtQD(a[0], a[1], a[2], a[3])
	return finishQD(z0, z1, z2, z3, math.Sqrt(a[0]))
}

// Rsqrt returns 1/√a, with an error of at most 444u⁴ / √a: [QD.Sqrt], then
// [QD.Recip]. 183 operations.
func (a QD) Rsqrt() QD {
	s0, s1, s2, s3 := sqrtQD(a[0], a[1], a[2], a[3])
	z0, z1, z2, z3 := recipQD(s0, s1, s2, s3)
	return finishQD(z0, z1, z2, z3, 1/math.Sqrt(a[0]))
}

// AddFloat returns a + b, with an error of at most 8u⁴ |a + b|: see [TD.AddFloat].
// 64 operations.
func (a QD) AddFloat(b float64) QD {
	z0, z1, z2, z3 := addFloatQD(a[0], a[1], a[2], a[3], b)
	return finishQD(z0, z1, z2, z3, a[0]+b)
}

// MulFloat returns a b, with an error of at most 17u⁴ |a b|. 72 operations.
func (a QD) MulFloat(b float64) QD {
	z0, z1, z2, z3 := mulFloatQD(a[0], a[1], a[2], a[3], b)
	return finishQD(z0, z1, z2, z3, float64(a[0]*b))
}

// Neg returns -a.
func (a QD) Neg() QD { return QD{-a[0], 0 - a[1], 0 - a[2], 0 - a[3]} }

// Abs returns |a|.
func (a QD) Abs() QD {
	if math.Signbit(a[0]) {
		return a.Neg()
	}
	return a
}

func finishQD(z0, z1, z2, z3, s float64) QD {
	if ordinary(z0) {
		return QD{z0, z1, z2, z3}
	}
	return QD{special(z0, s), 0, 0, 0}
}

func addQD(x0, x1, x2, x3, y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	a, b := twoSum(x0, y0)
	c, d := twoSum(x1, y1)
	e, f := twoSum(x2, y2)
	g, h := twoSum(x3, y3)
	a, c = fastTwoSum(a, c)
	b += h
	d, e = twoSum(d, e)
	f, g = twoSum(f, g)
	b, g = twoSum(b, g)
	c, d = fastTwoSum(c, d)
	e, f = twoSum(e, f)
	a, c = fastTwoSum(a, c)
	d, e = fastTwoSum(d, e)
	b, d = twoSum(b, d)
	c, g = fastTwoSum(c, g)
	e += f
	b, c = twoSum(b, c)
	d, e = twoSum(d, e)
	a, b = fastTwoSum(a, b)
	c, d = twoSum(c, d)
	e += g
	b, c = fastTwoSum(b, c)
	d, e = twoSum(d, e)
	a, b = fastTwoSum(a, b)
	c, d = fastTwoSum(c, d)
	b, c = fastTwoSum(b, c)
	d += e
	a, b = fastTwoSum(a, b)
	c, d = fastTwoSum(c, d)
	b, c = fastTwoSum(b, c)
	c, d = fastTwoSum(c, d)
	return a, b, c, d
}

func mulQD(x0, x1, x2, x3, y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	p0, e0 := twoProd(x0, y0)
	p1, e1 := twoProd(x0, y1)
	q1, f1 := twoProd(x1, y0)
	p2, e2 := twoProd(x0, y2)
	q2, f2 := twoProd(x1, y1)
	r2, g2 := twoProd(x2, y0)
	p3 := float64(x0*y3) + float64(x3*y0)
	q3 := float64(x1*y2) + float64(x2*y1)
	p1, q1 = twoSum(p1, q1)
	e1, f1 = twoSum(e1, f1)
	p2, r2 = twoSum(p2, r2)
	e2 += g2
	e0, p1 = twoSum(e0, p1)
	e1, q2 = twoSum(e1, q2)
	f1 += e2
	r2 += f2
	r2 += q2
	p3 += q3
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = fastTwoSum(p1, q1)
	e1, p2 = twoSum(e1, p2)
	f1 += p3
	p1, e1 = twoSum(p1, e1)
	q1 += r2
	f1 += p2
	q1 += e1
	p1, q1 = twoSum(p1, q1)
	e0, p1 = twoSum(e0, p1)
	q1 += f1
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = twoSum(p1, q1)
	e0, p1 = twoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = fastTwoSum(p1, q1)
	e0, p1 = fastTwoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = fastTwoSum(p1, q1)
	e0, p1 = fastTwoSum(e0, p1)
	p1, q1 = fastTwoSum(p1, q1)
	return p0, e0, p1, q1
}

func sqrQD(x0, x1, x2, x3 float64) (z0, z1, z2, z3 float64) {
	d := x0 + x0
	p0, e0 := twoProd(x0, x0)
	p1, e1 := twoProd(d, x1)
	p2, e2 := twoProd(d, x2)
	q2, f2 := twoProd(x1, x1)
	p3 := math.FMA(d, x3, float64((x1+x1)*x2))
	e0, p1 = twoSum(e0, p1)
	e1, q2 = twoSum(e1, q2)
	p0, e0 = fastTwoSum(p0, e0)
	e1, p2 = twoSum(e1, p2)
	p3 = (p3 + e2) + p2
	p1, e1 = twoSum(p1, e1)
	q1 := (q2 + f2) + e1
	p1, q1 = twoSum(p1, q1)
	e0, p1 = twoSum(e0, p1)
	q1 += p3
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = twoSum(p1, q1)
	e0, p1 = twoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = fastTwoSum(p1, q1)
	e0, p1 = fastTwoSum(e0, p1)
	p0, e0 = fastTwoSum(p0, e0)
	p1, q1 = fastTwoSum(p1, q1)
	e0, p1 = fastTwoSum(e0, p1)
	p1, q1 = fastTwoSum(p1, q1)
	return p0, e0, p1, q1
}

func divQD(x0, x1, x2, x3, y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	q0 := x0 / y0
	r := math.FMA(-q0, y0, x0)
	p01, e01 := twoProd(-q0, y1)
	g, h := twoSum(x1, p01)
	g, e := twoSum(g, r)
	q1 := g / y0
	r = math.FMA(-q1, y0, g)
	p02, e02 := twoProd(-q0, y2)
	p11, e11 := twoProd(-q1, y1)
	// Order u²: r, e, h, x2, e01, p02, p11.
	e, h = twoSum(e, h)
	x2, e01 = twoSum(x2, e01)
	p02, p11 = twoSum(p02, p11)
	e, x2 = twoSum(e, x2)
	r, p02 = twoSum(r, p02)
	g, e = twoSum(e, r)
	q2 := g / y0
	r = math.FMA(-q2, y0, g)
	// Order u³.
	r = ((r + e) + (h + x2)) + ((p02 + p11) + (e01 + x3)) + (e02 + e11)
	r = math.FMA(-q0, y3, r)
	r = math.FMA(-q1, y2, r)
	r = math.FMA(-q2, y1, r)
	return renormQD(q0, q1, q2, r/y0)
}

func recipQD(y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	q0 := 1 / y0
	r := math.FMA(-q0, y0, 1)
	p01, e01 := twoProd(-q0, y1)
	g, e := twoSum(r, p01)
	q1 := g / y0
	r = math.FMA(-q1, y0, g)
	p02, e02 := twoProd(-q0, y2)
	p11, e11 := twoProd(-q1, y1)
	// Order u²: r, e, e01, p02, p11.
	e, e01 = twoSum(e, e01)
	p02, p11 = twoSum(p02, p11)
	r, p02 = twoSum(r, p02)
	g, e = twoSum(e, r)
	q2 := g / y0
	r = math.FMA(-q2, y0, g)
	// Order u³.
	r = ((r + e) + e01) + (p02 + p11) + (e02 + e11)
	r = math.FMA(-q0, y3, r)
	r = math.FMA(-q1, y2, r)
	r = math.FMA(-q2, y1, r)
	return renormQD(q0, q1, q2, r/y0)
}

func sqrtQD(x0, x1, x2, x3 float64) (z0, z1, z2, z3 float64) {
	s0 := math.Sqrt(x0)
	d := s0 + s0
	r := math.FMA(-s0, s0, x0)
	g, e := twoSum(r, x1)
	s1 := g / d
	r = math.FMA(-d, s1, g)
	p11, e11 := twoProd(-s1, s1)
	// Order u²: r, e, x2, p11.
	e, x2 = twoSum(e, x2)
	r, p11 = twoSum(r, p11)
	g, e = twoSum(e, r)
	s2 := g / d
	r = math.FMA(-d, s2, g)
	// Order u³.
	r = ((r + e) + (x2 + p11)) + (x3 + e11)
	r = math.FMA(-(s1 + s1), s2, r)
	return renormQD(s0, s1, s2, r/d)
}

func addFloatQD(x0, x1, x2, x3, y float64) (z0, z1, z2, z3 float64) {
	s, e := twoSum(x0, y)
	m, e := twoSum(x1, e)
	l, e := twoSum(x2, e)
	return renormQD(s, m, l, x3+e)
}

func mulFloatQD(x0, x1, x2, x3, y float64) (z0, z1, z2, z3 float64) {
	p0, e0 := twoProd(x0, y)
	p1, e1 := twoProd(x1, y)
	p2, e2 := twoProd(x2, y)
	e0, p1 = twoSum(e0, p1)
	e1, p2 = twoSum(e1, p2)
	p1, e1 = twoSum(p1, e1)
	p2 = (p2 + e1) + math.FMA(x3, y, e2)
	return renormQD(p0, e0, p1, p2)
}

// renormQD normalises a + b + c + d.
func renormQD(a, b, c, d float64) (z0, z1, z2, z3 float64) {
	c, d = twoSum(c, d)
	b, c = twoSum(b, c)
	a, b = twoSum(a, b)
	c, d = twoSum(c, d)
	b, c = twoSum(b, c)
	c, d = twoSum(c, d)
	a, b = fastTwoSum(a, b)
	b, c = fastTwoSum(b, c)
	c, d = fastTwoSum(c, d)
	return a, b, c, d
}

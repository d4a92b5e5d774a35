package expansion

import "math"

// The functions of section 5.2 of the paper of published.go, with its numbers of terms. The paper
// does not say how a series is summed; here it is summed by Horner's rule.

const (
	publishedExpTerms    = 18   // of the exponential series
	publishedSquarings   = 8    // k = 256
	publishedLogSteps    = 3    // of Newton's iteration
	publishedCircleTerms = 10   // of sines and cosines each
	publishedCircleLimit = 1e15 // beyond, arguments are not reduced
)

// publishedExpDD is e^(x - m ln 2): with r = (x - m ln 2) / 256, the first 18 terms of the series
// of e^r, squared eight times. Section 5.2.2.
func publishedExpDD(x0, x1, m float64) (z0, z1 float64) {
	p0, p1 := publishedMulFloatDD(ln2[0], ln2[1], m)
	r0, r1 := publishedAddDD(x0, x1, -p0, -p1)
	r0 *= 0x1p-8
	r1 *= 0x1p-8
	c := &inverseFactorials[publishedExpTerms-1]
	z0, z1 = c[0], c[1]
	for i := range publishedExpTerms - 1 {
		c := &inverseFactorials[publishedExpTerms-2-i]
		z0, z1 = publishedMulDD(z0, z1, r0, r1)
		z0, z1 = publishedAddDD(z0, z1, c[0], c[1])
	}
	for range publishedSquarings {
		z0, z1 = publishedMulDD(z0, z1, z0, z1)
	}
	return z0, z1
}

func publishedExpQD(x0, x1, x2, x3, m float64) (z0, z1, z2, z3 float64) {
	p0, p1, p2, p3 := publishedMulFloatQD(ln2[0], ln2[1], ln2[2], ln2[3], m)
	r0, r1, r2, r3 := publishedAddQD(x0, x1, x2, x3, -p0, -p1, -p2, -p3)
	r0 *= 0x1p-8
	r1 *= 0x1p-8
	r2 *= 0x1p-8
	r3 *= 0x1p-8
	c := &inverseFactorials[publishedExpTerms-1]
	z0, z1, z2, z3 = c[0], c[1], c[2], c[3]
	for i := range publishedExpTerms - 1 {
		c := &inverseFactorials[publishedExpTerms-2-i]
		z0, z1, z2, z3 = publishedMulQD(z0, z1, z2, z3, r0, r1, r2, r3)
		z0, z1, z2, z3 = publishedAddQD(z0, z1, z2, z3, c[0], c[1], c[2], c[3])
	}
	for range publishedSquarings {
		z0, z1, z2, z3 = publishedMulQD(z0, z1, z2, z3, z0, z1, z2, z3)
	}
	return z0, z1, z2, z3
}

// powerInExp returns the m for which m ln 2 is nearest to x, and whether e^x is a number.
func powerInExp(x float64) (m float64, k int32, ok bool) {
	if !(math.Abs(x) < expLimit) {
		return 0, 0, false
	}
	m, k = nearest(float64(x * (1 / math.Ln2)))
	return m, k, true
}

// specialExp is e^x where it is 0, infinite or NaN.
func specialExp(x float64) float64 {
	switch {
	case x > 0:
		return math.Inf(1)
	case x < 0:
		return 0
	}
	return math.NaN()
}

// leadingLog is ln f for √½ <= f <= √2, up to its last bits, where Newton's iteration begins: 2
// artanh s, s = (f - 1) / (f + 1).
func leadingLog(f float64) float64 {
	s := (f - 1) / (f + 1)
	w := float64(s * s)
	p := 1.0 / 23
	for i := range 11 {
		p = math.FMA(p, w, 1/float64(21-2*i))
	}
	return float64(2*s) * p
}

// logParts returns k and an approximation of ln x, where x = 2^k f, √½ <= f <= √2, for x > 0.
func logParts(x float64) (k int32, log float64) {
	k = exponent(x)
	a, b := powersOf2(-k)
	f := float64(float64(x*a) * b)
	if f > math.Sqrt2 {
		k++
		f *= 0.5
	}
	return k, math.FMA(float64(k), math.Ln2, leadingLog(f))
}

// publishedLogDD is ln a by Newton's iteration x ← x + (a e^-x - 1) from float64: section 5.2.3. a
// is 2^k times the number (a0, a1), so that powers of two neither overflow nor underflow.
func publishedLogDD(a0, a1, start float64, k int32) (z0, z1 float64) {
	z0 = start
	for range publishedLogSteps {
		m, n, _ := powerInExp(-z0)
		e0, e1 := publishedExpDD(-z0, -z1, m)
		f := powerOf2(n + k)
		e0, e1 = publishedMulDD(a0, a1, float64(e0*f), float64(e1*f))
		e0, e1 = publishedAddDD(e0, e1, -1, 0)
		z0, z1 = publishedAddDD(z0, z1, e0, e1)
	}
	return z0, z1
}

func publishedLogQD(a0, a1, a2, a3, start float64, k int32) (z0, z1, z2, z3 float64) {
	z0 = start
	for range publishedLogSteps {
		m, n, _ := powerInExp(-z0)
		e0, e1, e2, e3 := publishedExpQD(-z0, -z1, -z2, -z3, m)
		f := powerOf2(n + k)
		e0, e1, e2, e3 = publishedMulQD(a0, a1, a2, a3, float64(e0*f), float64(e1*f), float64(e2*f), float64(e3*f))
		e0, e1, e2, e3 = publishedAddQD(e0, e1, e2, e3, -1, 0, 0, 0)
		z0, z1, z2, z3 = publishedAddQD(z0, z1, z2, z3, e0, e1, e2, e3)
	}
	return z0, z1, z2, z3
}

// publishedCircleDD is the sine of x + quarter π/2: x is reduced modulo 2π, then π/2, then π/1024
// to z, whose sine and cosine are sums of 10 terms. Section 5.2.4.
func publishedCircleDD(x0, x1 float64, quarter int32) (z0, z1 float64) {
	n, _ := nearest(float64(x0 * (1 / (2 * math.Pi))))
	p0, p1 := publishedMulFloatDD(4*halfPi[0], 4*halfPi[1], n)
	x0, x1 = publishedAddDD(x0, x1, -p0, -p1)
	n, k := nearest(float64(x0 * (2 / math.Pi)))
	p0, p1 = publishedMulFloatDD(halfPi[0], halfPi[1], n)
	x0, x1 = publishedAddDD(x0, x1, -p0, -p1)
	n, m := nearest(float64(x0 * (1024 / math.Pi)))
	p0, p1 = publishedMulFloatDD(circleUnit[0], circleUnit[1], n)
	x0, x1 = publishedAddDD(x0, x1, -p0, -p1)
	w0, w1 := publishedMulDD(x0, x1, x0, x1)
	c := &inverseFactorials[2*publishedCircleTerms-1]
	s0, s1 := c[0], c[1]
	c = &inverseFactorials[2*publishedCircleTerms-2]
	c0, c1 := c[0], c[1]
	for i := range publishedCircleTerms - 1 {
		c := &inverseFactorials[2*publishedCircleTerms-3-2*i]
		s0, s1 = publishedMulDD(s0, s1, w0, w1)
		s0, s1 = publishedAddDD(c[0], c[1], -s0, -s1)
		c = &inverseFactorials[2*publishedCircleTerms-4-2*i]
		c0, c1 = publishedMulDD(c0, c1, w0, w1)
		c0, c1 = publishedAddDD(c[0], c[1], -c0, -c1)
	}
	s0, s1 = publishedMulDD(s0, s1, x0, x1)
	j, sign := m, 1.0
	if m < 0 {
		j, sign = -m, -1.0
	}
	sin, cos := &sinTable[j], &sinTable[512-j]
	k += quarter
	if k&1 == 0 { // sin z cos + cos z sin
		s0, s1 = publishedMulDD(s0, s1, cos[0], cos[1])
		c0, c1 = publishedMulDD(c0, c1, float64(sign*sin[0]), float64(sign*sin[1]))
	} else { // cos z cos - sin z sin
		c0, c1 = publishedMulDD(c0, c1, cos[0], cos[1])
		s0, s1 = publishedMulDD(s0, s1, float64(-sign*sin[0]), float64(-sign*sin[1]))
	}
	z0, z1 = publishedAddDD(s0, s1, c0, c1)
	if k&2 != 0 {
		z0, z1 = -z0, -z1
	}
	return z0, z1
}

func publishedCircleQD(x0, x1, x2, x3 float64, quarter int32) (z0, z1, z2, z3 float64) {
	n, _ := nearest(float64(x0 * (1 / (2 * math.Pi))))
	p0, p1, p2, p3 := publishedMulFloatQD(4*halfPi[0], 4*halfPi[1], 4*halfPi[2], 4*halfPi[3], n)
	x0, x1, x2, x3 = publishedAddQD(x0, x1, x2, x3, -p0, -p1, -p2, -p3)
	n, k := nearest(float64(x0 * (2 / math.Pi)))
	p0, p1, p2, p3 = publishedMulFloatQD(halfPi[0], halfPi[1], halfPi[2], halfPi[3], n)
	x0, x1, x2, x3 = publishedAddQD(x0, x1, x2, x3, -p0, -p1, -p2, -p3)
	n, m := nearest(float64(x0 * (1024 / math.Pi)))
	p0, p1, p2, p3 = publishedMulFloatQD(circleUnit[0], circleUnit[1], circleUnit[2], circleUnit[3], n)
	x0, x1, x2, x3 = publishedAddQD(x0, x1, x2, x3, -p0, -p1, -p2, -p3)
	w0, w1, w2, w3 := publishedMulQD(x0, x1, x2, x3, x0, x1, x2, x3)
	c := &inverseFactorials[2*publishedCircleTerms-1]
	s0, s1, s2, s3 := c[0], c[1], c[2], c[3]
	c = &inverseFactorials[2*publishedCircleTerms-2]
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	for i := range publishedCircleTerms - 1 {
		c := &inverseFactorials[2*publishedCircleTerms-3-2*i]
		s0, s1, s2, s3 = publishedMulQD(s0, s1, s2, s3, w0, w1, w2, w3)
		s0, s1, s2, s3 = publishedAddQD(c[0], c[1], c[2], c[3], -s0, -s1, -s2, -s3)
		c = &inverseFactorials[2*publishedCircleTerms-4-2*i]
		c0, c1, c2, c3 = publishedMulQD(c0, c1, c2, c3, w0, w1, w2, w3)
		c0, c1, c2, c3 = publishedAddQD(c[0], c[1], c[2], c[3], -c0, -c1, -c2, -c3)
	}
	s0, s1, s2, s3 = publishedMulQD(s0, s1, s2, s3, x0, x1, x2, x3)
	j, sign := m, 1.0
	if m < 0 {
		j, sign = -m, -1.0
	}
	sin, cos := &sinTable[j], &sinTable[512-j]
	k += quarter
	if k&1 == 0 {
		s0, s1, s2, s3 = publishedMulQD(s0, s1, s2, s3, cos[0], cos[1], cos[2], cos[3])
		c0, c1, c2, c3 = publishedMulQD(c0, c1, c2, c3, float64(sign*sin[0]), float64(sign*sin[1]), float64(sign*sin[2]), float64(sign*sin[3]))
	} else {
		c0, c1, c2, c3 = publishedMulQD(c0, c1, c2, c3, cos[0], cos[1], cos[2], cos[3])
		s0, s1, s2, s3 = publishedMulQD(s0, s1, s2, s3, float64(-sign*sin[0]), float64(-sign*sin[1]), float64(-sign*sin[2]), float64(-sign*sin[3]))
	}
	z0, z1, z2, z3 = publishedAddQD(s0, s1, s2, s3, c0, c1, c2, c3)
	if k&2 != 0 {
		z0, z1, z2, z3 = -z0, -z1, -z2, -z3
	}
	return z0, z1, z2, z3
}

// specialLog is ln x where x is not a positive number.
func specialLog(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x > 0:
		return x
	}
	return math.NaN()
}

package expansion

import (
	"math"

	"github.com/halfulp/halfulp"
)

// Published is a method of [Add], [Sub], [Mul], [Div], [Sqrt] and [Map]: the algorithms of Sivkova,
// Dovgilovich, Voskoboynikova, Sofronov, QD arithmetic algorithms on CUDA for matrices, sections 2,
// 3 and 5.2, which follow Hida, Li, Bailey, Library for double-double and quad-double arithmetic
// (2007). It is for comparisons: [Method] is faster, and accurate where sums cancel. Results have
// format DD or QD and the bits of the methods of [PublishedDD] and [PublishedQD], on CPUs and GPUs.
// One thread computes a number. Functions are [Exp], [Log], [Sin] and [Cos].
//
// The sum of two QD is a network of Two-Sum and Three-Sum, then Renorm, from five words to four.
// Products have terms to order u⁴ (u = 2^-53). Quotients come from long division, with five terms.
// DD arithmetic is the same with fewer words; its quotients have two terms, as in the paper's count
// of operations. √a is a x, x = 1/√a by three steps of Newton's iteration from float64. e^x is 2^m
// (e^r)^256 with the first 18 terms of the series of e^r. ln a takes three steps of Newton's
// iteration on e^x. Sines and cosines are reduced by 2π, π/2 and π/1024 to sums of 10 terms.
// Two-Prod is a fused multiply-add, which gives the same bits as Split.
//
// The table has the errors. For PublishedDD they are in units of u², proved to first order, and in
// brackets the largest found in 100 000 random operands. For PublishedQD they are in units of u⁴:
// the largest found in as many operands, none proved.
//
//	              DD                                        QD
//	a + b, a - b  3 (1.5)                   of |a| + |b|    0.5
//	a b           5 (5.0)                   of |a b|        0.15
//	a / b         15 (5.8)                  of |a / b|      1.1
//	√a            16 (3.9)                  of √a           0.3
//	e^x           2070 + 10 |x| (830)       of e^x          80
//	ln a          2100 + 13 |ln a| (880)    absolute        54
//	sin x, cos x  75 + 10 |x| (2 + 2 |x|)   absolute        0.3 + 0.2 |x|
//
// The bounds of + and × come from Joldes, Muller, Popescu (ACM TOMS 44, 2017; SloppyDWPlusDW) and
// Muller, Rideau (ACM TOMS 48, 2022; DWTimesDW1). The other bounds add up the roundings on the way.
//
// The algorithms have these limits. Sums of different signs have no bound relative to the result: a
// sum that cancels may have no right bit in DD, and lose a word of them in QD. e^x loses the 8 bits
// by which 256 multiplies its error. Sines, cosines and logarithms have absolute errors only, also
// near their zeros, and sines and cosines of |x| >= 10^15 are NaN. Words of a QD may overlap in a
// bit, since Renorm passes over them once; arrays store the canonical form. Range and special
// values are as in the package documentation.
const Published halfulp.Method = "expansion-published"

// One number at a time, with branches, as printed. Section numbers refer to the paper. twoSum,
// fastTwoSum (Quick-Two-Sum) and twoProd are the functions of this package.

// split returns the upper 26 bits of a and the lower 26, one of them in a sign: a = hi + lo. |a| is
// below 2^996. 4 operations. Section 2, Split.
func split(a float64) (hi, lo float64) {
	t := float64((1<<27 + 1) * a)
	hi = t - (t - a)
	return hi, a - hi
}

// splitTwoProd is twoProd without FMA, for factors and products that stay within the range of
// float64 when they are split. 17 operations. Section 2, Two-Prod.
func splitTwoProd(a, b float64) (p, e float64) {
	p = float64(a * b)
	a1, a0 := split(a)
	b1, b0 := split(b)
	e = ((float64(a1*b1) - p) + float64(a1*b0) + float64(a0*b1)) + float64(a0*b0)
	return p, e
}

// threeSum returns s + e1 + e2 = a + b + c; s is the sum with an error of about an ulp. 18
// operations. Section 2, Three-Sum.
func threeSum(a, b, c float64) (s, e1, e2 float64) {
	t1, t2 := twoSum(a, b)
	s, t3 := twoSum(c, t1)
	e1, e2 = twoSum(t2, t3)
	return s, e1, e2
}

// sixThreeSum returns three terms of the sum of six: the terms of two threeSums, added. The last is
// rounded. 57 operations. Section 3.4, Six-Three-Sum.
func sixThreeSum(a, b, c, d, e, f float64) (s0, s1, s2 float64) {
	a, b, c = threeSum(a, b, c)
	d, e, f = threeSum(d, e, f)
	s0, t0 := twoSum(a, d)
	s1, t1 := twoSum(b, e)
	s1, t0 = twoSum(s1, t0)
	return s0, s1, (c + f) + (t0 + t1)
}

// nineTwoSum returns two terms of the sum of nine, the last one rounded: four pairs, added by
// halves, and x. 55 operations. Section 3.4, Nine-Two-Sum.
func nineTwoSum(a, b, c, d, e, f, g, h, x float64) (s0, s1 float64) {
	a, b = twoSum(a, b)
	c, d = twoSum(c, d)
	e, f = twoSum(e, f)
	g, h = twoSum(g, h)
	a, c = twoSum(a, c)
	c += b + d
	e, g = twoSum(e, g)
	g += f + h
	a, e = twoSum(a, e)
	e += c + g
	s0, s1 = twoSum(a, x)
	return s0, s1 + e
}

// publishedRenorm is Renorm of section 3.2, after Priest: four words of a sum of five, whose
// magnitudes decrease. It skips zeros between words. The text does not store the last s, which
// would lose a word. 24 operations.
func publishedRenorm(a0, a1, a2, a3, a4 float64) (b0, b1, b2, b3 float64) {
	s, t4 := fastTwoSum(a3, a4)
	s, t3 := fastTwoSum(a2, s)
	s, t2 := fastTwoSum(a1, s)
	s, t1 := fastTwoSum(a0, s)
	k := 0
	s, e := fastTwoSum(s, t1)
	if e != 0 {
		b0 = s
		s = e
		k = 1
	}
	s, e = fastTwoSum(s, t2)
	if e != 0 {
		if k == 0 {
			b0 = s
		} else {
			b1 = s
		}
		s = e
		k++
	}
	s, e = fastTwoSum(s, t3)
	if e != 0 {
		switch k {
		case 0:
			b0 = s
		case 1:
			b1 = s
		default:
			b2 = s
		}
		s = e
		k++
	}
	s, e = fastTwoSum(s, t4)
	if e != 0 {
		switch k {
		case 0:
			b0 = s
		case 1:
			b1 = s
		case 2:
			b2 = s
		default:
			b3 = s
		}
		s = e
		k++
	}
	switch k {
	case 0:
		b0 = s
	case 1:
		b1 = s
	case 2:
		b2 = s
	case 3:
		b3 = s
	}
	return b0, b1, b2, b3
}

func publishedAddDD(x0, x1, y0, y1 float64) (z0, z1 float64) {
	s, e := twoSum(x0, y0)
	return fastTwoSum(s, e+(x1+y1))
}

func publishedMulDD(x0, x1, y0, y1 float64) (z0, z1 float64) {
	p, e := twoProd(x0, y0)
	return fastTwoSum(p, e+(float64(x0*y1)+float64(x1*y0)))
}

func publishedMulFloatDD(x0, x1, y float64) (z0, z1 float64) {
	p, e := twoProd(x0, y)
	return fastTwoSum(p, e+float64(x1*y))
}

// publishedDivDD is long division with two terms of the quotient.
func publishedDivDD(x0, x1, y0, y1 float64) (z0, z1 float64) {
	q0 := x0 / y0
	p0, p1 := publishedMulFloatDD(y0, y1, q0)
	r0, _ := publishedAddDD(x0, x1, -p0, -p1)
	return fastTwoSum(q0, r0/y0)
}

// publishedAddQD is the network of section 3.3.
func publishedAddQD(x0, x1, x2, x3, y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	s0, t0 := twoSum(x0, y0)
	s1, t1 := twoSum(x1, y1)
	s2, t2 := twoSum(x2, y2)
	s3, t3 := twoSum(x3, y3)
	s1, t0 = twoSum(s1, t0)
	s2, t0, t1 = threeSum(s2, t1, t0)
	s3, t0, _ = threeSum(s3, t2, t0)
	return publishedRenorm(s0, s1, s2, s3, (t0+t1)+t3)
}

// publishedMulQD is the network of section 3.4. With u = 2^-53, it takes products of order 1 to u³
// with their errors, rounded products of order u⁴, and none beyond.
func publishedMulQD(x0, x1, x2, x3, y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	p00, q00 := twoProd(x0, y0)
	p01, q01 := twoProd(x0, y1)
	p10, q10 := twoProd(x1, y0)
	p02, q02 := twoProd(x0, y2)
	p11, q11 := twoProd(x1, y1)
	p20, q20 := twoProd(x2, y0)
	p03, q03 := twoProd(x0, y3)
	p12, q12 := twoProd(x1, y2)
	p21, q21 := twoProd(x2, y1)
	p30, q30 := twoProd(x3, y0)
	s1, e2, e3 := threeSum(p01, p10, q00)
	s2, f3, f4 := sixThreeSum(e2, q01, q10, p02, p11, p20)
	s3, s4 := nineTwoSum(e3, q02, q11, q20, p03, p12, p21, p30, f3)
	// Nine-One-Sum.
	s4 += f4 + float64(x1*y3) + float64(x2*y2) + float64(x3*y1) + q03 + q12 + q21 + q30
	return publishedRenorm(p00, s1, s2, s3, s4)
}

func publishedMulFloatQD(x0, x1, x2, x3, y float64) (z0, z1, z2, z3 float64) {
	p0, q0 := twoProd(x0, y)
	p1, q1 := twoProd(x1, y)
	p2, q2 := twoProd(x2, y)
	p3 := float64(x3 * y)
	s1, e2 := twoSum(q0, p1)
	s2, e3, e4 := threeSum(e2, q1, p2)
	s3, f4, _ := threeSum(e3, q2, p3)
	return publishedRenorm(p0, s1, s2, s3, e4+f4)
}

// publishedDivQD is the long division of section 3.5, with five terms of the quotient.
func publishedDivQD(x0, x1, x2, x3, y0, y1, y2, y3 float64) (z0, z1, z2, z3 float64) {
	q0 := x0 / y0
	p0, p1, p2, p3 := publishedMulFloatQD(y0, y1, y2, y3, q0)
	r0, r1, r2, r3 := publishedAddQD(x0, x1, x2, x3, -p0, -p1, -p2, -p3)
	q1 := r0 / y0
	p0, p1, p2, p3 = publishedMulFloatQD(y0, y1, y2, y3, q1)
	r0, r1, r2, r3 = publishedAddQD(r0, r1, r2, r3, -p0, -p1, -p2, -p3)
	q2 := r0 / y0
	p0, p1, p2, p3 = publishedMulFloatQD(y0, y1, y2, y3, q2)
	r0, r1, r2, r3 = publishedAddQD(r0, r1, r2, r3, -p0, -p1, -p2, -p3)
	q3 := r0 / y0
	p0, p1, p2, p3 = publishedMulFloatQD(y0, y1, y2, y3, q3)
	r0, _, _, _ = publishedAddQD(r0, r1, r2, r3, -p0, -p1, -p2, -p3)
	return publishedRenorm(q0, q1, q2, q3, r0/y0)
}

// newtonSteps is the number of steps for roots in the paper's program; two would be enough for a
// QD.
const newtonSteps = 3

// publishedSqrtDD is a x, x = 1/√a by Newton's iteration x ← x + x (1 - a x²) / 2 from float64:
// section 5.2.1.
func publishedSqrtDD(a0, a1 float64) (z0, z1 float64) {
	x0, x1 := 1/math.Sqrt(a0), 0.0
	for range newtonSteps {
		s0, s1 := publishedMulDD(x0, x1, x0, x1)
		s0, s1 = publishedMulDD(a0, a1, s0, s1)
		s0, s1 = publishedAddDD(1, 0, -s0, -s1)
		s0, s1 = publishedMulDD(x0, x1, s0, s1)
		x0, x1 = publishedAddDD(x0, x1, float64(s0*0.5), float64(s1*0.5))
	}
	return publishedMulDD(x0, x1, a0, a1)
}

func publishedSqrtQD(a0, a1, a2, a3 float64) (z0, z1, z2, z3 float64) {
	x0, x1, x2, x3 := 1/math.Sqrt(a0), 0.0, 0.0, 0.0
	for range newtonSteps {
		s0, s1, s2, s3 := publishedMulQD(x0, x1, x2, x3, x0, x1, x2, x3)
		s0, s1, s2, s3 = publishedMulQD(a0, a1, a2, a3, s0, s1, s2, s3)
		s0, s1, s2, s3 = publishedAddQD(1, 0, 0, 0, -s0, -s1, -s2, -s3)
		s0, s1, s2, s3 = publishedMulQD(x0, x1, x2, x3, s0, s1, s2, s3)
		x0, x1, x2, x3 = publishedAddQD(x0, x1, x2, x3, float64(s0*0.5), float64(s1*0.5), float64(s2*0.5), float64(s3*0.5))
	}
	return publishedMulQD(x0, x1, x2, x3, a0, a1, a2, a3)
}

// rootScale returns powers of two f and g with √x = √(x f) g. If the leading word x is a number,
// they scale it so that Newton's iteration loses nothing to overflow and underflow.
func rootScale(x float64) (f, g float64) {
	switch {
	case x < 0x1p-400:
		return 0x1p+600, 0x1p-300
	case x > 0x1p+400:
		return 0x1p-600, 0x1p+300
	}
	return 1, 1
}

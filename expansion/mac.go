package expansion

import "math"

// Steps of sums of products: mac returns s + a b without the final select of special values, and
// normalises no more than the sum needs. Native products consist of such steps:
//
//	s = 0; for h = 0, 1, ..., k-1: s = mac(s, a_h, b_h)
//
// If a word of s is not finite then, s is replaced by the result of the leading words alone, p = 0;
// p = RN(p + RN(a_h[0] b_h[0])) for each h: infinities and NaN are the same as in a float64
// product.
//
// u = 2^-53. A step's error is at most
//
//	16u² M for DD, 128u³ M for TD, 1024u⁴ M for QD,  M = Σ |a_h b_h| so far,
//
// to first order, if nothing overflows and no product of words falls below 2^-1022. Terms above
// u^(w-1) M are added without error, smaller terms in plain arithmetic, with at most a few dozen
// roundings of u times their partial sums. A sum of k products thus differs from the exact one by
// at most k times that bound. Errors seen in tests are below 4u^w M a step.

// macDD is s + a b. 15 operations. The product is DWTimesDW3 (Joldes, Muller, Popescu 2017) without
// its normalisation, the sum is Dekker's.
func macDD(s, a, b DD) DD {
	p, e := twoProd(a[0], b[0])
	e = math.FMA(a[0], b[1], e)
	e = math.FMA(a[1], b[0], e)
	z, f := twoSum(s[0], p)
	z, f = fastTwoSum(z, f+(s[1]+e))
	return DD{z, f}
}

// macTD is s + a b. 60 operations.
func macTD(s, a, b TD) TD {
	p, e := twoProd(a[0], b[0])
	q, f := twoProd(a[0], b[1])
	r, g := twoProd(a[1], b[0])
	// Order u²: f, g, the products that follow, s[2] and the errors of sums of order u.
	g = math.FMA(a[0], b[2], f+g)
	g = math.FMA(a[1], b[1], g)
	g = math.FMA(a[2], b[0], g)
	g += s[2]
	x, h := twoSum(s[0], p)
	// Order u: s[1], e, q, r, h.
	y, c := twoSum(q, r)
	e, d := twoSum(e, h)
	y, f = twoSum(y, e)
	y, h = twoSum(y, s[1])
	g += (c + d) + (f + h)
	y, g = twoSum(y, g)
	x, y = twoSum(x, y) // x may be far below y where much cancels
	return TD{x, y, g}
}

// macQD is s + a b. 131 operations.
func macQD(s, a, b QD) QD {
	p, e := twoProd(a[0], b[0])
	q, f := twoProd(a[0], b[1])
	r, g := twoProd(a[1], b[0])
	p2, e2 := twoProd(a[0], b[2])
	q2, f2 := twoProd(a[1], b[1])
	r2, g2 := twoProd(a[2], b[0])
	// Order u³: these products, s[3] and the errors of sums of order u².
	l := math.FMA(a[0], b[3], e2+f2)
	l = math.FMA(a[1], b[2], l)
	l = math.FMA(a[2], b[1], l)
	l = math.FMA(a[3], b[0], l)
	l += g2 + s[3]
	x, h := twoSum(s[0], p)
	// Order u: s[1], e, q, r, h.
	y, c := twoSum(q, r)
	e, d := twoSum(e, h)
	y, i := twoSum(y, e)
	y, j := twoSum(y, s[1])
	// Order u²: f, g, p2, q2, r2, s[2], c, d, i, j.
	f, e2 = twoSum(f, g)
	p2, f2 = twoSum(p2, q2)
	r2, g2 = twoSum(r2, s[2])
	c, q = twoSum(c, d)
	i, r = twoSum(i, j)
	l += (e2 + f2) + (g2 + (q + r))
	f, e2 = twoSum(f, p2)
	r2, f2 = twoSum(r2, c)
	f, g2 = twoSum(f, r2)
	z, q := twoSum(f, i)
	l += (e2 + f2) + (g2 + q)
	z, l = twoSum(z, l)
	y, z = twoSum(y, z)
	x, y = twoSum(x, y)
	return QD{x, y, z, l}
}

// sumDD, sumTD and sumQD normalise the sum that steps have accumulated. If it is not finite,
// neither is the result. A zero is +0.

func sumDD(s DD) DD { return DD{0 + s[0], 0 + s[1]} }

func sumTD(s TD) TD {
	x, y, z := renormTD(s[0], s[1], s[2])
	return TD{0 + x, 0 + y, 0 + z}
}

func sumQD(s QD) QD {
	x, y, z, l := renormQD(s[0], s[1], s[2], s[3])
	return QD{0 + x, 0 + y, 0 + z, 0 + l}
}

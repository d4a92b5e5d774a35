package expansion

import "math"

// DD is the unevaluated sum of two float64 words, normalised: x[0] =
// RN(x[0] + x[1]). If x[0] is zero, infinite or NaN, the other word is +0.
type DD [2]float64

// Add returns a + b, with an error of at most 3u² |a + b| (u = 2^-53).
//
// Algorithm AccurateDWPlusDW of Joldes, Muller, Popescu, Tight and rigorous
// error bounds for basic building blocks of double-word arithmetic, ACM TOMS 44
// (2017); bound 3u²/(1 - 4u). 20 operations.
func (a DD) Add(b DD) DD {
	z0, z1 := addDD(a[0], a[1], b[0], b[1])
	return finishDD(z0, z1, a[0]+b[0])
}

// Sub returns a - b, with an error of at most 3u² |a - b|: see [DD.Add].
func (a DD) Sub(b DD) DD {
	z0, z1 := addDD(a[0], a[1], -b[0], -b[1])
	return finishDD(z0, z1, a[0]-b[0])
}

// Mul returns a b, with an error of at most 4u² |a b|.
//
// Algorithm DWTimesDW3 of Joldes, Muller, Popescu 2017; bound 4u² by Muller,
// Rideau, Formalization of double-word arithmetic, ACM TOMS 48 (2022). 9
// operations. Mul does not commute in its last bit.
func (a DD) Mul(b DD) DD {
	z0, z1 := mulDD(a[0], a[1], b[0], b[1])
	return finishDD(z0, z1, float64(a[0]*b[0]))
}

// Sqr returns a², with an error of at most 4u² a²: one rounding costs at most 3u² a², and a1² is
// left out. 7 operations.
func (a DD) Sqr() DD {
	z0, z1 := sqrDD(a[0], a[1])
	return finishDD(z0, z1, float64(a[0]*a[0]))
}

// FMA returns a b + c, with an error of at most 4u² |a b| + 3u² |a b + c| to
// first order: Mul, then Add. The product must not overflow. 29 operations.
func (a DD) FMA(b, c DD) DD {
	p0, p1 := mulDD(a[0], a[1], b[0], b[1])
	z0, z1 := addDD(p0, p1, c[0], c[1])
	return finishDD(z0, z1, leadFMA(a[0], b[0], c[0]))
}

// Div returns a / b, with an error of at most 12u² |a / b|.
//
// q = RN(a0 / b0) leaves the exact remainder r = a0 - q b0. The second word is RN((r + a1 - q b1) /
// b0), its numerator with two roundings. This is DWDivDW2 of Joldes, Muller, Popescu 2017 without
// rounding q b. 8 operations. The numerator is below 3u |a0|. Its roundings cost (2 + 3)u², the
// rounding of the quotient 3u², and b0 in place of b 3u².
func (a DD) Div(b DD) DD {
	z0, z1 := divDD(a[0], a[1], b[0], b[1])
	return finishDD(z0, z1, a[0]/b[0])
}

// Recip returns 1 / a, with an error of at most 9u² / |a|: see [DD.Div]. 7
// operations.
func (a DD) Recip() DD {
	z0, z1 := recipDD(a[0], a[1])
	return finishDD(z0, z1, 1/a[0])
}

// Sqrt returns √a, with an error of at most 25/8 u² √a.
//
// Algorithm SQRTDWtoDW of Lefèvre, Louvet, Muller, Picot, Rideau, Accurate
// calculation of Euclidean norms using double-word arithmetic, ACM TOMS 49
// (2023). 8 operations.
func (a DD) Sqrt() DD {
	z0, z1 := sqrtDD(a[0], a[1])
	return finishDD(z0, z1, math.Sqrt(a[0]))
}

// Rsqrt returns 1/√a, with an error of at most 13u² / √a: [DD.Sqrt], then
// [DD.Recip]. 15 operations.
func (a DD) Rsqrt() DD {
	s0, s1 := sqrtDD(a[0], a[1])
	z0, z1 := recipDD(s0, s1)
	return finishDD(z0, z1, 1/math.Sqrt(a[0]))
}

// AddFloat returns a + b, with an error of at most 2u² |a + b|: DWPlusFP of
// Joldes, Muller, Popescu 2017. 10 operations.
func (a DD) AddFloat(b float64) DD {
	z0, z1 := addFloatDD(a[0], a[1], b)
	return finishDD(z0, z1, a[0]+b)
}

// MulFloat returns a b, with an error of at most 2u² |a b|: DWTimesFP3 of
// Joldes, Muller, Popescu 2017. 6 operations.
func (a DD) MulFloat(b float64) DD {
	z0, z1 := mulFloatDD(a[0], a[1], b)
	return finishDD(z0, z1, float64(a[0]*b))
}

// Neg returns -a.
func (a DD) Neg() DD { return DD{-a[0], 0 - a[1]} }

// Abs returns |a|.
func (a DD) Abs() DD {
	if math.Signbit(a[0]) {
		return a.Neg()
	}
	return a
}

// finishDD puts zeros, infinities and NaN into their one form; s is the result of the operation on
// the leading words.
func finishDD(z0, z1, s float64) DD {
	if ordinary(z0) {
		return DD{z0, z1}
	}
	return DD{special(z0, s), 0}
}

// leadFMA returns the number that decides the special values of a b + c: fma(a, b, c) of leading
// words, or the product if only the product overflows.
func leadFMA(a, b, c float64) float64 {
	s := math.FMA(a, b, c)
	if p := float64(a * b); s-s == 0 && p-p != 0 {
		return p
	}
	return s
}

func addDD(x0, x1, y0, y1 float64) (z0, z1 float64) {
	s, e := twoSum(x0, y0)
	t, f := twoSum(x1, y1)
	s, e = fastTwoSum(s, e+t)
	return fastTwoSum(s, f+e)
}

func mulDD(x0, x1, y0, y1 float64) (z0, z1 float64) {
	p, e := twoProd(x0, y0)
	t := math.FMA(x0, y1, float64(x1*y1))
	t = math.FMA(x1, y0, t)
	return fastTwoSum(p, e+t)
}

func sqrDD(x0, x1 float64) (z0, z1 float64) {
	p, e := twoProd(x0, x0)
	return fastTwoSum(p, math.FMA(x0+x0, x1, e))
}

func divDD(x0, x1, y0, y1 float64) (z0, z1 float64) {
	q := x0 / y0
	r := math.FMA(-q, y0, x0)
	r = math.FMA(-q, y1, r+x1)
	return fastTwoSum(q, r/y0)
}

func recipDD(x0, x1 float64) (z0, z1 float64) {
	q := 1 / x0
	r := math.FMA(-q, x0, 1)
	r = math.FMA(-q, x1, r)
	return fastTwoSum(q, float64(q*r))
}

func sqrtDD(x0, x1 float64) (z0, z1 float64) {
	s := math.Sqrt(x0)
	r := math.FMA(-s, s, x0)
	return fastTwoSum(s, (x1+r)/(s+s))
}

func addFloatDD(x0, x1, y float64) (z0, z1 float64) {
	s, e := twoSum(x0, y)
	return fastTwoSum(s, x1+e)
}

func mulFloatDD(x0, x1, y float64) (z0, z1 float64) {
	p, e := twoProd(x0, y)
	return fastTwoSum(p, math.FMA(x1, y, e))
}

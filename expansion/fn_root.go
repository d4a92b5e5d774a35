package expansion

import "math"

// hypot sets z = √(x² + y²), both scaled by the power of two of the larger.
func (e *evaluator) hypot(z, x, y *block) {
	var k [lanes]int32
	t := e.take(2)
	u, v := &t[0], &t[1]
	for i := range e.n {
		x0, y0 := math.Abs(x[0][i]), math.Abs(y[0][i])
		m := max(x0, y0)
		if !ordinary(m) {
			e.set(u, i, 1)
			e.set(v, i, 1)
			k[i] = 0
			continue
		}
		k[i] = exponent(m)
		f, g := powersOf2(-k[i])
		e.scaled(u, x, i, f, g)
		e.scaled(v, y, i, f, g)
	}
	e.mul(u, u, u)
	e.mul(v, v, v)
	e.add(u, u, v)
	e.sqrt(z, u)
	e.scale(z, &k)
	for i := range e.n {
		x0, y0 := math.Abs(x[0][i]), math.Abs(y[0][i])
		switch {
		case math.IsInf(x0, 0) || math.IsInf(y0, 0):
			e.set(z, i, math.Inf(1))
		case x0 != x0 || y0 != y0:
			e.set(z, i, math.NaN())
		case x0 == 0 && y0 == 0:
			e.set(z, i, 0)
		}
	}
	e.finish(z)
	e.give(2)
}

// cbrt sets z = ∛x: for x = m 2^3k, m between 1 and 8, and a float64 s ≈ 1/∛m,
//
//	∛m = m s² (1 - h)^(-2/3),  h = 1 - m s³, |h| < 2^-49.
func (e *evaluator) cbrt(z, x *block) {
	var k [lanes]int32
	t := e.take(3)
	m, h, s := &t[0], &t[1], &t[2][0]
	for i, x0 := range x[0][:e.n] {
		if !ordinary(x0) {
			e.set(m, i, 1)
			s[i] = 1
			k[i] = 0
			continue
		}
		// ⌊e/3⌋, of an exponent above -1080.
		k[i] = (exponent(x0)+1080)/3 - 360
		f, g := powersOf2(-3 * k[i])
		e.scaled(m, x, i, f, g)
		s[i] = inverseCubeRoot(m[0][i])
	}
	e.mulFloat(z, m, s)
	e.mulFloat(z, z, s)
	e.mulFloat(h, z, s)
	e.negate(h)
	e.addNumber(h, h, 1)
	e.series(m, h, &cbrtSeries)
	e.mul(m, m, h)
	e.mul(m, m, z)
	e.add(z, z, m)
	e.scale(z, &k)
	e.negateWhere(z, &x[0])
	for i, x0 := range x[0][:e.n] {
		if !ordinary(x0) {
			e.set(z, i, x0)
		}
	}
	e.finish(z)
	e.give(3)
}

// inverseCubeRoot is m^(-1/3) to within 2^-51, for m between 1 and 8. A third of the exponent's
// bits gives it to 4 %, then four steps of Newton's iteration follow.
func inverseCubeRoot(m float64) float64 {
	s := math.Float64frombits(0x553ef0ff289dd796 - math.Float64bits(m)/3)
	for range 4 {
		h := math.FMA(-m, float64(float64(s*s)*s), 1)
		s = math.FMA(s, float64(h*(1.0/3)), s)
	}
	return s
}

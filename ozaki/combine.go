package ozaki

import "math"

// combine returns α t 2^x + β c for the entry t of a product, where α = m 2^e with 1/2 ≤ |m| < 1,
// as in [math.Frexp]:
//
//	v = RN(m t + 0),  RN(v 2^(x+e)) if β = 0,  else RN(β c + v 2^(x+e)) by one fused multiply-add,
//
// for parts in any range; an underflowing result is rounded once more.
func combine(t float64, x int, m float64, e int, beta, c float64) float64 {
	v := float64(m*t) + 0 // -0 becomes +0
	x += e
	switch {
	case beta == 0:
		return scale(v, x)
	case !finite(beta) || !finite(c):
		return beta * c // v is finite
	case v == 0 || c == 0:
		return scale(v, x) + float64(beta*c)
	}
	fv, ev := math.Frexp(v)
	fb, eb := math.Frexp(beta)
	fc, ec := math.Frexp(c)
	z := max(ev+x, eb+ec)
	return scale(math.FMA(fb, scale(fc, max(eb+ec-z, -1000)), scale(fv, max(ev+x-z, -1000))), z)
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

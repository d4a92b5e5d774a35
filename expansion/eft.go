package expansion

import "math"

// Error-free transformations. Compilers may fuse x*y + z into one rounding, across statements and
// inlined calls. A product is therefore written float64(x*y), which forbids it, or math.FMA.
// scripts/fused.sh checks the compiled code.

// twoSum returns s = RN(a + b) and e = a + b - s, exactly unless a + b
// overflows. 6 operations. Møller 1965, Knuth, TAOCP 4.2.2.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	e = (a - (s - t)) + (b - t)
	return s, e
}

// fastTwoSum is twoSum for |a| ≥ |b|, or b = 0, or a a multiple of ulp(b).
// 3 operations. Dekker 1971.
func fastTwoSum(a, b float64) (s, e float64) {
	s = a + b
	e = b - (s - a)
	return s, e
}

// twoProd returns p = RN(a b) and e = a b - p, exactly if a b neither overflows
// nor lies below 2^-969. 2 operations.
func twoProd(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// special returns the leading word of an operation's result, given the leading word r = ±0, ±Inf or
// NaN of the straight-line code, and the result s of the same operation on the operands' leading
// words alone. s decides if it is zero, infinite or NaN; otherwise r = 0 is a cancellation and
// anything else an overflow. The other words of the result are +0.
func special(r, s float64) float64 {
	switch {
	case s != s:
		return math.NaN()
	case s == 0 || s-s != 0:
		return s
	case r == 0:
		return 0
	}
	return math.Copysign(math.Inf(1), s)
}

// ordinary reports whether x is neither zero nor infinite nor NaN.
func ordinary(x float64) bool { return x != 0 && x-x == 0 }

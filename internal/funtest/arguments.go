// Package funtest has arguments for tests of elementary functions of expansions, and what the
// results should be. Functions go by the names of package math, in lower case.
package funtest

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// binary reports whether f has two arguments.
func binary(f string) bool { return f == "pow" || f == "hypot" || f == "atan2" }

// argument is a random argument of f: often near the points where f is small, large or
// steep.
func argument(r *rand.Rand, f string) float64 {
	x := r.NormFloat64()
	switch r.IntN(8) {
	case 0:
	case 1:
		x = math.Ldexp(x, r.IntN(60)-40)
	case 2:
		x = 1 + math.Ldexp(x, -r.IntN(54))
	case 3:
		x = math.Ldexp(x, r.IntN(2098)-1074)
	case 4:
		x = math.RoundToEven(1000*x) * (math.Pi / 4)
	case 5:
		x = math.RoundToEven(100 * x)
	case 6:
		x = 800 * x
	case 7:
		x = math.Float64frombits(r.Uint64())
	}
	switch f {
	case "exp", "expm1", "sinh", "cosh":
		if r.IntN(2) == 0 {
			x = math.Mod(x, 745)
		}
	case "exp2":
		if r.IntN(2) == 0 {
			x = math.Mod(x, 1074)
		}
	case "log", "log2", "log10", "acosh":
		x = math.Abs(x)
		if f == "acosh" && r.IntN(2) == 0 {
			x++
		}
	case "log1p":
		if x < 0 && r.IntN(2) == 0 {
			x = -math.Mod(-x, 1)
		}
	case "asin", "acos", "atanh":
		if !(math.Abs(x) <= 1) {
			x = 1 / x
		}
	}
	return x
}

// Arguments returns random arguments of f, normalised expansions of w words: y too if f has
// two.
func Arguments(r *rand.Rand, f string, w int) (x, y []float64) {
	x = Extend(r, argument(r, f), w)
	if !binary(f) {
		return x, make([]float64, w)
	}
	y = Extend(r, argument(r, f), w)
	switch {
	case f == "pow" && r.IntN(4) > 0:
		if r.IntN(2) == 0 {
			x[0] = math.Abs(x[0])
			x = Extend(r, x[0], w)
		}
		// A result of any size.
		y = Extend(r, 1.1*(float64(2*float64(r.Float64()))-1)*720/math.Log(math.Abs(x[0])), w)
	case r.IntN(4) == 0:
		y = Extend(r, x[0]*math.Ldexp(r.NormFloat64(), r.IntN(120)-60), w)
	}
	return x, y
}

// Extend returns a normalised expansion of w words that begins with x.
func Extend(r *rand.Rand, x float64, w int) []float64 {
	e := make([]float64, w)
	e[0] = x
	if !ordinary(x) || r.IntN(8) == 0 {
		return e
	}
	for k := 1; k < w; k++ {
		if e[k-1] == 0 {
			break
		}
		_, exponent := math.Frexp(e[k-1])
		e[k] = math.Ldexp(float64(2*float64(r.Float64()))-1, exponent-54-r.IntN(2)*r.IntN(30))
		if e[k-1]+e[k] != e[k-1] {
			e[k] = 0
		}
	}
	return e
}

// Regular reports whether f(x, y) is to be compared with the oracle: it is neither a special
// value nor far outside the range of float64.
func Regular(f string, x, y []float64) bool {
	if !ordinary(x[0]) || binary(f) && !ordinary(y[0]) {
		return false
	}
	sign := new(big.Float).Sub(Exact(x).Abs(Exact(x)), big.NewFloat(1)).Sign() // of |x| - 1
	switch f {
	case "exp", "expm1", "sinh", "cosh":
		return math.Abs(x[0]) < 760
	case "exp2":
		return math.Abs(x[0]) < 1100
	case "log", "log2", "log10":
		return x[0] > 0 && (sign != 0 || x[0] < 0)
	case "log1p":
		return x[0] > 0 || sign < 0
	case "asin":
		return sign <= 0
	case "acos":
		return sign < 0 || sign == 0 && x[0] < 0
	case "acosh":
		return x[0] > 0 && sign > 0
	case "atanh":
		return sign < 0
	case "tanh":
		return math.Abs(x[0]) < 300
	case "pow":
		return (x[0] > 0 || Exact(y).IsInt()) && math.Abs(y[0]*math.Log(math.Abs(x[0]))) < 760 && math.Abs(y[0]) < 1e300
	}
	return true
}

// ordinary reports whether x is neither zero nor infinite nor NaN.
func ordinary(x float64) bool { return x != 0 && x-x == 0 }

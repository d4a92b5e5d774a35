package expansion

import (
	"math"
	"math/big"
)

// Floor returns the greatest integer ≤ a, exactly.
func (a DD) Floor() DD { return a.integer(math.Floor, false) }

// Floor returns the greatest integer ≤ a, exactly.
func (a TD) Floor() TD { return a.integer(math.Floor, false) }

// Floor returns the greatest integer ≤ a, exactly.
func (a QD) Floor() QD { return a.integer(math.Floor, false) }

// Ceil returns the least integer ≥ a, exactly.
func (a DD) Ceil() DD { return a.integer(math.Ceil, false) }

// Ceil returns the least integer ≥ a, exactly.
func (a TD) Ceil() TD { return a.integer(math.Ceil, false) }

// Ceil returns the least integer ≥ a, exactly.
func (a QD) Ceil() QD { return a.integer(math.Ceil, false) }

// Trunc returns the integer part of a, exactly.
func (a DD) Trunc() DD { return a.integer(truncation(a[0]), false) }

// Trunc returns the integer part of a, exactly.
func (a TD) Trunc() TD { return a.integer(truncation(a[0]), false) }

// Trunc returns the integer part of a, exactly.
func (a QD) Trunc() QD { return a.integer(truncation(a[0]), false) }

// Round returns the integer nearest to a, halves away from zero.
func (a DD) Round() DD { return a.integer(awayFrom(a[0]), true) }

// Round returns the integer nearest to a, halves away from zero.
func (a TD) Round() TD { return a.integer(awayFrom(a[0]), true) }

// Round returns the integer nearest to a, halves away from zero.
func (a QD) Round() QD { return a.integer(awayFrom(a[0]), true) }

// RoundToEven returns the integer nearest to a, halves to even.
func (a DD) RoundToEven() DD { return a.integer(math.RoundToEven, true) }

// RoundToEven returns the integer nearest to a, halves to even.
func (a TD) RoundToEven() TD { return a.integer(math.RoundToEven, true) }

// RoundToEven returns the integer nearest to a, halves to even.
func (a QD) RoundToEven() QD { return a.integer(math.RoundToEven, true) }

func (a DD) integer(f func(float64) float64, nearest bool) DD {
	zero := math.Copysign(0, a[0])
	if !integerWords(a[:], f, nearest) {
		return a
	}
	z0, z1 := fastTwoSum(a[0], a[1])
	return finishDD(z0, z1, zero)
}

func (a TD) integer(f func(float64) float64, nearest bool) TD {
	zero := math.Copysign(0, a[0])
	if !integerWords(a[:], f, nearest) {
		return a
	}
	z0, z1, z2 := renormTD(a[0], a[1], a[2])
	return finishTD(z0, z1, z2, zero)
}

func (a QD) integer(f func(float64) float64, nearest bool) QD {
	zero := math.Copysign(0, a[0])
	if !integerWords(a[:], f, nearest) {
		return a
	}
	z0, z1, z2, z3 := renormQD(a[0], a[1], a[2], a[3])
	return finishQD(z0, z1, z2, z3, zero)
}

// truncation returns the rounding towards zero of the words of a number whose
// leading word is x.
func truncation(x float64) func(float64) float64 {
	if math.Signbit(x) {
		return math.Ceil
	}
	return math.Floor
}

// awayFrom returns the rounding to nearest of the words of a number whose
// leading word is x, halves away from zero.
func awayFrom(x float64) func(float64) float64 {
	up := math.Ceil
	if math.Signbit(x) {
		up = math.Floor
	}
	return func(w float64) float64 {
		if halfway(w) {
			return up(w)
		}
		return math.Round(w)
	}
}

// halfway reports whether w is an integer and a half.
func halfway(w float64) bool { return math.Abs(w-math.Trunc(w)) == 0.5 }

// integerWords rounds the words x to a sum of integers, by f for a single word, and reports whether
// it changed them. The words before the first that is not an integer stay. f rounds that word. The
// words after it are at most half its ulp; they only decide whether the nearest integer lies below
// or above a word halfway between two integers. If nothing follows a halfway word, the word before
// it is even, so that f may use the parity of the halfway word.
func integerWords(x []float64, f func(float64) float64, nearest bool) bool {
	for i, w := range x {
		if w == math.Trunc(w) || w-w != 0 {
			continue
		}
		n := f(w)
		if nearest && halfway(w) && i+1 < len(x) && x[i+1] != 0 {
			n = math.Floor(w)
			if x[i+1] > 0 {
				n = math.Ceil(w)
			}
		}
		x[i] = n
		clear(x[i+1:])
		return true
	}
	return false
}

// Mod returns the remainder of a / b, with the sign of a and less than |b| in magnitude, rounded to
// nearest: it is exact wherever a DD can hold it. Special values are the same as in [math.Mod].
func (a DD) Mod(b DD) DD {
	mod(a[:], b[:])
	return a
}

// Mod returns the remainder of a / b: see [DD.Mod].
func (a TD) Mod(b TD) TD {
	mod(a[:], b[:])
	return a
}

// Mod returns the remainder of a / b: see [DD.Mod].
func (a QD) Mod(b QD) QD {
	mod(a[:], b[:])
	return a
}

// mod sets a to the remainder of a / b.
func mod(a, b []float64) {
	if !ordinary(a[0]) || !ordinary(b[0]) {
		a0 := math.Mod(a[0], b[0])
		if a0 != a0 || a[0] == 0 { // else b is infinite
			a[0] = special(a0, a0)
			clear(a[1:])
		}
		return
	}
	// Both are integers times 2^low.
	const low = -1074
	integer := func(x []float64) *big.Int {
		x0 := exactBig(x)
		n, _ := x0.SetMantExp(x0, -low).Int(nil)
		return n
	}
	neg := math.Signbit(a[0])
	r := integer(a)
	r.Rem(r, integer(b))
	z := new(big.Float).SetInt(r)
	setBig(a, z.SetMantExp(z, low))
	if neg {
		a[0] = math.Copysign(a[0], -1)
	}
}

// Ldexp returns a × 2^exp, rounded to nearest where it underflows.
func (a DD) Ldexp(exp int) DD {
	ldexp(a[:], exp)
	return a
}

// Ldexp returns a × 2^exp, rounded to nearest where it underflows.
func (a TD) Ldexp(exp int) TD {
	ldexp(a[:], exp)
	return a
}

// Ldexp returns a × 2^exp, rounded to nearest where it underflows.
func (a QD) Ldexp(exp int) QD {
	ldexp(a[:], exp)
	return a
}

func ldexp(x []float64, exp int) {
	if !ordinary(x[0]) {
		return
	}
	exp = min(max(exp, -5000), 5000)
	_, e := math.Frexp(x[len(x)-1])
	for i := len(x) - 1; x[i] == 0; i-- {
		_, e = math.Frexp(x[i-1])
	}
	if e+exp-53 < -1074 { // where bits may be lost
		z := exactBig(x)
		neg := math.Signbit(x[0])
		setBig(x, z.SetMantExp(z, exp))
		if neg {
			x[0] = math.Copysign(x[0], -1)
		}
		return
	}
	for i, w := range x {
		x[i] = math.Ldexp(w, exp)
	}
	if !ordinary(x[0]) {
		clear(x[1:])
	}
}

// Frexp returns frac and exp with a = frac × 2^exp and 1/2 ≤ |frac| < 1, exactly
// unless the last words underflow. Zeros, infinities and NaN are returned with
// exp = 0.
func (a DD) Frexp() (frac DD, exp int) {
	exp = frexp(a[:])
	return a, exp
}

// Frexp returns frac and exp with a = frac × 2^exp: see [DD.Frexp].
func (a TD) Frexp() (frac TD, exp int) {
	exp = frexp(a[:])
	return a, exp
}

// Frexp returns frac and exp with a = frac × 2^exp: see [DD.Frexp].
func (a QD) Frexp() (frac QD, exp int) {
	exp = frexp(a[:])
	return a, exp
}

func frexp(x []float64) int {
	if !ordinary(x[0]) {
		return 0
	}
	f, exp := math.Frexp(x[0])
	if math.Abs(f) == 0.5 && x[1] != 0 && math.Signbit(x[1]) != math.Signbit(f) {
		exp--
	}
	ldexp(x, -exp)
	return exp
}

package rns

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// XFloat is a non-negative extended-range floating-point number F·2^I. F has 53 bits, 1 ≤ F < 2.
// The exponent I is an integer of 32 bits, so that X/M has a value however long M is (003,
// "extended-range floating-point"). Zero is F = 0, I = 0. Infinity, which occurs only as an upper
// bound that overflows, is F = +Inf, I = 0.
//
// AddDown, AddUp and so on return the exact sum, difference, product or quotient rounded to 53 bits
// toward zero or away from zero, as IEEE 754 directed rounding would with an unbounded exponent
// range. They are computed on the integer significands, so every machine gives the same bits;
// __dadd_rd and the like of CUDA agree where they neither overflow nor underflow. Results below
// 2^(-2^31) are rounded down to 0 and up to 2^(-2^31). Results of 2^(2^31) and more are rounded
// down to the largest number and up to infinity.
type XFloat struct {
	F float64
	I int32
}

const (
	fracBits   = 52
	hiddenBit  = 1 << fracBits
	fracMask   = hiddenBit - 1
	oneExp     = 1023 << fracBits // the exponent field of 1 ≤ F < 2
	guardShift = 10               // 53 bits and these fit a word with its sign
)

var (
	xZero = XFloat{}
	xInf  = XFloat{F: math.Inf(1)}
)

// mant returns the integer significand, 2^52 ≤ mant < 2^53, of a finite x > 0.
func (x XFloat) mant() uint64 { return math.Float64bits(x.F)&fracMask | hiddenBit }

func (x XFloat) isZero() bool { return x.F == 0 }
func (x XFloat) isInf() bool  { return math.IsInf(x.F, 1) }

// packX returns m·2^(i-52) for 2^52 ≤ m < 2^53.
func packX(m uint64, i int64, up bool) XFloat {
	switch {
	case i > math.MaxInt32:
		if up {
			return xInf
		}
		return XFloat{math.Nextafter(2, 1), math.MaxInt32}
	case i < math.MinInt32:
		if up {
			return XFloat{1, math.MinInt32}
		}
		return xZero
	}
	return XFloat{math.Float64frombits(m&fracMask | oneExp), int32(i)}
}

// roundX returns m·2^i rounded to 53 bits.
func roundX(m uint64, i int64, up bool) XFloat {
	if m == 0 {
		return xZero
	}
	s := bits.Len64(m) - 53
	i += fracBits + int64(s)
	if s <= 0 {
		return packX(m<<uint(-s), i, up)
	}
	r := m >> uint(s)
	if up && r<<uint(s) != m {
		r++ // at most 2^53
		if r>>53 != 0 {
			r, i = r>>1, i+1
		}
	}
	return packX(r, i, up)
}

// Cmp returns -1, 0 or 1 as x < y, x = y or x > y.
func (x XFloat) Cmp(y XFloat) int {
	switch {
	case x == y:
		return 0
	case x.isZero() || y.isInf():
		return -1
	case y.isZero() || x.isInf():
		return 1
	case x.I < y.I || x.I == y.I && x.F < y.F:
		return -1
	}
	return 1
}

func (x XFloat) less(y XFloat) bool { return x.Cmp(y) < 0 }

// AddDown returns x + y rounded toward zero.
func (x XFloat) AddDown(y XFloat) XFloat { return x.add(y, false) }

// AddUp returns x + y rounded away from zero.
func (x XFloat) AddUp(y XFloat) XFloat { return x.add(y, true) }

func (x XFloat) add(y XFloat, up bool) XFloat {
	if x.less(y) {
		x, y = y, x
	}
	if y.isZero() || x.isInf() {
		return x
	}
	d := uint64(int64(x.I) - int64(y.I))
	m, b := x.mant(), y.mant()
	q := b >> d
	if up && q<<d != b {
		q++
	}
	// Two floors, or two ceilings, in a row are one.
	return roundX(m+q, int64(x.I)-fracBits, up)
}

// SubDown returns x - y rounded toward zero, or 0 if x ≤ y.
func (x XFloat) SubDown(y XFloat) XFloat { return x.sub(y, false) }

// SubUp returns x - y rounded away from zero, or 0 if x ≤ y.
func (x XFloat) SubUp(y XFloat) XFloat { return x.sub(y, true) }

func (x XFloat) sub(y XFloat, up bool) XFloat {
	switch {
	case x.Cmp(y) <= 0:
		return xZero
	case y.isZero() || x.isInf():
		return x
	}
	// With d ≤ guardShift the difference is exact; beyond it has at least 61 bits.
	d := uint64(int64(x.I) - int64(y.I))
	m, b := x.mant()<<guardShift, y.mant()<<guardShift
	q := b >> d
	if !up && q<<d != b {
		q++
	}
	return roundX(m-q, int64(x.I)-fracBits-guardShift, up)
}

// MulDown returns x y rounded toward zero.
func (x XFloat) MulDown(y XFloat) XFloat { return x.mul(y, false) }

// MulUp returns x y rounded away from zero. 0·∞ = 0.
func (x XFloat) MulUp(y XFloat) XFloat { return x.mul(y, true) }

func (x XFloat) mul(y XFloat, up bool) XFloat {
	switch {
	case x.isZero() || y.isZero():
		return xZero
	case x.isInf() || y.isInf():
		return xInf
	}
	hi, lo := bits.Mul64(x.mant()<<guardShift, y.mant()<<guardShift) // 2^124 ≤ product < 2^126
	if up && lo != 0 {
		hi++
	}
	return roundX(hi, int64(x.I)+int64(y.I)+64-2*(fracBits+guardShift), up)
}

// DivDown returns x / y rounded toward zero.
func (x XFloat) DivDown(y XFloat) XFloat { return x.div(y, false) }

// DivUp returns x / y rounded away from zero; x / 0 = ∞, also for x = 0.
func (x XFloat) DivUp(y XFloat) XFloat { return x.div(y, true) }

func (x XFloat) div(y XFloat, up bool) XFloat {
	switch {
	case y.isZero() || x.isInf():
		return xInf
	case x.isZero() || y.isInf():
		return xZero
	}
	q, r := bits.Div64(x.mant()<<guardShift, 0, y.mant()<<(guardShift+1)) // x/y 2^63
	if up && r != 0 {
		q++ // at most 2^64 - 2^11 before
	}
	return roundX(q, int64(x.I)-int64(y.I)-63, up)
}

// sqrt returns √x rounded.
func (x XFloat) sqrt(up bool) XFloat {
	if x.isZero() || x.isInf() {
		return x
	}
	f, i := x.F, x.I
	if i&1 != 0 {
		f, i = 2*f, i-1
	}
	g := math.Sqrt(f) // to nearest
	switch rest := math.FMA(g, g, -f); {
	case up && rest < 0:
		g = math.Nextafter(g, 4)
	case !up && rest > 0:
		g = math.Nextafter(g, 0)
	}
	if i /= 2; g >= 2 {
		g, i = g/2, i+1
	}
	return XFloat{g, i}
}

// Scale returns x 2^k, exactly unless it leaves the range, then rounded toward zero.
func (x XFloat) Scale(k int) XFloat { return x.scale(int64(k), false) }

func (x XFloat) scale(k int64, up bool) XFloat {
	if x.isZero() || x.isInf() {
		return x
	}
	return packX(x.mant(), int64(x.I)+k, up)
}

// Big returns x exactly. Exponents near the ends of the range exceed the range of math/big: there
// it returns 0 or infinity, as big.Float does.
func (x XFloat) Big() *big.Float {
	z := new(big.Float).SetFloat64(x.F)
	if x.isZero() || x.isInf() {
		return z
	}
	return z.SetMantExp(z, int(x.I))
}

// String returns x as F·2^I.
func (x XFloat) String() string { return fmt.Sprintf("%v·2^%d", x.F, x.I) }

// Format prints x as F·2^I, F with the verb, the flags, the width and the precision, as fmt prints
// a float64; the verb s prints String.
func (x XFloat) Format(state fmt.State, verb rune) {
	if verb == 's' {
		verb = 'v'
	}
	fmt.Fprintf(state, fmt.FormatString(state, verb)+"·2^%d", x.F, x.I)
}

// roundBig returns a finite r ≥ 0 rounded to 53 bits.
func roundBig(r *big.Float, up bool) XFloat {
	if r.Sign() == 0 {
		return xZero
	}
	mode := big.ToZero
	if up {
		mode = big.AwayFromZero
	}
	m := new(big.Float).SetMode(mode).SetPrec(53).Set(r)
	i := m.MantExp(m)
	f, _ := m.Float64() // in [1/2, 1)
	return packX(math.Float64bits(2*f)&fracMask|hiddenBit, int64(i)-1, up)
}

package digits

import (
	"math"
	"math/bits"
)

// headBits is the number of leading bits from which numbers are rounded to float64 where these bits
// decide. It takes a tenth of the time of all digits. Numbers have at least three digits, which are
// more bits.
const headBits = 128

// headError returns a bound of the error r 2^unit of a number, in units of 2^-headBits, with 4
// units for bits cut off and errors below a unit; not ok if it is too large.
func headError(r float64, unit int) (e uint64, ok bool) {
	x := math.Ldexp(r, unit+headBits)
	return uint64(x) + 5, x < 0x1p60
}

// head returns the first 128 bits of x - 1/2 for a factor x, as a magnitude and a sign.
func (t Numbers) head(x []uint64) (high, low uint64, neg bool) {
	high, low = t.joined(t.FactorDigit(x, 0), t.FactorDigit(x, 1), t.FactorDigit(x, 2))
	if high>>63 == 1 {
		return high &^ (1 << 63), low, false
	}
	low, borrow := bits.Sub64(0, low, 0)
	high, _ = bits.Sub64(1<<63, high, borrow)
	return high, low, true
}

// headOf returns the first 128 bits of the number in a lane of a vector.
func (t Numbers) headOf(x []uint64, lane int) (high, low uint64, neg bool) {
	a, n0 := t.VectorDigit(x, 0, lane)
	b, n1 := t.VectorDigit(x, 1, lane)
	c, n2 := t.VectorDigit(x, 2, lane)
	high, low = t.joined(a, b, c)
	return high, low, n0 || n1 || n2
}

// joined returns the first 128 bits of three digits.
func (t Numbers) joined(a, b, c uint64) (high, low uint64) {
	n := uint(t.Bits()) // more than 42, at most 64
	return a<<(64-n) | b>>(2*n-64), b<<(128-2*n) | c>>(3*n-128)
}

// roundHead rounds the number (high 2^64 + low) 2^exp, which is in error by at most e 2^exp, to
// float64. It is ok if all numbers within the error round to the result, a normal number. The tests
// are those of EnclosedEntry.RoundTo (package bound).
func roundHead(high, low uint64, neg bool, exp int64, e uint64) (x float64, ok bool) {
	zeros := uint(bits.LeadingZeros64(high))
	top := exp + 128 - int64(zeros)
	if high == 0 || top < -1020 || top > 1023 {
		return 0, false
	}
	high, low = high<<zeros|low>>(64-zeros), low<<zeros
	// tail has the 64 bits below the last place.
	const drop = 64 - 53
	tail := high<<53 | low>>drop
	if zeros <= drop {
		e >>= drop - zeros
	} else if more := zeros - drop; e>>(62-min(more, 62)) == 0 {
		e <<= more
	} else {
		return 0, false
	}
	if e += 2; e >= 1<<62 { // a quarter of the last place
		return 0, false
	}
	dist := tail - 1<<63
	if int64(dist) < 0 {
		dist = -dist
	}
	if dist <= e {
		return 0, false
	}
	x = math.Float64frombits(uint64(top+1021)<<52 + high>>drop + tail>>63)
	if neg {
		x = -x
	}
	return x, true
}

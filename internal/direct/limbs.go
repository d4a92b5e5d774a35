package direct

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// limbSpan is the largest spread of exponents, in bits, of MP numbers that are
// summed in one window; others go through pages.
const limbSpan = 1 << 13

// inLine returns v read forwards and reports whether its entries then lie in line.
// Sums do not care for the order.
func inLine(v num.Vec) (num.Vec, bool) {
	if v.Inc == -1 && v.N > 0 {
		v.Off, v.Inc = v.At(v.N-1), 1
	}
	return v, v.Inc == 1
}

// addLimbs adds the MP numbers of x, or their magnitudes, in chunks of like
// exponents, and reports whether it could.
func (a *Acc) addLimbs(x num.Vec, magnitudes bool) bool {
	x, ok := inLine(x)
	if !ok || x.Arr.Kind != num.MP || x.N == 0 {
		return false
	}
	arr, l := x.Arr, x.Arr.Limbs()
	exp, cls := arr.Exp[x.Off:x.Off+x.N], arr.Cls[x.Off:x.Off+x.N]
	low, high := a.scan(exp, cls, magnitudes)
	if low > high { // nothing finite
		return true
	}
	span := int(high) - int(low)
	if span > limbSpan {
		return false
	}
	// The most common shifts are small: the largest exponent has shift 8, so that
	// the words above a number seldom see a carry.
	base := int64(low) - (int64(8)-int64(span))&63
	pitch := l + (span+63)/64 + 4
	if cap(a.window) < 2*pitch {
		a.window = make([]uint64, 2*pitch)
	}
	w := a.window[:2*pitch]
	clear(w)
	sig := arr.Sig[x.Off*l : (x.Off+x.N)*l]
	bytes := unsafe.Slice((*uint8)(unsafe.Pointer(&cls[0])), len(cls))
	if assembly() {
		sumLimbsFast(w, pitch, sig, exp, bytes, l, base)
	} else {
		sumLimbs(w, pitch, sig, exp, bytes, l, base)
	}
	a.seen |= seenFinite
	for i := range 2 {
		if m := trim(w[i*pitch : (i+1)*pitch]); len(m) > 0 {
			a.addMag(i == 1 && !magnitudes, base-int64(64*l), m)
		}
	}
	return true
}

// scan notes the zeros, infinities and NaNs, and returns the least and the largest
// exponent of the finite numbers.
func (a *Acc) scan(exp []int32, cls []num.Cls, magnitudes bool) (low, high int32) {
	const finite = 0x0202020202020202
	low, high = math.MaxInt32, math.MinInt32
	for len(cls) >= 8 {
		if *(*uint64)(unsafe.Pointer(&cls[0]))&0xfefefefefefefefe == finite {
			e := (*[8]int32)(exp)
			low = min(low, min(min(e[0], e[1]), min(e[2], e[3])), min(min(e[4], e[5]), min(e[6], e[7])))
			high = max(high, max(max(e[0], e[1]), max(e[2], e[3])), max(max(e[4], e[5]), max(e[6], e[7])))
		} else {
			l, h := a.scanFew(exp[:8], cls[:8], magnitudes)
			low, high = min(low, l), max(high, h)
		}
		exp, cls = exp[8:], cls[8:]
	}
	l, h := a.scanFew(exp, cls, magnitudes)
	return min(low, l), max(high, h)
}

func (a *Acc) scanFew(exp []int32, cls []num.Cls, magnitudes bool) (low, high int32) {
	low, high = math.MaxInt32, math.MinInt32
	for i, c := range cls {
		if c.Class() == num.Finite {
			low, high = min(low, exp[i]), max(high, exp[i])
		} else {
			a.addSpecial(c.Class(), c.Neg() && !magnitudes)
		}
	}
	return low, high
}

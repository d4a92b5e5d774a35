package num

import (
	"math"
	"math/bits"
)

// Flags records the events of rounding one number.
type Flags uint8

// The events that Stats counts.
const (
	Overflow Flags = 1 << iota // a finite number became an infinity
	// Underflow: a finite non-zero number became subnormal or zero and lost bits. For DD, TD and
	// QD, this happened to the rest that some term was rounded from.
	Underflow
)

// Set stores r in number i, rounded to nearest even. If r is Sticky and the format is DD, TD or QD,
// the last bit of r must lie at or below 2^-1200, where stickiness can only decide ties.
func (a *Array) Set(i int, r Real) Flags {
	if r.Class == Finite && IsZero(r.Mag) && !r.Sticky {
		r.Class = Zero
	}
	switch a.Kind {
	case MP:
		return a.setMP(i, r)
	case F32:
		x, f := roundFloat(r, 24, -149, 128)
		a.F32[i] = float32(x)
		return f
	case F64:
		x, f := RoundFloat64(r)
		a.F64[0][i] = x
		return f
	}
	return a.setExpansion(i, r)
}

// Convert sets number i of a to number j of b, rounded.
func (a *Array) Convert(i int, b *Array, j int) Flags {
	if a.Format == b.Format && a.Terms() <= 1 && !b.isNaN(j) { // NaN gets its one bit pattern
		a.CopyFrom(i, b, j)
		return 0
	}
	var buf [MaxValueWords]uint64
	return a.Set(i, b.Value(j, buf[:]))
}

// isNaN reports whether number i, not an expansion, is NaN.
func (a *Array) isNaN(i int) bool {
	switch a.Kind {
	case F32:
		return a.F32[i] != a.F32[i]
	case MP:
		return a.Cls[i].Class() == NaN
	}
	return a.F64[0][i] != a.F64[0][i]
}

// RoundFloat64 returns the binary64 nearest to r.
func RoundFloat64(r Real) (float64, Flags) { return roundFloat(r, 53, -1074, 1024) }

// roundFloat rounds to the IEEE format that has p-bit significands and whose numbers are multiples
// of 2^lowest and less than 2^highest.
func roundFloat(r Real, p, lowest, highest int64) (float64, Flags) {
	sign := 1.0
	if r.Neg {
		sign = -1
	}
	switch r.Class {
	case Zero:
		return math.Copysign(0, sign), 0
	case Inf:
		return math.Inf(int(sign)), 0
	case NaN:
		return math.NaN(), 0
	}
	n := int64(BitLen(r.Mag))
	if n+r.Exp > highest {
		return math.Inf(int(sign)), Overflow
	}
	lsb := max(r.Exp+n-p, lowest)
	drop := lsb - r.Exp
	var q uint64
	inexact := r.Sticky
	if drop <= 0 {
		// The last bit kept lies below Mag's last bit, so there is nothing to round. Here n <= p,
		// or Mag is a multiple of 2^lowest with at most p bits.
		q = WordAt(r.Mag, drop)
	} else {
		q = WordAt(r.Mag, drop)
		half, rest := bit(r.Mag, drop-1), r.Sticky || anyBelow(r.Mag, drop-1)
		inexact = half || rest
		if half && (rest || q&1 != 0) {
			q++
		}
	}
	var f Flags
	if r.Exp+n-p < lowest && inexact {
		f = Underflow
	}
	if bits.Len64(q)+int(lsb) > int(highest) {
		return math.Inf(int(sign)), Overflow
	}
	return sign * ldexp(q, lsb), f
}

// ldexp returns q 2^e exactly. The result must be a binary64 number.
func ldexp(q uint64, e int64) float64 {
	if q == 0 {
		return 0
	}
	return math.Ldexp(float64(q), int(e))
}

// setMP rounds to p bits with an unbounded exponent. If the exponent does not fit an int32, it then
// stores infinity, the smallest number or zero.
func (a *Array) setMP(i int, r Real) Flags {
	if r.Class != Finite {
		a.Cls[i] = MakeCls(r.Neg, r.Class)
		return 0
	}
	l := a.Limbs()
	z := a.Sig[i*l : (i+1)*l]
	p := int64(a.Prec)
	n := int64(BitLen(r.Mag))
	e := r.Exp + n // the value is 0.1... 2^e
	// Word k of the result holds the bits from n-64(l-k) on.
	at, s := int(n-int64(64*l))>>6, uint(n&63)
	var word uint64
	if uint(at) < uint(len(r.Mag)) {
		word = r.Mag[at]
	}
	for k := range z {
		at++
		var next uint64
		if uint(at) < uint(len(r.Mag)) {
			next = r.Mag[at]
		}
		z[k] = word>>s | next<<1<<(63-s)
		word = next
	}
	spare := uint(64*int64(l) - p) // low bits of z[0] below the precision
	half := bit(r.Mag, n-p-1)
	if half && (r.Sticky || anyBelow(r.Mag, n-p-1) || z[0]>>spare&1 != 0) {
		z[0] = z[0] &^ (1<<spare - 1)
		var c uint64
		z[0], c = bits.Add64(z[0], 1<<spare, 0)
		for k := 1; k < l; k++ {
			z[k], c = bits.Add64(z[k], 0, c)
		}
		if c != 0 {
			z[l-1] = 1 << 63
			e++
		}
	} else {
		z[0] = z[0] &^ (1<<spare - 1)
	}
	return a.finishMP(i, r, e)
}

// finishMP stores the exponent and class of number i, whose significand is already stored. It
// handles exponents out of range.
func (a *Array) finishMP(i int, r Real, e int64) Flags {
	switch {
	case e > math.MaxInt32:
		a.Cls[i] = MakeCls(r.Neg, Inf)
		return Overflow
	case e < math.MinInt32:
		// The smallest number is 2^(MinInt32-1). Values above its half round to it, and the tie
		// rounds to 0. The exponent e may come from rounding up a value below the half.
		l := a.Limbs()
		z := a.Sig[i*l : (i+1)*l]
		n := BitLen(r.Mag)
		if r.Exp+int64(n) == math.MinInt32-1 && (n-1 != TrailingZeros(r.Mag) || r.Sticky) {
			clear(z)
			z[l-1] = 1 << 63
			a.Exp[i], a.Cls[i] = math.MinInt32, MakeCls(r.Neg, Finite)
			return Underflow
		}
		a.Cls[i] = MakeCls(r.Neg, Zero)
		return Underflow
	}
	a.Exp[i], a.Cls[i] = int32(e), MakeCls(r.Neg, Finite)
	return 0
}

// setExpansion rounds greedily, h = RN(x), l = RN(x - h), and so on, and then stores the canonical
// expansion of the resulting value. A tie may have made a greedy pair with RN(h + l) != h; then
// rounding the value once more gives the canonical one. Let MAX be the largest binary64. Numbers
// just below MAX + 2^970 whose greedy value is MAX + 2^970 overflow like MAX + 2^970 itself,
// because RN(MAX + 2^970) is infinity.
func (a *Array) setExpansion(i int, r Real) Flags {
	n := a.Terms()
	var t [4]float64
	if r.Class == Finite && !r.Sticky && greedyNormal(t[:n], r) {
		for k := range n {
			a.F64[k][i] = t[k]
		}
		return 0
	}
	f := greedy(t[:n], r)
	for k := range n {
		a.F64[k][i] = t[k]
	}
	if r.Class != Finite || n == 1 {
		return f
	}
	if math.IsInf(t[0], 0) || t[0] == 0 {
		return f
	}
	for k := 0; k+1 < n; k++ {
		if t[k]+t[k+1] != t[k] {
			var buf [MaxValueWords]uint64
			if greedy(t[:n], a.expansionValue(i, buf[:]))&Overflow != 0 {
				f = Overflow
			}
			for k := range n {
				a.F64[k][i] = t[k]
			}
			break
		}
	}
	return f
}

// greedyNormal is greedy for an exactly known number of few words. It reports false if a term might
// not be a normal number, or if the terms are not the canonical expansion.
func greedyNormal(t []float64, r Real) bool {
	var room [12]uint64
	m := r.Mag
	for len(m) > 0 && m[len(m)-1] == 0 {
		m = m[:len(m)-1]
	}
	if len(m) > len(room) {
		return false
	}
	m = room[:copy(room[:], m)]
	neg := r.Neg
	for k := range t {
		for len(m) > 0 && m[len(m)-1] == 0 {
			m = m[:len(m)-1]
		}
		if len(m) == 0 { // the remaining terms are 0
			break
		}
		n := BitLen(m)
		cut := n - 53 // bits of the rest
		e := r.Exp + int64(cut)
		if e < -1000 || e > 900 {
			return false
		}
		top := WordAt(m, int64(n-64))
		q := top >> 11
		up := top>>10&1 != 0 && (q&1 != 0 || top<<54 != 0 || anyBelow(m, int64(n-64)))
		if cut <= 0 {
			m = nil
		} else {
			w := cut >> 6
			m = m[:w+1]
			mask := uint64(1)<<(cut&63) - 1
			m[w] &= mask
			if up {
				q++
				Negate(m)
				m[w] &= mask
			}
		}
		x := float64(math.Float64frombits(uint64(e+1023)<<52) * float64(q))
		if neg {
			x = -x
		}
		t[k] = x
		if k > 0 && t[k-1]+x != t[k-1] {
			return false
		}
		neg = neg != up
	}
	return true
}

func greedy(t []float64, r Real) Flags {
	clear(t)
	h, f := RoundFloat64(r)
	t[0] = h
	if r.Class != Finite || h == 0 || math.IsInf(h, 0) {
		return f
	}
	f = 0
	// Room for a sign and for the bits of h below the last bit of Mag, at most 53.
	var room [40]uint64
	mag := room[:]
	if n := len(r.Mag) + 3; n <= len(room) {
		mag = mag[:n]
	} else {
		mag = make([]uint64, n)
	}
	copy(mag, r.Mag)
	rest := Real{Class: Finite, Neg: r.Neg, Sticky: r.Sticky, Exp: r.Exp, Mag: mag}
	for k := 0; ; k++ {
		if !subtractTerm(&rest, t[k]) || k+1 == len(t) {
			return f
		}
		var fl Flags
		t[k+1], fl = RoundFloat64(rest)
		f |= fl
		if t[k+1] == 0 {
			t[k+1] = 0 // +0, never -0
			return f
		}
	}
}

// subtractTerm replaces r by r - h, where h is the binary64 nearest to r, and reports whether
// anything is left. Mag has room for a sign and for the carry of h.
func subtractTerm(r *Real, h float64) bool {
	m, e := Decompose(h)
	pos := e - r.Exp
	if pos < 0 { // the trailing zeros of h reach below the last bit of Mag
		m >>= uint(-pos)
		pos = 0
	}
	w, s := int(pos>>6), uint(pos&63)
	part := [2]uint64{m << s, m >> (64 - s)}
	if s == 0 {
		part[1] = 0
	}
	SubShifted(r.Mag[w:], part[:])
	if int64(r.Mag[len(r.Mag)-1]) < 0 {
		// -(v + s) with 0 < s < 1 is -v - s: in units, |v| - 1 and a new s.
		Negate(r.Mag)
		if r.Sticky {
			SubShifted(r.Mag, []uint64{1})
		}
		r.Neg = !r.Neg
	}
	return r.Sticky || !IsZero(r.Mag)
}

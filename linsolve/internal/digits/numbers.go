package digits

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
)

// Numbers are fixed-point numbers of D digits in lanes.
type Numbers struct {
	lanes.Lanes
	D int
}

// small reports whether all numbers lie between -1/2 and 1/2.
func (t Numbers) small(s []int64) bool {
	count, half := t.Count(), int64(1)<<(t.Bits()-1)
	ok := true
	for k, v := range s[:count] {
		top := s[count+k]
		ok = ok && (v == 0 && top < half || v == -1 && top >= half)
	}
	return ok
}

// carryLane is Carry for one lane.
func (t Numbers) carryLane(s []int64, lane int) {
	count, b := t.Count(), t.Bits()
	carry := int64(0)
	for c := t.D; c > 0; c-- {
		v := s[c*count+lane] + carry
		s[c*count+lane] = v & (1<<b - 1)
		carry = v >> b
	}
	s[lane] += carry
}

// float returns approximately the number in one lane of carried sums.
func (t Numbers) float(s []int64, lane int) float64 {
	count, b := t.Count(), t.Bits()
	mask := int64(1)<<b - 1
	neg := s[lane] < 0
	top := s[lane]
	if neg {
		top = -1 - top
	}
	z, unit, weight := float64(top), 1.0, 1/float64(int64(1)<<b)
	for c := 1; c <= t.D; c++ {
		v := s[c*count+lane]
		if neg {
			v = mask - v
		}
		unit *= weight
		z += float64(float64(v) * unit)
		if z > unit*0x1p60 {
			break
		}
	}
	if neg {
		return -z
	}
	return z
}

// integer returns B^D times the number in one lane of sums.
func (t Numbers) integer(s []int64, lane int) *big.Int {
	p, word := new(big.Int), new(big.Int)
	for c := range t.D + 1 {
		p.Lsh(p, uint(t.Bits())).Add(p, word.SetInt64(s[c*t.Count()+lane]))
	}
	return p
}

// shiftLanes stores x 2^e, which is less than 1 in magnitude, for carried sums x.
func (t Numbers) shiftLanes(z, x []int64, e int) {
	count, b := t.Count(), t.Bits()
	mask := int64(1)<<b - 1
	whole, some := e/b, uint(e%b)
	for k := range count { // the bits shifted out equal the sign
		z[k] = x[k] >> 63
	}
	for c := 1; c <= t.D; c++ {
		to := z[c*count:][:count]
		if c+whole > t.D {
			clear(to)
			continue
		}
		from := x[(c+whole)*count:][:count]
		if c+whole == t.D {
			for k, v := range from {
				to[k] = v << some & mask
			}
			continue
		}
		next := x[(c+whole+1)*count:][:count]
		for k, v := range from {
			to[k] = v<<some&mask | next[k]>>(uint(b)-some)
		}
	}
}

// Reciprocal stores 1/(2^(e+2) x), truncated, as a factor, for x = p B^-D > 0 and
// 1/4 ≤ 2^e x < 1/2. It returns e; not ok if x is 1/2 or more.
func (t Numbers) Reciprocal(to []uint64, p *big.Int) (e int, ok bool) {
	count, b, d := t.Count(), t.Bits(), t.D
	if e = b*d - 1 - p.BitLen(); e < 0 {
		return 0, false
	}
	// 1/(4 p 2^(e - b d)) in units of 2^(-b d)
	z := new(big.Int).Lsh(big.NewInt(1), uint(2*b*d-2-e))
	z.Quo(z, p)
	if z.BitLen() > b*d {
		z.Sub(z, big.NewInt(1))
	}
	sums, word := make([]int64, t.Size()), new(big.Int)
	for c := d; c > 0; c-- {
		sums[c*count] = int64(word.And(z, big.NewInt(1<<b-1)).Uint64())
		z.Rsh(z, uint(b))
	}
	t.Factor(to, 1, sums, 0)
	return e, true
}

// lengthOf returns how many significant bits below 1 lane 0 of carried sums has.
func (t Numbers) lengthOf(s []int64) int {
	count, b := t.Count(), t.Bits()
	for c := 1; c <= t.D; c++ {
		if v := uint64(s[c*count] ^ s[0]&(1<<b-1)); v != 0 {
			return b*(t.D-c) + bits.Len64(v)
		}
	}
	return 0
}

// below reports whether |s| ≤ 2^-e for all numbers of carried sums.
func (t Numbers) below(s []int64, e int) bool {
	count, b := t.Count(), t.Bits()
	for k, sign := range s[:count] {
		if sign != 0 && sign != -1 || e > b*t.D {
			return false
		}
		sign &= 1<<b - 1
		c := 1
		for ; c*b <= e; c++ {
			if s[c*count+k] != sign {
				return false
			}
		}
		if c <= t.D && (s[c*count+k]^sign)>>(c*b-e) != 0 {
			return false
		}
	}
	return true
}

// addNumber adds 2^e times an entry of a, truncated, to the digits of a lane; not ok if the number
// is 1 or more in magnitude.
func (t Numbers) addNumber(s []int64, lane int, a *num.Array, at int, e int64, buf *[num.MaxValueWords]uint64) (ok bool) {
	count, b := t.Count(), int64(t.Bits())
	var sig []uint64
	var neg bool
	switch a.Kind { // the number is sig 2^e
	case num.MP:
		cls, l := a.Cls[at], a.Limbs()
		if cls.Class() != num.Finite {
			return true
		}
		sig, neg = a.Sig[at*l:(at+1)*l], cls.Neg()
		e += int64(a.Exp[at]) - int64(64*l)
	default:
		x := a.Value(at, buf[:])
		if x.Class != num.Finite {
			return true
		}
		sig, neg = x.Mag, x.Neg
		e += x.Exp
	}
	// Digit c holds the bits from B^-(c+1) on.
	to := s[count+lane:]
	top := e + int64(num.BitLen(sig))
	if top > 0 {
		return false
	}
	mask := uint64(1)<<uint(b) - 1
	for c := max((-top)/b, 0); c < int64(t.D); c++ {
		low := -e - b*(c+1)
		if low <= -b {
			break
		}
		v := int64(num.WordAt(sig, low) & mask)
		if neg {
			v = -v
		}
		to[int(c)*count] += v
	}
	return true
}

package lanes

import "math"

// Lanes provides arithmetic on numbers in fixed point, several of them side by side, for
// eliminations and substitutions in many digits. With B = 2^Bits() and D digits:
//
//   - Sums hold Σ_c s_c B^-c, 0 ≤ c ≤ D, for each lane. s_c of lane l is at index c lanes + l.
//     Carry turns the integers s_c, c > 0, into digits 0 ≤ s_c < B; s_0 remains an integer.
//   - Vectors hold numbers -1 ≤ x < 1 in the form of a factor. As a factor, x < 0 is larger by one
//     unit B^-D.
//   - Factors hold the digits of one number 0 ≤ x < 1.
type Lanes struct {
	unit   *Unit
	digits int
}

// New returns lanes of digits digits, at least 2. It is not ok on machines that do not support
// lanes.
func New(digits int) (l Lanes, ok bool) {
	u := unitOf()
	return Lanes{u, digits}, u != nil && 2 <= digits && digits <= maxDigits
}

// Bits returns the number of bits of a digit, 0 on machines that do not support lanes.
func Bits() int {
	if u := unitOf(); u != nil {
		return u.Bits
	}
	return 0
}

// Count returns the number of lanes, 0 on machines that do not support lanes.
func Count() int {
	if u := unitOf(); u != nil {
		return u.Lanes
	}
	return 0
}

// Count returns the number of lanes.
func (l Lanes) Count() int { return l.unit.Lanes }

// Bits returns the number of bits of a digit.
func (l Lanes) Bits() int { return l.unit.Bits }

// Size returns the number of words of sums and of vectors.
func (l Lanes) Size() int { return l.unit.Lanes * (l.digits + 1) }

// Add adds n products of vectors a, aStep words apart, and factors x, xStep words apart, to sums
// that have been carried. Afterwards the sums are carried except for s_0. The error of each product
// is less than 3 D + 1 units B^-D, see Unit. With each, every lane has its own factor, and x are
// vectors without signs as Factor makes them with step Count().
func (l Lanes) Add(sums []int64, a []uint64, aStep int, x []uint64, xStep int, each bool, n int) {
	u, most, width := l.unit, 1000/l.digits, l.digits
	if each {
		width *= u.Lanes
	}
	for k := 0; k < n; k += most {
		some := min(most, n-k)
		last := k + some - 1
		av, xv := a[k*aStep:last*aStep+l.Size()], x[k*xStep:last*xStep+width]
		for end, tiles := l.digits, (l.digits+u.width-1)/u.width; tiles > 0; tiles-- {
			w := (end + tiles - 1) / tiles
			end -= w
			u.mul(!each, w, &sums[:l.Size()][0], &av[0], 8*aStep, &xv[0], 8*xStep, some, end, l.digits, fetch{})
		}
	}
}

// Carry propagates the carries of sums.
func (l Lanes) Carry(sums []int64) {
	lanes, b := l.unit.Lanes, l.unit.Bits
	mask := int64(1)<<b - 1
	if lanes == 8 { // much faster than the loop below
		to := (*[8]int64)(sums[l.digits*8:])
		for c := l.digits - 1; c >= 0; c-- {
			next := (*[8]int64)(sums[c*8:])
			for k, v := range to {
				next[k] += v >> (uint(b) & 63)
				to[k] = v & mask
			}
			to = next
		}
		return
	}
	to := sums[l.digits*lanes:][:lanes]
	for c := l.digits - 1; c >= 0; c-- {
		next := sums[c*lanes:][:lanes]
		for k, v := range to {
			next[k] += v >> b
			to[k] = v & mask
		}
		to = next
	}
}

// Vector stores sums that have been carried as a vector. It is not ok if a sum is not in [-1, 1).
func (l Lanes) Vector(to []uint64, sums []int64) (ok bool) {
	lanes := l.unit.Lanes
	mask := int64(1)<<l.unit.Bits - 1
	top, sums := sums[:lanes], sums[lanes:]
	signs := to[l.digits*lanes:][:lanes]
	ok = true
	for k, v := range top {
		ok = ok && (v == 0 || v == -1)
		signs[k] = uint64(v)
	}
	to = to[:l.digits*lanes]
	if !l.unit.Floats {
		for i, v := range sums[:len(to)] {
			to[i] = uint64(v)
		}
		return ok
	}
	for i, v := range sums[:len(to)] {
		neg := top[i%lanes] < 0
		if neg {
			v = mask - v
		}
		to[i] = floatDigit(uint64(v), neg)
	}
	clear(signs)
	return ok
}

// Sum adds the numbers of a vector to sums.
func (l Lanes) Sum(sums []int64, a []uint64) {
	lanes := l.unit.Lanes
	signs, a := a[l.digits*lanes:][:lanes], a[:l.digits*lanes]
	digits := sums[lanes:][:len(a)]
	if l.unit.Floats {
		for i, v := range a {
			digits[i] += int64(math.Float64frombits(v))
		}
		return
	}
	for i, v := range a {
		digits[i] += int64(v)
	}
	last := digits[len(a)-lanes:]
	for k, v := range signs {
		sums[k] += int64(v)
		last[k] -= int64(v)
	}
}

// Total stores the sum of the numbers of all lanes in digits, which are not carried yet. It carries
// sums first, because sums of some 2000 digits, a row of a matrix, may together exceed int64.
func (l Lanes) Total(digits, sums []int64) {
	l.Carry(sums)
	lanes := l.unit.Lanes
	for c := range digits[:l.digits+1] {
		all := int64(0)
		for _, v := range sums[c*lanes:][:lanes] {
			all += v
		}
		digits[c] = all
	}
}

// Factor stores the digits of one lane, 0 ≤ x < 1, of sums that have been carried, step words
// apart. step is 1 for a factor of all lanes, and Count() for a factor of one lane.
func (l Lanes) Factor(to []uint64, step int, sums []int64, lane int) {
	for c := range l.digits {
		v := uint64(sums[(c+1)*l.unit.Lanes+lane])
		if l.unit.Floats {
			v = floatDigit(v, false)
		}
		to[c*step] = v
	}
}

// FactorFloat returns approximately 4 (x - 1/2) for a factor x. The relative error is at most
// 2^-48, or the absolute error at most 2^-90.
func (l Lanes) FactorFloat(x []uint64) float64 {
	z, unit := -float64(uint64(1)<<(l.unit.Bits-1)), 1.0
	for _, v := range x[:min(l.digits, 3)] {
		z += float64(l.digit(v) * unit)
		unit *= l.weight()
	}
	return 4 * z * l.weight()
}

// VectorFloat returns an approximation of the number in one lane of a vector. Its relative error is
// at most 2^-48 for magnitudes of at least 2^-900.
func (l Lanes) VectorFloat(a []uint64, lane int) float64 {
	lanes := l.unit.Lanes
	neg := !l.unit.Floats && a[l.digits*lanes+lane] != 0
	mask := uint64(1)<<l.unit.Bits - 1
	z, unit := 0.0, l.weight()
	for c := range l.digits {
		v := a[c*lanes+lane]
		if neg {
			v = mask - v
		}
		z += float64(l.digit(v) * unit)
		if math.Abs(z) > unit*0x1p60 {
			break
		}
		unit *= l.weight()
	}
	if neg {
		return -z
	}
	return z
}

// FactorDigit returns digit c of a factor with step 1.
func (l Lanes) FactorDigit(x []uint64, c int) uint64 {
	if l.unit.Floats {
		return uint64(math.Float64frombits(x[c]))
	}
	return x[c]
}

// VectorDigit returns digit c of the magnitude of the number in one lane of a vector, and whether
// the number is negative. neg may be false if the digit is 0.
func (l Lanes) VectorDigit(a []uint64, c, lane int) (v uint64, neg bool) {
	lanes := l.unit.Lanes
	v = a[c*lanes+lane]
	if l.unit.Floats {
		x := math.Float64frombits(v)
		return uint64(math.Abs(x)), x < 0
	}
	if neg = a[l.digits*lanes+lane] != 0; neg {
		v = 1<<l.unit.Bits - 1 - v
	}
	return v, neg
}

// digit returns the value of a digit.
func (l Lanes) digit(v uint64) float64 {
	if l.unit.Floats {
		return math.Float64frombits(v)
	}
	return float64(v)
}

// weight returns 1/B.
func (l Lanes) weight() float64 { return 1 / float64(uint64(1)<<l.unit.Bits) }

package num

import "math/bits"

// Integers here are little-endian slices of 64-bit words.

// BitLen returns the number of bits of x without leading zeros.
func BitLen(x []uint64) int {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i] != 0 {
			return 64*i + bits.Len64(x[i])
		}
	}
	return 0
}

// TrailingZeros returns the number of low zero bits of x, 64 len(x) for zero.
func TrailingZeros(x []uint64) int {
	for i, w := range x {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return 64 * len(x)
}

// IsZero reports whether x = 0.
func IsZero(x []uint64) bool {
	for _, w := range x {
		if w != 0 {
			return false
		}
	}
	return true
}

// Negate replaces x by -x modulo 2^(64 len(x)).
func Negate(x []uint64) {
	c := uint64(1)
	for i, w := range x {
		x[i], c = bits.Add64(^w, 0, c)
	}
}

// AddShifted adds y to the low words of x, modulo 2^(64 len(x)).
func AddShifted(x, y []uint64) {
	var c uint64
	for i := range x {
		if i < len(y) {
			x[i], c = bits.Add64(x[i], y[i], c)
		} else if c == 0 {
			return
		} else {
			x[i], c = bits.Add64(x[i], 0, c)
		}
	}
}

// SubShifted subtracts y from the low words of x, modulo 2^(64 len(x)).
func SubShifted(x, y []uint64) {
	var c uint64
	for i := range x {
		if i < len(y) {
			x[i], c = bits.Sub64(x[i], y[i], c)
		} else if c == 0 {
			return
		} else {
			x[i], c = bits.Sub64(x[i], 0, c)
		}
	}
}

// WordAt returns the 64 bits of x from bit position pos on. Positions outside x hold zeros.
func WordAt(x []uint64, pos int64) uint64 {
	if pos <= -64 || pos >= int64(64*len(x)) || len(x) == 0 {
		return 0
	}
	if pos < 0 {
		return x[0] << uint(-pos)
	}
	i, s := int(pos>>6), uint(pos&63)
	w := x[i] >> s
	if s != 0 && i+1 < len(x) {
		w |= x[i+1] << (64 - s)
	}
	return w
}

// bit returns bit pos of x, and 0 for positions outside x.
func bit(x []uint64, pos int64) bool {
	return pos >= 0 && pos < int64(64*len(x)) && x[pos>>6]>>(uint(pos)&63)&1 != 0
}

// anyBelow reports whether x has a bit set below position pos.
func anyBelow(x []uint64, pos int64) bool {
	if pos <= 0 {
		return false
	}
	n := int(pos >> 6)
	if n >= len(x) {
		return !IsZero(x)
	}
	if !IsZero(x[:n]) {
		return true
	}
	return x[n]&(1<<(uint(pos)&63)-1) != 0
}

package superacc

import (
	"math"
	"math/bits"
)

// sumLimbs adds n numbers of limbs words each to two integers at acc, of pitch words each.
// Numbers of class and sign byte 2 (finite, positive) are added to the first, numbers of
// byte 3 (finite, negative) to the second; others are skipped. Number i is shifted left by
// exp_i - base >= 0. The integers must have room for the carries.
func sumLimbs(acc []uint64, pitch int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64) {
	for i, c := range cls {
		if c>>1 != 1 {
			continue
		}
		pos := int64(exp[i]) - base
		dst := acc[int(c&1)*pitch+int(pos>>6):]
		s := uint(pos & 63)
		var low, carry uint64
		k := 0
		for _, v := range sig[i*limbs : (i+1)*limbs] {
			dst[k], carry = bits.Add64(dst[k], v<<s|low, carry)
			low = v >> 1 >> (63 - s)
			k++
		}
		dst[k], carry = bits.Add64(dst[k], low, carry)
		for carry != 0 {
			k++
			dst[k], carry = bits.Add64(dst[k], 0, carry)
		}
	}
}

// sumRows adds n numbers of limbs words each to rows of words with delayed carries. Number i, with
// exp_i - base = 64 q + r and 0 <= r < 64, is added to the words from q on of row 2 r + (cls_i &
// signs), and used[row] is set. The low halves of its words are added to the first half words of
// the row, the high halves to the others. No word overflows for fewer than 2^32 numbers. Numbers
// that are not finite are skipped.
func sumRows(rows []uint64, used *[128]uint8, half int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	for i, c := range cls {
		if c>>1 != 1 {
			continue
		}
		pos := int64(exp[i]) - base
		r := 2*int(pos&63) + int(uint64(c)&signs)
		used[r] = 1
		dst := rows[2*half*r+int(pos>>6):]
		for k, v := range sig[i*limbs : (i+1)*limbs] {
			dst[k] += v & (1<<32 - 1)
			dst[k+half] += v >> 32
		}
	}
}

// span returns the least and the largest exponent, and whether all numbers are finite.
func span(exp []int32, cls []uint8) (low, high int32, finite bool) {
	low, high, finite = math.MaxInt32, math.MinInt32, true
	for i, c := range cls {
		finite = finite && c>>1 == 1
		low, high = min(low, exp[i]), max(high, exp[i])
	}
	return low, high, finite
}

// sumNear sets acc, limbs+2 words in two's complement, to the sum of n finite numbers in
// the layout of sumLimbs, 0 < exp_i - base < 64. signs is 1, or 0 to sum magnitudes.
func sumNear(acc []uint64, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	clear(acc)
	for i, c := range cls {
		s := uint(int64(exp[i]) - base)
		flip := -(uint64(c) & signs)
		var low uint64
		carry := flip & 1
		for k, v := range sig[i*limbs : (i+1)*limbs] {
			acc[k], carry = bits.Add64(acc[k], (v<<s|low)^flip, carry)
			low = v >> 1 >> (63 - s)
		}
		acc[limbs], carry = bits.Add64(acc[limbs], low^flip, carry)
		acc[limbs+1] += flip + carry
	}
}

// The layout of the words at out in sumDigits.
const (
	sumNegatives = 16              // the first of eight words before which is room for kernels
	sumColumns   = 24              // the first of sixteen for every vector of words
	sumVectors   = 4               // of numbers at most
	sumWords     = sumColumns + 64 // in all
)

// sumDigits adds n numbers of limbs words, times 2^s, 0 <= s = exp_i - low <= sumSpan, to columns
// of words in lanes. Numbers that are not finite are skipped. If limbs is 1, 2 or 4, word k of
// number i lies in lane l = i limbs + k modulo 8 of vector v = 0, else in lane l = k modulo 8 of
// vector v = k / 8. Let c be the word, or its complement if cls_i & signs is 1. The low 52 bits of
// c 2^s are added to word 16 v + l at out[sumColumns:], and the rest of c 2^s, in units of 2^52, to
// word 16 v + 8 + l. If cls_i & signs is 1, 2^s is added to word i modulo 8 at out[sumNegatives:].
func sumDigits(out *[sumWords]uint64, sig []uint64, exp []int32, cls []uint8, limbs int, low int64, signs uint64) {
	const mask = 1<<52 - 1
	for i, c := range cls {
		if c>>1 != 1 {
			continue
		}
		place := 0
		if limbs&(limbs-1) == 0 && limbs <= 4 {
			place = i * limbs % 8
		}
		shift := uint(int64(exp[i]) - low)
		flip := -(uint64(c) & signs)
		out[sumNegatives+i%8] += flip & 1 << shift
		for k, w := range sig[i*limbs : (i+1)*limbs] {
			w ^= flip
			at := out[sumColumns+(place+k)/8*16+(place+k)%8:]
			at[0] += w & mask << shift & mask
			at[8] += w & mask >> (52 - shift)
			at[8] += w >> 52 << shift
		}
	}
}

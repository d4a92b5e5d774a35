package modgemm

import (
	"math"
	"math/bits"
)

// The generic kernel is the definition of what every kernel computes. Its sums are
// int64, so it needs neither blocks between folds nor reciprocals.
const (
	genericMR = 6
	genericNR = 16
)

var generic = &Kernel{
	Name: "generic", MR: genericMR, NR: genericNR,
	MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
	kc: 252, mc: 40,
	modTiles:     modTilesGeneric,
	combineTiles: combineTilesGeneric,
	packPlanes:   packPlanesGeneric,
	digits:       digitsGeneric,
	floatScan:    floatScanGeneric,
	wordDigits:   wordDigitsGeneric,
	transpose:    transposeGeneric,
}

// modTilesGeneric computes tiles one below the other: for p < panels, i < MR,
// j < NR, and r = p MR + i,
//
//	c[r ldc + j] = ((accumulate ? c[r ldc + j] : 0) + Σ_h A_rh B_hj) mod mod[p modStep + i]
//
// with the representative in (-m/2, m/2], A the first kPairs pairs of the panels at
// a[p aStride], and B the first kPairs pairs of panel b. Other kernels fold after every
// block of pairs; bounds.go has the operands for which that is exact.
func modTilesGeneric(c []int16, ldc int, a []int16, aStride int, b []int16, panels, kPairs, _ int, mod []int32, _ []float32, _ []int32, modStep int, accumulate bool) {
	for p := range panels {
		for i := range genericMR {
			row := c[(p*genericMR+i)*ldc:][:genericNR]
			var sum [genericNR]int64
			rowSums(&sum, a[p*aStride:], b, i, kPairs)
			for j := range row {
				if accumulate {
					sum[j] += int64(row[j])
				}
				row[j] = int16(Balanced(sum[j], int64(mod[p*modStep+i])))
			}
		}
	}
}

// combineTilesGeneric computes, for g < panels MR/3, j < NR, and P = A B with A and B as
// in modTilesGeneric,
//
//	out[g ldo + j] = (accumulate ? out[g ldo + j] : 0) + P_3g,j + 2^13 P_3g+1,j + 2^26 P_3g+2,j
func combineTilesGeneric(out []int64, ldo int, a []int16, aStride int, b []int16, panels, kPairs int, accumulate bool) {
	for r := range panels * genericMR {
		row := out[r/3*ldo:][:genericNR]
		if !accumulate && r%3 == 0 {
			clear(row)
		}
		var sum [genericNR]int64
		rowSums(&sum, a[r/genericMR*aStride:], b, r%genericMR, kPairs)
		for j := range row {
			row[j] += sum[j] << (combineBits * (r % 3))
		}
	}
}

// rowSums adds row i of panel a times panel b to sum.
func rowSums(sum *[genericNR]int64, a, b []int16, i, kPairs int) {
	for q := range kPairs {
		x := a[2*(q*genericMR+i):][:2]
		y := b[2*q*genericNR:][:2*genericNR]
		x0, x1 := int32(x[0]), int32(x[1])
		for j := range sum {
			sum[j] += int64(x0*int32(y[2*j]) + x1*int32(y[2*j+1]))
		}
	}
}

// Balanced is the representative of x modulo m in (-m/2, m/2].
func Balanced(x, m int64) int64 {
	r := x % m
	switch {
	case 2*r > m:
		r -= m
	case 2*r <= -m:
		r += m
	}
	return r
}

// packPlanesGeneric writes one panel of a right operand whose index h is the plane:
// for h < planes, j < NR, dst[(h/2 NR + j) 2 + h%2] = src[h planeStride + j], and zeros
// for the plane that completes the last pair.
func packPlanesGeneric(dst, src []int16, planeStride, planes int) {
	for h := range planes + planes%2 {
		to := dst[h/2*2*genericNR:][:2*genericNR]
		for j := range genericNR {
			if h < planes {
				to[2*j+h%2] = src[h*planeStride+j]
			} else {
				to[2*j+h%2] = 0
			}
		}
	}
}

// digitsGeneric writes the digits of groups of four binary64 as columns of a right operand of
// panel columns: of x = src[g stride + i], g < groups, i < 4, the balanced digits -2^15 <= d < 2^15
// of
//
//	y = sign(x) floor(|x| 2^(1084 - b) + 1/2), b = base[4 g step + i],
//
// modulo 2^(32 pairs), pairs <= 4, for normal numbers with |x| 2^(1084 - b) below 2^62, or below
// 2^126 with three or four pairs. Other finite numbers must be so small that y = 0; then b must be
// at least 64.
//
// With |x| = m 2^(e-1075), 2^52 <= m < 2^53, u = floor(2 |x| 2^(1084 - b)) is m 2^10, whose leading
// bit is bit 62, shifted to the right by s = b - e, or to the left by -s: -64 <= s, and s >=
// 0 below 2^62. A shift by 64 or more leaves 0, as of a number with e = 0. |y| = floor((u + 1)/2),
// where u + 1 carries nothing into its upper word: u is even if s <= 0, and else below 2^63. A y
// with 2^15 added to each of its digits has plain digits, d + 2^15.
func digitsGeneric(dst []int16, pairs, panel int, src []float64, stride int, base []int64, step, groups int) {
	const bias = 0x8000_8000_8000_8000
	for n := range 4 * groups {
		b := math.Float64bits(src[n/4*stride+n%4])
		s := base[n/4*step*4+n%4] - int64(b>>52&0x7ff)
		m := b<<10&(1<<62-1) | 1<<62
		lo, hi := m>>uint64(s)|m<<uint64(-s), m>>uint64(64+s)
		lo, hi = (lo+1)>>1|hi<<63, hi>>1
		sign := uint64(int64(b) >> 63)
		lo, borrow := bits.Sub64(lo^sign, sign, 0)
		hi, _ = bits.Sub64(hi^sign, sign, borrow)
		lo, carry := bits.Add64(lo, bias, 0)
		y := [2]uint64{lo ^ bias, (hi + bias + carry) ^ bias}
		at := 2 * (n/panel*pairs*panel + n%panel)
		for p := range pairs {
			d := y[p/2] >> (32 * (p % 2))
			dst[at], dst[at+1] = int16(d), int16(d>>16)
			at += 2 * panel
		}
	}
}

// transposeGeneric computes dst[i dstStride + h] = src[h srcStride + i] for i < rows, h < columns,
// multiples of 4.
func transposeGeneric(dst []float64, dstStride int, src []float64, srcStride, rows, columns int) {
	for h := range columns {
		for i, x := range src[h*srcStride:][:rows] {
			dst[i*dstStride+h] = x
		}
	}
}

// wordDigitsGeneric writes the digits of groups of four numbers as columns of a right operand of
// panel columns: of the integers N = Σ_{i < limbs} src[At - First + i] 2^(64 i) the balanced digits
// -2^15 <= d < 2^15 of
//
//	y = (-1)^(Sign & 1) floor(N 2^-(64 (First + 1) + Shift) + 1/2)
//
// modulo 2^(32 pairs). Words beyond a number are zeros, and not read.
func wordDigitsGeneric(dst []int16, pairs, panel int, src []uint64, limbs int, numbers []WordGroup) {
	const bias = 0x8000_8000_8000_8000
	for n := range 4 * len(numbers) {
		g, i := &numbers[n/4], n%4
		word := func(w int64) uint64 {
			if w += g.First[i]; w < 0 || w >= int64(limbs) {
				return 0
			}
			return src[g.At[i]-g.First[i]+w]
		}
		shifted := func(w int64) uint64 { return word(w)>>uint64(g.Shift[i]) | word(w+1)<<uint64(64-g.Shift[i]) }
		// Rounding adds the top bit of the word below. -x is ^x + 1, of x + 1: ^x.
		carry := shifted(0)>>63 ^ g.Sign[i]&1
		at := 2 * (n/panel*pairs*panel + n%panel)
		var y uint64
		for p := range pairs {
			if p%2 == 0 {
				y, carry = bits.Add64(shifted(int64(p/2+1))^g.Sign[i], bias, carry)
				y ^= bias
			}
			dst[at], dst[at+1] = int16(y), int16(y>>16)
			at += 2 * panel
			y >>= 32
		}
	}
}

// floatScanGeneric scans the binary64 numbers x = src[h stride + i], h < columns, of vectors i <
// len(most). most[i] becomes the largest magnitude, sum[i] the sum of magnitudes, and low[i] the
// least 1023 + e for which a power of two, 2^(e-1075), divides x but half of it does not. For a
// subnormal number it becomes 0. NaN does not change most.
func floatScanGeneric(most, sum []float64, low []uint64, src []float64, stride, columns int) {
	for h := range columns {
		for i, x := range src[h*stride:][:len(most)] {
			x = math.Abs(x)
			if x > most[i] {
				most[i] = x
			}
			sum[i] += x
			switch b := math.Float64bits(x); {
			case b == 0:
			case b < 1<<52:
				low[i] = 0
			default:
				low[i] = min(low[i], 1023+b>>52+uint64(bits.TrailingZeros64(b|1<<52)))
			}
		}
	}
}

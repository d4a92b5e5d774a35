package modgemm

import "math"

// Mul computes C = A B mod m, with representatives in (-m/2, m/2]. C is an mPanels MR x
// nPanels NR matrix, row-major at c with leading dimension ldc. The left operand a and the
// right operand b have kPairs pairs, with elements within 4095. Only the pairs
// from <= p < to are read and multiplied. To compute a part of C, pass its panels of a and
// b, and c from its first element on.
func Mul(k *Kernel, c []int16, ldc int, a, b []int16, mPanels, nPanels, kPairs, from, to int, mod Modulus) {
	k.sweep(c, ldc, a, b, mPanels, nPanels, kPairs, from, to, k.ResiduePairs, mod, 0, false)
}

// MulAdd computes C = C + A B mod m like Mul, for a C of any int16.
func MulAdd(k *Kernel, c []int16, ldc int, a, b []int16, mPanels, nPanels, kPairs, from, to int, mod Modulus) {
	k.sweep(c, ldc, a, b, mPanels, nPanels, kPairs, from, to, k.ResiduePairs, mod, 0, true)
}

// Convert computes out[t planeStride + e] = Σ_s constants_ts digits_se mod m_t, with
// representatives in (-m_t/2, m_t/2], for all moduli t and entries e. constants is a left
// operand of nModuliPanels panels, within 4095, digits a right operand of nEntryPanels
// panels, any int16, and both have digitPairs pairs. moduli holds one modulus for each
// row of constants. If planeStride is a multiple of 2048, all planes contend for the
// same sets of the cache.
func Convert(k *Kernel, out []int16, planeStride int, constants, digits []int16, nModuliPanels, nEntryPanels, digitPairs int, moduli RowModuli) {
	if len(moduli.r.m) != nModuliPanels*k.MR {
		panic(badModuli)
	}
	k.sweep(out, planeStride, constants, digits, nModuliPanels, nEntryPanels, digitPairs, 0, digitPairs, k.DigitPairs, moduli.r, k.MR, false)
}

// sweep runs modTiles over all tiles and the pairs from <= p < to, blocked for the caches as in
// BLIS. A block of mc panels of A stays in the second level cache while the panels of B pass
// through the first, kc pairs at a time. Between such blocks of k the tiles of C are stored as
// residues; with accumulate the first block adds to C, too. Tiles in row panel i use the moduli
// from i modStep on.
func (k *Kernel) sweep(c []int16, ldc int, a, b []int16, mPanels, nPanels, kPairs, from, to, block int, mod Modulus, modStep int, accumulate bool) {
	checkSizes(mPanels, nPanels, kPairs)
	checkRange(from, to, kPairs)
	checkLen(len(a), 2*k.MR*mPanels*kPairs)
	checkLen(len(b), 2*k.NR*nPanels*kPairs)
	checkRows(len(c), mPanels*k.MR, nPanels*k.NR, ldc)
	for p := from; p == from || p < to; p += k.kc {
		kc := min(k.kc, to-p)
		for i0 := 0; i0 < mPanels; i0 += k.mc {
			i1 := min(i0+k.mc, mPanels)
			for j := range nPanels {
				k.modTiles(c[i0*k.MR*ldc+j*k.NR:], ldc, a[2*k.MR*(i0*kPairs+p):], 2*k.MR*kPairs, b[2*k.NR*(j*kPairs+p):],
					i1-i0, kc, block, mod.m[i0*modStep:], mod.inv[i0*modStep:], mod.step[i0*modStep:], modStep, accumulate || p > from)
			}
		}
	}
}

// Combine computes, with P = W Y exactly,
//
//	out[g outStride + e] = P_3g,e + 2^13 P_3g+1,e + 2^26 P_3g+2,e  modulo 2^64
//
// for every group g of three rows of the left operand weights (wPanels panels, within
// 4096: digits of radix 2^13 of the weights of the reconstruction, the lowest first) and
// every column e of the right operand y (nPanels panels, within 4095), both of kPairs
// pairs. The result is exact for kPairs <= 4032, since 64 pairs give less than 2^57 + 2^45.
func Combine(k *Kernel, out []int64, outStride int, weights, y []int16, wPanels, nPanels, kPairs int) {
	checkSizes(wPanels, nPanels, kPairs)
	checkLen(len(weights), 2*k.MR*wPanels*kPairs)
	checkLen(len(y), 2*k.NR*nPanels*kPairs)
	checkRows(len(out), wPanels*k.MR/3, nPanels*k.NR, outStride)
	for i0 := 0; i0 < wPanels; i0 += k.mc {
		i1 := min(i0+k.mc, wPanels)
		for j := range nPanels {
			for p := 0; p == 0 || p < kPairs; p += combinePairs {
				kc := min(combinePairs, kPairs-p)
				k.combineTiles(out[i0*k.MR/3*outStride+j*k.NR:], outStride, weights[2*k.MR*(i0*kPairs+p):], 2*k.MR*kPairs, y[2*k.NR*(j*kPairs+p):],
					i1-i0, kc, p > 0)
			}
		}
	}
}

// MaxDigitsPairs is the largest number of pairs of digits per number that Digits supports.
const MaxDigitsPairs = 4

// Digits writes the balanced 16-bit digits of 4 groups binary64 numbers, a multiple of NR, as a
// right operand of Convert of at most MaxDigitsPairs pairs; see digitsGeneric. Group g begins at
// src[g stride], and its number i is multiplied by 2^(1084 - base[4 g step + i]).
func Digits(k *Kernel, dst []int16, pairs int, src []float64, stride int, base []int64, step, groups int) {
	if groups <= 0 || 4*groups%k.NR != 0 || pairs < 1 || pairs > MaxDigitsPairs {
		panic(badSize)
	}
	checkLen(len(dst), 8*groups*pairs)
	checkLen(len(src), (groups-1)*stride+4)
	checkLen(len(base), 4*((groups-1)*step+1))
	k.digits(dst, pairs, k.NR, src, stride, base, step, groups)
}

// A WordGroup selects the bits of four numbers that become digits; see wordDigitsGeneric. The
// assembly depends on its layout.
type WordGroup struct {
	At    [4]int64  // where in the words number First of the number's words is, or would be
	First [4]int64  // index of the word before the digits' lowest bit; may lie outside the number
	Shift [4]int64  // 0 to 63, the lowest bit in its word
	Sign  [4]uint64 // all ones of negative numbers, else 0
}

// Set makes number i, 0 to 3, of the group (-1)^neg floor(N 2^-pos + 1/2), N being the
// integer of the limbs words from number at on.
func (g *WordGroup) Set(i uint, at, limbs int, pos int64, neg uint64) {
	i %= 4
	first := min(pos>>6-1, int64(limbs))
	g.At[i], g.First[i], g.Shift[i], g.Sign[i] = int64(at)+first, first, pos&63, -neg
}

// Clear makes number i, 0 to 3, of the group 0. limbs is the number of limbs of a number.
func (g *WordGroup) Clear(i uint, limbs int) {
	i %= 4
	g.At[i], g.First[i], g.Shift[i], g.Sign[i] = 0, int64(limbs), 0, 0
}

// WordDigits writes the balanced 16-bit digits of groups of four numbers of limbs words of src, a
// multiple of NR numbers, as a right operand of Convert of pairs pairs. The numbers must lie within
// src; the assembly does not check this.
func WordDigits(k *Kernel, dst []int16, pairs int, src []uint64, limbs int, numbers []WordGroup) {
	if len(numbers) == 0 || 4*len(numbers)%k.NR != 0 || pairs < 1 || limbs < 1 {
		panic(badSize)
	}
	checkLen(len(dst), 8*len(numbers)*pairs)
	checkLen(len(src), limbs)
	k.wordDigits(dst, pairs, k.NR, src, limbs, numbers)
}

// A FloatScan holds the results of a scan of binary64 vectors; see floatScanGeneric.
type FloatScan struct {
	Most, Sum []float64
	Low       []uint64
}

// NewFloatScan returns a scan of n empty vectors.
func NewFloatScan(n int) *FloatScan {
	s := &FloatScan{make([]float64, n), make([]float64, n), make([]uint64, n)}
	for i := range s.Low {
		s.Low[i] = math.MaxUint64
	}
	return s
}

// Add scans further numbers of the first vectors of the scan. Column h begins at src[h stride].
func (s *FloatScan) Add(k *Kernel, vectors int, src []float64, stride, columns int) {
	checkSizes(vectors, stride, columns)
	checkLen(len(s.Most), vectors)
	if vectors > 0 && columns > 0 {
		checkLen(len(src), (columns-1)*stride+vectors)
		k.floatScan(s.Most[:vectors], s.Sum[:vectors], s.Low[:vectors], src, stride, columns)
	}
}

// Transpose computes dst[i dstStride + h] = src[h srcStride + i] for i < rows, h < columns,
// positive multiples of 4.
func Transpose(k *Kernel, dst []float64, dstStride int, src []float64, srcStride, rows, columns int) {
	if rows <= 0 || columns <= 0 || rows%4 != 0 || columns%4 != 0 {
		panic(badSize)
	}
	checkRows(len(dst), rows, columns, dstStride)
	checkRows(len(src), columns, rows, srcStride)
	k.transpose(dst, dstStride, src, srcStride, rows, columns)
}

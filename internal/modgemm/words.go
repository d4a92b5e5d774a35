package modgemm

import (
	"math/bits"
	"unsafe"
)

// Words are numbers of limbs words each, as they are stored: number i is
//
//	(-1)^(Cls[i] & 1) Σ_{k < Limbs} Sig[i Limbs + k] 2^(64 k - 64 Limbs + Exp[i])
//
// where Cls[i] is 2 or 3. All others count as 0.
type Words[C ~uint8] struct {
	Sig   []uint64
	Limbs int
	Exp   []int32
	Cls   []C
}

// HasWordRows reports whether the kernel has WordRows and TransposeRows. Other kernels are faster
// with WordDigits.
func HasWordRows(k *Kernel) bool { return k.wordRows != nil }

// WordRows converts the numbers at + i stride, i < count, of a and writes them to rows n + i step
// of rows; each row has words words and holds the integer
//
//	y = (-1)^sign floor(N 2^(Exp - base[i baseStep]) + 1/2)
//
// modulo 2^(64 words), where N is the integer in the number's words. Each word of a row holds four
// balanced 16-bit digits, -2^15 <= d < 2^15: y = Σ_s d_s 2^(16 s). ahead is the distance, in
// numbers, at which later numbers are prefetched.
func WordRows[C ~uint8](k *Kernel, rows []uint64, n, step, words int, a *Words[C], at, stride, count int, base []int64, baseStep, ahead int) {
	if count <= 0 {
		return
	}
	first, last := at, at+(count-1)*stride+1
	if stride < 0 {
		first, last = last-1, first+1
	}
	if n < 0 || step < 0 || words < 1 || a.Limbs < 1 || first < 0 || baseStep < 0 {
		panic(badSize)
	}
	checkLen(len(rows), (n+(count-1)*step+1)*words)
	checkLen(len(a.Sig), last*a.Limbs)
	checkLen(len(a.Exp), last)
	checkLen(len(a.Cls), last)
	checkLen(len(base), (count-1)*baseStep+1)
	k.wordRows(&rows[n*words], step, words, &a.Sig[at*a.Limbs], a.Limbs, &a.Exp[at], (*uint8)(unsafe.Pointer(&a.Cls[at])), stride, &base[0], baseStep, count, ahead)
}

// TwoWordRows is like WordRows for count numbers of two words from at on, and rows of two words.
// Number i goes to row n + i/group jump + i%group step, where group is 1, 2, 4 or 8.
func TwoWordRows[C ~uint8](k *Kernel, rows []uint64, n, group, step, jump int, a *Words[C], at, count int, base []int64, baseStep, ahead int) {
	if count <= 0 {
		return
	}
	if n < 0 || group < 1 || 8%group != 0 || step < 0 || jump < 0 || a.Limbs != 2 || at < 0 || baseStep < 0 || baseStep > 1 {
		panic(badSize)
	}
	last, shift := count-1, bits.TrailingZeros(uint(group))
	checkLen(len(rows), 2*(n+last>>shift*jump+min(last, group-1)*step+1))
	checkLen(len(a.Sig), 2*(at+count))
	checkLen(len(a.Exp), at+count)
	checkLen(len(a.Cls), at+count)
	checkLen(len(base), last*baseStep+1)
	const rowBytes = 2 * 8
	var places [8]int64
	for i := range places {
		places[i] = int64(rowBytes * (i>>shift*jump + i&(group-1)*step))
	}
	k.twoWordRows(&rows[2*n], &places[0], rowBytes*8>>shift*jump, &a.Sig[2*at], &a.Exp[at], (*uint8)(unsafe.Pointer(&a.Cls[at])), &base[0], baseStep, count, ahead)
}

// RowsRoom returns the number of words that rows must have for TransposeRows, which reads beyond
// the last row.
func RowsRoom(words, n int) int { return words*n + 8 }

// TransposeRows writes the digits of n rows, a multiple of NR, as columns of a right operand of
// Convert of pairs pairs. Rows have words words, at least (pairs + 1) / 2.
func TransposeRows(k *Kernel, dst []int16, pairs int, rows []uint64, words, n int) {
	if n <= 0 || n%k.NR != 0 || pairs < 1 || 2*words < pairs {
		panic(badSize)
	}
	checkLen(len(dst), 2*pairs*n)
	checkLen(len(rows), RowsRoom(words, n))
	k.transposeRows(&dst[0], pairs, &rows[0], words, n/k.NR)
}

// HasWordScan reports whether the kernel has ScanWords.
func HasWordScan(k *Kernel) bool { return k.wordScan != nil }

// ScanWords adds numbers of a, cut off to binary64, to the first vectors of a scan, except for its
// Low. Column h begins at number at + h stride. low[i] becomes the least exponent of the lowest bit
// of a number of vector i, if that is less. ScanWords returns false if there are infinities, NaN,
// exponents beyond 900 in magnitude, or last words that are 0; the scan has no meaning then.
// Numbers are prefetched at a distance of ahead.
func ScanWords[C ~uint8](k *Kernel, s *FloatScan, low []int64, a *Words[C], at, stride, vectors, columns, ahead int) bool {
	checkSizes(vectors, stride, columns)
	if a.Limbs < 1 || at < 0 {
		panic(badSize)
	}
	if vectors == 0 || columns == 0 {
		return true
	}
	last := at + (columns-1)*stride + vectors
	checkLen(len(s.Most), vectors)
	checkLen(len(low), vectors)
	checkLen(len(a.Sig), last*a.Limbs)
	checkLen(len(a.Exp), last)
	checkLen(len(a.Cls), last)
	return k.wordScan(&s.Most[0], &s.Sum[0], &low[0], &a.Sig[at*a.Limbs], a.Limbs, &a.Exp[at], (*uint8)(unsafe.Pointer(&a.Cls[at])), stride, vectors, columns, ahead) == 0
}

//go:build amd64 && !purego

package modgemm

import "github.com/halfulp/halfulp/internal/isa"

// kernels lists all kernels of this build, best first.
var kernels = []*Kernel{
	{
		Name: "avx512vnni", MR: 12, NR: 32,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: isa.AVX512, needsVNNI: true,
		kc: 189, mc: 28,
		modTiles:      modTilesAVX512VNNI,
		combineTiles:  combineTilesAVX512VNNI,
		packPlanes:    packPlanesAVX512,
		digits:        digits8,
		floatScan:     floatScan8,
		wordDigits:    wordDigits4,
		transpose:     transpose4,
		wordRows:      wordRowsAVX512,
		twoWordRows:   twoWordRowsAVX512,
		transposeRows: transposeRowsAVX512,
		wordScan:      wordScanAVX512,
	},
	{
		Name: "avx512", MR: 12, NR: 32,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: isa.AVX512,
		kc:    189, mc: 28,
		modTiles:      modTilesAVX512,
		combineTiles:  combineTilesAVX512,
		packPlanes:    packPlanesAVX512,
		digits:        digits8,
		floatScan:     floatScan8,
		wordDigits:    wordDigits4,
		transpose:     transpose4,
		wordRows:      wordRowsAVX512,
		twoWordRows:   twoWordRowsAVX512,
		transposeRows: transposeRowsAVX512,
		wordScan:      wordScanAVX512,
	},
	{
		Name: "avx2", MR: 6, NR: 16,
		MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
		needs: isa.AVX2,
		kc:    252, mc: 40,
		modTiles:     modTilesAVX2,
		combineTiles: combineTilesAVX2,
		packPlanes:   packPlanesAVX2,
		digits:       digits4,
		floatScan:    floatScan4,
		wordDigits:   wordDigits4,
		transpose:    transpose4,
	},
	generic,
}

func digits4(dst []int16, pairs, panel int, src []float64, stride int, base []int64, step, groups int) {
	digitsAVX2(&dst[0], pairs, panel, &src[0], stride, &base[0], step, groups)
}

func digits8(dst []int16, pairs, panel int, src []float64, stride int, base []int64, step, groups int) {
	digitsAVX512(&dst[0], pairs, panel, &src[0], stride, &base[0], step, groups)
}

func transpose4(dst []float64, dstStride int, src []float64, srcStride, rows, columns int) {
	transposeAVX2(&dst[0], dstStride, &src[0], srcStride, rows, columns)
}

func wordDigits4(dst []int16, pairs, panel int, src []uint64, limbs int, numbers []WordGroup) {
	wordDigitsAVX2(&dst[0], pairs, panel, &src[0], limbs, &numbers[0].At[0], len(numbers))
}

func floatScan8(most, sum []float64, low []uint64, src []float64, stride, columns int) {
	n := len(most) &^ 7
	if n > 0 {
		floatScanAVX512(&most[0], &sum[0], &low[0], &src[0], stride, n, columns)
	}
	if n < len(most) {
		floatScan4(most[n:], sum[n:], low[n:], src[n:], stride, columns)
	}
}

func floatScan4(most, sum []float64, low []uint64, src []float64, stride, columns int) {
	n := len(most) &^ 3
	if n > 0 {
		floatScanAVX2(&most[0], &sum[0], &low[0], &src[0], stride, n, columns)
	}
	if n < len(most) {
		floatScanGeneric(most[n:], sum[n:], low[n:], src[n:], stride, columns)
	}
}

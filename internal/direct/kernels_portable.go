//go:build (!amd64 && !arm64) || purego

package direct

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

func assembly() bool { return false }

func sum2Fast(x []float64, out *[24]float64)    { sum2(x, out) }
func asum2Fast(x []float64, out *[24]float64)   { asum2(x, out) }
func dot2Fast(x, y []float64, out *[24]float64) { dot2(x, y, out) }

func axpy2Fast(a []float64, x float64, s, e, m []float64) { axpy2(a, x, s, e, m) }

func sumLimbsFast(acc []uint64, pitch int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64) {
	sumLimbs(acc, pitch, sig, exp, cls, limbs, base)
}

func rowSums() bool { return false } // the carries of sumLimbs cost less than rows without SIMD

func sumRowsFast(rows []uint64, used *[128]uint8, half int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumRows(rows, used, half, sig, exp, cls, limbs, base, signs)
}

func sumUnit() bool { return false }

func sumDigitsFast(out *[sumWords]uint64, sig []uint64, exp []int32, cls []uint8, limbs int, low int64, signs uint64) {
	sumDigits(out, sig, exp, cls, limbs, low, signs)
}

func spanFast(exp []int32, cls []uint8) (low, high int32, finite bool) { return span(exp, cls) }

func productSpanFast(scale []int64, xe, ye []int32, xc, yc []uint8) (high int64, finite bool) {
	return productSpan(scale, xe, ye, xc, yc)
}

func sumNearFast(acc []uint64, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumNear(acc, sig, exp, cls, limbs, base, signs)
}

func dotTopFast(words int, acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	dotTop(words, acc, ref, a, ae, ac, x, xe, xc)
}

func axpyTopFast(words int, acc []uint64, ref []int64, a []uint64, ae []int32, ac []uint8, x []uint64, scale int64, sign uint64) {
	axpyTop(words, acc, ref, a, ae, ac, x, scale, sign)
}

func wordKernel() bool { return false } // words are multiplied whole

func wordDotFast(w, parts []uint64, out *[6]uint64) { wordDot(w, parts, out) }

func splitDigitsFast(j *digitJob) { splitDigits(j) }

func convolveFast(rows, groups int, acc unsafe.Pointer, accPitch int, a unsafe.Pointer, aPitch int, x unsafe.Pointer, n int) {
	convolve(rows, groups, acc, accPitch, a, aPitch, x, n)
}

func machineUnit() *laneUnit { return nil }

func machineTiles() *tileUnit { return nil }

func referColumnFast([]int64, []int32, []num.Cls, int64) (int, bool) { return 0, false }

func referRowFast([]int32, []num.Cls, []int64) (int, int64, bool) { return 0, math.MinInt64, false }

func sumRowsNearFast(_, _ []uint64, _ *[128]uint8, _ int, _ []uint64, _ []int32, _ []uint8, _ int, _, _ int64, _ int, _ uint64) bool {
	return false
}

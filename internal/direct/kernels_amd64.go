//go:build amd64 && !purego

package direct

import (
	"slices"
	"unsafe"

	"github.com/halfulp/halfulp/internal/impl"
	"golang.org/x/sys/cpu"
)

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg direct
//go:generate go -C _asm run . -neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg direct

// assembly reports whether the kernels in assembly may run: AVX2, FMA, BMI2, ADX.
func assembly() bool { return cpu.X86.HasBMI2 && cpu.X86.HasADX && impl.Level() >= impl.AVX2 }

func sum2Fast(x []float64, out *[24]float64)  { sumAVX2(&x[0], len(x), out) }
func asum2Fast(x []float64, out *[24]float64) { asumAVX2(&x[0], len(x), out) }
func dot2Fast(x, y []float64, out *[24]float64) {
	dotAVX2(&x[0], &y[0], len(x), out)
}

func axpy2Fast(a []float64, x float64, s, e, m []float64) {
	n := len(a) &^ 7
	if n > 0 {
		axpyCompensatedAVX2(&a[0], x, n, &s[0], &e[0], &m[0])
	}
	axpy2(a[n:], x, s[n:], e[n:], m[n:])
}

func sumLimbsFast(acc []uint64, pitch int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64) {
	sumLimbsBMI2(&acc[0], 8*pitch, &sig[0], &exp[0], &cls[0], len(cls), limbs, base)
}

// rowSums reports whether sumRowsFast is the fastest way to sum long numbers.
func rowSums() bool { return assembly() }

func sumRowsFast(rows []uint64, used *[128]uint8, half int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumRowsAVX2(&rows[0], used, 8*half, &sig[0], &exp[0], &cls[0], len(cls), limbs, base, signs)
}

func spanFast(exp []int32, cls []uint8) (low, high int32, finite bool) {
	n := len(cls) &^ 7
	low, high, finite = span(exp[n:], cls[n:])
	if n > 0 {
		var lows, highs [8]int32
		finite = spanAVX2(&exp[0], &cls[0], n, &lows, &highs) == 0 && finite
		low, high = min(low, slices.Min(lows[:])), max(high, slices.Max(highs[:]))
	}
	return low, high, finite
}

func sumNearFast(acc []uint64, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumNears[limbs-1](&acc[0], &sig[0], &exp[0], &cls[0], len(cls), base, signs)
}

var sumNears = [maxNear]func(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64){
	sumNear1BMI2, sumNear2BMI2, sumNear3BMI2, sumNear4BMI2,
}

func dotTopFast(words int, acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	dotTops[words-2](&acc[0], ref, &a[0], &ae[0], &ac[0], &x[0], &xe[0], &xc[0], len(ac))
}

var dotTops = [...]func(acc *uint64, ref int64, a *uint64, ae *int32, ac *uint8, x *uint64, xe *int32, xc *uint8, n int){
	dotTop2BMI2, dotTop3ADX, dotTop4ADX, dotTop5ADX, dotTop6ADX, dotTop7ADX,
}

func axpyTopFast(words int, acc []uint64, ref []int64, a []uint64, ae []int32, ac []uint8, x []uint64, scale int64, sign uint64) {
	if words == 2 {
		axpyTop2BMI2(&acc[0], &ref[0], &a[0], &ae[0], &ac[0], len(ac), x[1], x[0], scale, sign)
		return
	}
	axpyTops[words-3](&acc[0], &ref[0], &a[0], &ae[0], &ac[0], len(ac), &x[0], 0, scale, sign)
}

var axpyTops = [...]func(acc *uint64, ref *int64, a *uint64, ae *int32, ac *uint8, n int, x *uint64, unused uint64, scale int64, sign uint64){
	axpyTop3ADX, axpyTop4ADX, axpyTop5ADX, axpyTop6ADX, axpyTop7ADX,
}

func splitDigitsFast(j *digitJob) { splitDigitsAVX2((*byte)(unsafe.Pointer(j))) }

var convolvers = [2][maxWidth]func(acc *int64, accPitch int, a *int64, aPitch int, x *int64, n int, first, groups int){
	{convolve1x1AVX2, convolve1x2AVX2, convolve1x3AVX2, convolve1x4AVX2, convolve1x5AVX2, convolve1x6AVX2},
	{convolve2x1AVX2, convolve2x2AVX2, convolve2x3AVX2, convolve2x4AVX2, convolve2x5AVX2, convolve2x6AVX2},
}

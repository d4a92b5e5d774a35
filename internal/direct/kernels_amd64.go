//go:build amd64 && !purego

package direct

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
)

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg direct
//go:generate go -C _asm run . -neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg direct

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

func productSpanFast(scale []int64, xe, ye []int32, xc, yc []uint8) (high int64, finite bool) {
	n := len(scale) &^ 7
	high, finite = productSpan(scale[n:], xe[n:], ye[n:], xc[n:], yc[n:])
	if n > 0 {
		var highs [4]int64
		finite = productSpanAVX2(&xe[0], &ye[0], &xc[0], &yc[0], n, &scale[0], &highs) == 0 && finite
		high = max(high, slices.Max(highs[:]))
	}
	return high, finite
}

// referColumnFast is referColumn for the first k numbers.
func referColumnFast(ref []int64, exp []int32, cls []num.Cls, f int64) (k int, special bool) {
	if k = len(ref) &^ 7; k == 0 || isa.Level() < isa.AVX512 {
		return 0, false
	}
	return k, referColumnAVX512(&ref[0], &exp[0], &classBytes(cls)[0], k, f) != 0
}

// referRowFast is referRow for the first k numbers.
func referRowFast(exp []int32, cls []num.Cls, scale []int64) (k int, top int64, special bool) {
	if k = len(exp) &^ 7; k == 0 || isa.Level() < isa.AVX512 {
		return 0, math.MinInt64, false
	}
	var tops [8]int64
	special = referRowAVX512(&exp[0], &classBytes(cls)[0], &scale[0], k, &tops) != 0
	return k, slices.Max(tops[:]), special
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

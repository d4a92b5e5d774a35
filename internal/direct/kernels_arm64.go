//go:build arm64 && !purego

package direct

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

func sum2Fast(x []float64, out *[24]float64)  { sumNEON(&x[0], len(x), out) }
func asum2Fast(x []float64, out *[24]float64) { asumNEON(&x[0], len(x), out) }
func dot2Fast(x, y []float64, out *[24]float64) {
	dotNEON(&x[0], &y[0], len(x), out)
}

func axpy2Fast(a []float64, x float64, s, e, m []float64) {
	n := len(a) &^ 3
	if n > 0 {
		axpyCompensatedNEON(&a[0], &x, n, &s[0], &e[0], &m[0])
	}
	axpy2(a[n:], x, s[n:], e[n:], m[n:])
}

func productSpanFast(scale []int64, xe, ye []int32, xc, yc []uint8) (high int64, finite bool) {
	return productSpan(scale, xe, ye, xc, yc)
}

func dotTopFast(words int, acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	dotTops[words-2](&acc[0], ref, &a[0], &ae[0], &ac[0], &x[0], &xe[0], &xc[0], len(ac))
}

var dotTops = [...]func(acc *uint64, ref int64, a *uint64, ae *int32, ac *uint8, x *uint64, xe *int32, xc *uint8, n int){
	dotTop2NEON, dotTop3NEON, dotTop4NEON, dotTop5NEON, dotTop6NEON, dotTop7NEON,
}

func axpyTopFast(words int, acc []uint64, ref []int64, a []uint64, ae []int32, ac []uint8, x []uint64, scale int64, sign uint64) {
	axpyTops[words-2](&acc[0], &ref[0], &a[0], &ae[0], &ac[0], &x[0], scale, sign, len(ac))
}

var axpyTops = [...]func(acc *uint64, ref *int64, a *uint64, ae *int32, ac *uint8, x *uint64, scale int64, sign uint64, n int){
	axpyTop2NEON, axpyTop3NEON, axpyTop4NEON, axpyTop5NEON, axpyTop6NEON, axpyTop7NEON,
}

// splitDigitsFast stages every significand between zeros. A digit is then a word at some byte,
// shifted by less than 8 and masked.
func splitDigitsFast(j *digitJob) {
	words := j.bytes / 8
	for k := range j.n {
		stage := unsafe.Slice((*uint64)(unsafe.Add(j.stage, k*j.stagePitch)), words)
		copy(stage, unsafe.Slice((*uint64)(unsafe.Add(j.sig, k*j.sigPitch)), words))
		dst := unsafe.Slice((*[4]int64)(unsafe.Add(j.dst, k*j.dstPitch)), j.groups)
		cls := *(*uint8)(unsafe.Add(j.cls, k*j.clsPitch))
		d := *(*int64)(unsafe.Add(j.ref, k*j.refPitch)) - int64(*(*int32)(unsafe.Add(j.exp, k*j.expPitch))) -
			*(*int64)(unsafe.Add(j.scale, k*j.scalePitch))
		if cls>>1 != 1 || uint64(d) >= uint64(j.limit) {
			clear(dst)
			continue
		}
		at := unsafe.Add(j.stageTop, k*j.stagePitch+int(d>>3))
		shift := uint64(d & 7)
		sign := -int64(cls & 1)
		digit := func(from int, shift uint64) int64 {
			v := int64(*(*uint64)(unsafe.Add(at, from)) >> (shift & 63) & digitMask)
			return (v ^ sign) - sign
		}
		for g := range dst {
			// A digit of 28 bits ends half a byte above the previous digit.
			dst[g] = [4]int64{digit(10, shift+4), digit(7, shift), digit(3, shift+4), digit(0, shift)}
			at = unsafe.Add(at, -digitBytes)
		}
	}
}

var convolvers = [2][maxWidth]func(acc *int64, accPitch int, a *int64, aPitch int, x *int64, n int, first, groups int){
	{convolve1x1NEON, convolve1x2NEON, convolve1x3NEON, convolve1x4NEON, convolve1x5NEON, convolve1x6NEON},
	{convolve2x1NEON, convolve2x2NEON, convolve2x3NEON, convolve2x4NEON, convolve2x5NEON, convolve2x6NEON},
}

func referColumnFast([]int64, []int32, []num.Cls, int64) (int, bool) { return 0, false }

func referRowFast([]int32, []num.Cls, []int64) (int, int64, bool) { return 0, math.MinInt64, false }

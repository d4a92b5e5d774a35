//go:build (!amd64 && !arm64) || purego

package direct

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

func sum2Fast(x []float64, out *[24]float64)    { sum2(x, out) }
func asum2Fast(x []float64, out *[24]float64)   { asum2(x, out) }
func dot2Fast(x, y []float64, out *[24]float64) { dot2(x, y, out) }

func axpy2Fast(a []float64, x float64, s, e, m []float64) { axpy2(a, x, s, e, m) }

func productSpanFast(scale []int64, xe, ye []int32, xc, yc []uint8) (high int64, finite bool) {
	return productSpan(scale, xe, ye, xc, yc)
}

func dotTopFast(words int, acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	dotTop(words, acc, ref, a, ae, ac, x, xe, xc)
}

func axpyTopFast(words int, acc []uint64, ref []int64, a []uint64, ae []int32, ac []uint8, x []uint64, scale int64, sign uint64) {
	axpyTop(words, acc, ref, a, ae, ac, x, scale, sign)
}

func splitDigitsFast(j *digitJob) { splitDigits(j) }

func convolveFast(rows, groups int, acc unsafe.Pointer, accPitch int, a unsafe.Pointer, aPitch int, x unsafe.Pointer, n int) {
	convolve(rows, groups, acc, accPitch, a, aPitch, x, n)
}

func referColumnFast([]int64, []int32, []num.Cls, int64) (int, bool) { return 0, false }

func referRowFast([]int32, []num.Cls, []int64) (int, int64, bool) { return 0, math.MinInt64, false }

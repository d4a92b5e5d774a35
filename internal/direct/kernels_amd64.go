//go:build amd64 && !purego

package direct

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"golang.org/x/sys/cpu"
)

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg direct
//go:generate go -C _asm run . -neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg direct

// assembly reports whether the kernels in assembly may run: AVX2, FMA, BMI2, ADX.
func assembly() bool { return cpu.X86.HasBMI2 && cpu.X86.HasADX && isa.Level() >= isa.AVX2 }

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

// sumRowsNearFast is sumRowsFast for finite numbers whose exponents lie from low on to low + span,
// with every other number in other rows. It reports false if it does not do that.
func sumRowsNearFast(rows, others []uint64, used *[128]uint8, half int, sig []uint64, exp []int32, cls []uint8, limbs int, base, low int64, span int, signs uint64) bool {
	k := limbs - nearWords
	n := len(cls) &^ 1
	if k < 0 || k >= len(sumRowsNears) || span >= rowTable || n == 0 {
		return false
	}
	var table [2 * rowTable]int32
	var met [2 * rowTable]uint8
	row := func(k int) int { return 2*int((low+int64(k/2)-base)&63) + k&1 }
	for k := range 2 * (span + 1) {
		table[k] = int32(8 * (2*half*row(k) + int((low+int64(k/2)-base)>>6)))
	}
	sumRowsNears[k](&rows[0], &others[0], &met[0], 8*half, &table[0], &sig[0], &exp[0], &cls[0], n, low, signs)
	for k, m := range met[:2*(span+1)] {
		used[row(k)] |= m
	}
	if n < len(cls) {
		sumRowsFast(rows, used, half, sig[n*limbs:], exp[n:], cls[n:], limbs, base, signs)
	}
	return true
}

const (
	nearWords = 4   // of the numbers of the first of sumRowsNears
	rowTable  = 512 // exponents for which a table has the place in the rows
)

var sumRowsNears = [...]func(rows, others *uint64, used *uint8, half int, table *int32, sig *uint64, exp *int32, cls *uint8, n int, low int64, signs uint64){
	sumRowsNear4AVX2, sumRowsNear5AVX2, sumRowsNear6AVX2, sumRowsNear7AVX2, sumRowsNear8AVX2,
}

// sumUnit reports whether there are kernels for sumDigits.
func sumUnit() bool { return isa.HasIFMA() }

func sumDigitsFast(out *[sumWords]uint64, sig []uint64, exp []int32, cls []uint8, limbs int, low int64, signs uint64) {
	n := len(cls) &^ 7
	if n > 0 {
		f := sumRowsIFMA[(limbs-1)/8]
		if limbs < len(sumsIFMA) && sumsIFMA[limbs] != nil {
			f = sumsIFMA[limbs]
		}
		f(&out[0], &sig[0], &exp[0], &cls[0], n, limbs, low, signs)
	}
	sumDigits(out, sig[n*limbs:], exp[n:], cls[n:], limbs, low, signs)
}

type sumKernel = func(out *uint64, sig *uint64, exp *int32, cls *uint8, n, limbs int, low int64, signs uint64)

var (
	sumsIFMA    = [...]sumKernel{1: sumDigits1IFMA, 2: sumDigits2IFMA, 4: sumDigits4IFMA}
	sumRowsIFMA = [sumVectors]sumKernel{sumDigitsRows1IFMA, sumDigitsRows2IFMA, sumDigitsRows3IFMA, sumDigitsRows4IFMA}
)

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

// referColumnFast does referColumn for the first k numbers.
func referColumnFast(ref []int64, exp []int32, cls []num.Cls, f int64) (k int, special bool) {
	if k = len(ref) &^ 7; k == 0 || isa.Level() < isa.AVX512 {
		return 0, false
	}
	return k, referColumnAVX512(&ref[0], &exp[0], &classBytes(cls)[0], k, f) != 0
}

// referRowFast does referRow for the first k numbers.
func referRowFast(exp []int32, cls []num.Cls, scale []int64) (k int, top int64, special bool) {
	if k = len(exp) &^ 7; k == 0 || isa.Level() < isa.AVX512 {
		return 0, math.MinInt64, false
	}
	var tops [8]int64
	special = referRowAVX512(&exp[0], &classBytes(cls)[0], &scale[0], k, &tops) != 0
	return k, slices.Max(tops[:]), special
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

// wordKernel reports whether wordDotFast is faster than products of whole words.
func wordKernel() bool { return assembly() }

func wordDotFast(w, parts []uint64, out *[6]uint64) { wordDotAVX2(&w[0], &parts[0], len(w)/4, out) }

func machineUnit() *laneUnit {
	switch {
	case isa.HasIFMA():
		return &unitIFMA
	case isa.Level() >= isa.AVX2:
		return &unitAVX2
	}
	return nil
}

func machineTiles() *tileUnit {
	if isa.Level() >= isa.AMX && isa.HasIFMA() && cpu.X86.HasAVX512VBMI {
		return &unitAMX
	}
	return nil
}

var unitAMX = tileUnit{
	rows: 64, few: 8000, samples: 8,
	run: func(j *tileJob) {
		f := tileRowsAMX[j.blocks]
		for {
			left := f((*byte)(unsafe.Pointer(j)))
			if left == 0 {
				return
			}
			j.skip(j.units - left)
			j.convert(false)
			j.ready = 1
		}
	},
	spread: func(dst []int8, pitch int, digits []byte, blocks int) {
		spreadDigitsAMX(&dst[0], pitch, &digits[0], blocks)
	},
	dot:         func(j *tileDotJob) { tileDotsAMX[j.blocks]((*byte)(unsafe.Pointer(j))) },
	fewProducts: leastTileDot,
}

var tileDotsAMX = [...]func(*byte){
	2: tileDot2AMX, 3: tileDot3AMX, 4: tileDot4AMX, 7: tileDot7AMX,
	10: tileDot10AMX, 12: tileDot12AMX, 14: tileDot14AMX, 16: tileDot16AMX,
}

var tileRowsAMX = [...]func(*byte) int{
	2: tileRows2AMX, 7: tileRows7AMX, 8: tileRows8AMX, 10: tileRows10AMX, 12: tileRows12AMX, 14: tileRows14AMX, 16: tileRows16AMX,
}

// The costs are those of matrix-vector products of 256 x 1000 numbers, on Sapphire Rapids or later
// and on Zen 3.
var unitIFMA = laneUnit{
	lanes: 8, bits: 52, width: 9, few: 1000, costs: [3]float64{2.2, 0.25, 0.034},
	cut: func(j *cutJob) {
		if j.digits < len(cutsIFMA) && cutsIFMA[j.digits] != nil && j.used >= (j.words-1)&^3 {
			left := cutsIFMA[j.digits]((*byte)(unsafe.Pointer(j)))
			if left == 0 {
				return
			}
			j.skip(j.n - left)
		}
		cutVerticalIFMA((*byte)(unsafe.Pointer(j)))
	},
	round: func(j *roundJob) { roundVerticalIFMA((*byte)(unsafe.Pointer(j))) },
	mul: func(broadcast bool, width int, acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon fetch) {
		if broadcast {
			axpysIFMA[width-1](acc, a, aPitch, x, xPitch, n, first, digits, soon.from, soon.pitch, soon.lines, 0)
			return
		}
		dotsIFMA[width-1](acc, a, aPitch, x, xPitch, n, first, digits, soon.from, soon.pitch, soon.lines)
	},
	scale: func(width int, acc *int64, a *uint64, pitch int, x *uint64, n, first, digits int) {
		axpysIFMA[width-1](acc, a, pitch, x, 0, n, first, digits, 0, 0, 0, pitch)
	},
}

var unitAVX2 = func() laneUnit {
	u := laneUnit{
		lanes: 4, bits: 51, width: 9, few: 1000, floats: true, costs: [3]float64{2.2, 0.35, 0.083},
		cut: func(j *cutJob) {
			f := cutVerticalAVX2
			if j.digits < len(cutsAVX2) && cutsAVX2[j.digits] != nil {
				f = cutsAVX2[j.digits]
			}
			f((*byte)(unsafe.Pointer(j)))
		},
		mul: func(broadcast bool, width int, acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon fetch) {
			f := &dotsAVX2
			if broadcast {
				f = &axpysAVX2
			}
			f[width-1](acc, a, aPitch, x, xPitch, n, first, digits, soon.from, soon.pitch, soon.lines)
		},
	}
	// Rounding is in Go: 60 ns of 100 for an update of 848 bits.
	u.round, u.scale = u.roundVertical, u.scaleVertical
	return u
}()

type verticalKernel = func(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon uintptr, soonPitch, soonLines int)

var (
	cutsIFMA = [...]func(*byte) int{
		nil, nil,
		cutVertical2IFMA, cutVertical3IFMA, cutVertical4IFMA, cutVertical5IFMA,
		cutVertical6IFMA, cutVertical7IFMA, cutVertical8IFMA, cutVertical9IFMA,
		cutVertical10IFMA, cutVertical11IFMA, cutVertical12IFMA, cutVertical13IFMA,
		cutVertical14IFMA, cutVertical15IFMA, cutVertical16IFMA, cutVertical17IFMA,
		cutVertical18IFMA,
	}
	cutsAVX2 = [...]func(*byte){
		nil, nil,
		cutVertical2AVX2, cutVertical3AVX2, cutVertical4AVX2, cutVertical5AVX2,
		cutVertical6AVX2, cutVertical7AVX2, cutVertical8AVX2, cutVertical9AVX2,
		cutVertical10AVX2, cutVertical11AVX2, cutVertical12AVX2, cutVertical13AVX2,
		cutVertical14AVX2, cutVertical15AVX2, cutVertical16AVX2, cutVertical17AVX2,
		cutVertical18AVX2,
	}
	axpysIFMA = [9]func(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon uintptr, soonPitch, soonLines, accPitch int){
		verticalAxpy1IFMA, verticalAxpy2IFMA, verticalAxpy3IFMA,
		verticalAxpy4IFMA, verticalAxpy5IFMA, verticalAxpy6IFMA,
		verticalAxpy7IFMA, verticalAxpy8IFMA, verticalAxpy9IFMA,
	}
	dotsIFMA = [9]verticalKernel{
		verticalDot1IFMA, verticalDot2IFMA, verticalDot3IFMA,
		verticalDot4IFMA, verticalDot5IFMA, verticalDot6IFMA,
		verticalDot7IFMA, verticalDot8IFMA, verticalDot9IFMA,
	}
	axpysAVX2 = [9]verticalKernel{
		verticalAxpy1AVX2, verticalAxpy2AVX2, verticalAxpy3AVX2,
		verticalAxpy4AVX2, verticalAxpy5AVX2, verticalAxpy6AVX2,
		verticalAxpy7AVX2, verticalAxpy8AVX2, verticalAxpy9AVX2,
	}
	dotsAVX2 = [9]verticalKernel{
		verticalDot1AVX2, verticalDot2AVX2, verticalDot3AVX2,
		verticalDot4AVX2, verticalDot5AVX2, verticalDot6AVX2,
		verticalDot7AVX2, verticalDot8AVX2, verticalDot9AVX2,
	}
)

func splitDigitsFast(j *digitJob) { splitDigitsAVX2((*byte)(unsafe.Pointer(j))) }

var convolvers = [2][maxWidth]func(acc *int64, accPitch int, a *int64, aPitch int, x *int64, n int, first, groups int){
	{convolve1x1AVX2, convolve1x2AVX2, convolve1x3AVX2, convolve1x4AVX2, convolve1x5AVX2, convolve1x6AVX2},
	{convolve2x1AVX2, convolve2x2AVX2, convolve2x3AVX2, convolve2x4AVX2, convolve2x5AVX2, convolve2x6AVX2},
}

//go:build amd64 && !purego

package superacc

import (
	"slices"

	"github.com/halfulp/halfulp/internal/isa"
	"golang.org/x/sys/cpu"
)

//go:generate go -C _asm run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg superacc
//go:generate go -C _asm run . -neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg superacc

// Assembly reports whether the kernels in assembly may run: AVX2, FMA, BMI2, ADX.
func Assembly() bool { return cpu.X86.HasBMI2 && cpu.X86.HasADX && isa.Level() >= isa.AVX2 }

func sumLimbsFast(acc []uint64, pitch int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64) {
	sumLimbsBMI2(&acc[0], 8*pitch, &sig[0], &exp[0], &cls[0], len(cls), limbs, base)
}

// rowSums reports whether sumRowsFast is the fastest way to sum long numbers.
func rowSums() bool { return Assembly() }

func sumRowsFast(rows []uint64, used *[128]uint8, half int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumRowsAVX2(&rows[0], used, 8*half, &sig[0], &exp[0], &cls[0], len(cls), limbs, base, signs)
}

// sumRowsNearFast is sumRowsFast for finite numbers whose exponents lie from low on to low + span,
// with every other number in other rows. It returns false if it does not support the operands.
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

// wordKernel reports whether wordDotFast is faster than products of whole words.
func wordKernel() bool { return Assembly() }

func wordDotFast(w, parts []uint64, out *[6]uint64) { wordDotAVX2(&w[0], &parts[0], len(w)/4, out) }

// offsetWordsOf returns the kernel for numbers of this many words and shifts from 1 to 63, or nil.
func offsetWordsOf(words int) offsetKernel {
	if !Assembly() {
		return nil
	}
	return offsets[words]
}

var offsets = [...]offsetKernel{
	2: offsetWords2BMI2, 3: offsetWords3BMI2, 4: offsetWords4BMI2, 7: offsetWords7BMI2, 8: offsetWords8BMI2,
}

func dotHighFast(words int, out, u, uc, v, vc []uint64) {
	if !Assembly() || words >= len(dotHighs) || dotHighs[words] == nil {
		dotHigh(words, out, u, uc, v, vc)
		return
	}
	dotHighs[words](&out[0], &u[0], &uc[0], &v[0], &vc[0], len(u)/words, len(v)/len(u))
}

var dotHighs = [...]func(out, u, uc, v, vc *uint64, k, columns int){
	2: dotHigh2ADX, 3: dotHigh3ADX, 4: dotHigh4ADX, 7: dotHigh7ADX,
}

// rowKernelOf returns the kernel for numbers of this many words, or nil.
func rowKernelOf(words int) rowKernel {
	if !Assembly() {
		return nil
	}
	return addRows[words]
}

var addRows = [...]rowKernel{
	2: addRow2ADX, 3: addRow3ADX, 4: addRow4ADX, 7: addRow7ADX, 8: addRow8ADX,
}

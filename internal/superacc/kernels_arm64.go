//go:build arm64 && !purego

package superacc

import (
	"slices"

	"github.com/halfulp/halfulp/internal/isa"
)

// Assembly reports whether the kernels in assembly may run.
func Assembly() bool { return isa.Level() >= isa.NEON }

func sumLimbsFast(acc []uint64, pitch int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64) {
	sumLimbsNEON(&acc[0], 8*pitch, &sig[0], &exp[0], &cls[0], len(cls), limbs, base)
}

func rowSums() bool { return false } // the carries of sumLimbs cost less than rows without SIMD

func sumRowsFast(rows []uint64, used *[128]uint8, half int, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumRows(rows, used, half, sig, exp, cls, limbs, base, signs)
}

func sumUnit() bool { return false }

func sumDigitsFast(out *[sumWords]uint64, sig []uint64, exp []int32, cls []uint8, limbs int, low int64, signs uint64) {
	sumDigits(out, sig, exp, cls, limbs, low, signs)
}

func spanFast(exp []int32, cls []uint8) (low, high int32, finite bool) {
	n := len(cls) &^ 7
	low, high, finite = span(exp[n:], cls[n:])
	if n > 0 {
		var lows, highs [8]int32
		finite = spanNEON(&exp[0], &cls[0], n, &lows, &highs) == 0 && finite
		low, high = min(low, slices.Min(lows[:])), max(high, slices.Max(highs[:]))
	}
	return low, high, finite
}

func sumNearFast(acc []uint64, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumNears[limbs-1](&acc[0], &sig[0], &exp[0], &cls[0], len(cls), base, signs)
}

var sumNears = [maxNear]func(acc *uint64, sig *uint64, exp *int32, cls *uint8, n int, base int64, signs uint64){
	sumNear1NEON, sumNear2NEON, sumNear3NEON, sumNear4NEON,
}

func wordKernel() bool { return false } // words are multiplied whole

func wordDotFast(w, parts []uint64, out *[6]uint64) { wordDot(w, parts, out) }

func sumRowsNearFast(_, _ []uint64, _ *[128]uint8, _ int, _ []uint64, _ []int32, _ []uint8, _ int, _, _ int64, _ int, _ uint64) bool {
	return false
}

func offsetWordsOf(int) offsetKernel { return nil }

// HasDotHigh reports whether there is assembly for DotHigh with numbers of this many words.
func HasDotHigh(int) bool { return false }

func dotHighFast(words int, out, u, uc, v, vc []uint64) { dotHigh(words, out, u, uc, v, vc) }

func rowKernelOf(int) rowKernel { return nil }

// HasLanes reports whether there are kernels for Lanes.
func HasLanes() bool { return false }

func laneSetOf(int) laneKernel { return nil }

func laneDotOf(int, bool) laneKernel { return nil }

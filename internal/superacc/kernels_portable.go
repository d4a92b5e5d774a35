//go:build (!amd64 && !arm64) || purego

package superacc

func Assembly() bool { return false }

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

func sumNearFast(acc []uint64, sig []uint64, exp []int32, cls []uint8, limbs int, base int64, signs uint64) {
	sumNear(acc, sig, exp, cls, limbs, base, signs)
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

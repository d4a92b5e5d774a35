//go:build amd64 && !purego

package superacc

import (
	"github.com/halfulp/halfulp/internal/isa"
)

// sumUnit reports whether this machine has kernels for sumDigits.
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

// HasLanes reports whether there are kernels for Lanes.
func HasLanes() bool { return isa.HasIFMA() }

// laneSetOf returns the kernel for numbers of this many words, or nil.
func laneSetOf(words int) laneKernel {
	if !HasLanes() {
		return nil
	}
	return laneSets[words]
}

// laneDotOf returns the kernel for numbers of this many words, or nil.
func laneDotOf(words int, four bool) laneKernel {
	if !HasLanes() {
		return nil
	}
	if four {
		return laneFours[words]
	}
	return laneDots[words]
}

var (
	laneSets  = [...]laneKernel{2: setLanes2IFMA, 7: setLanes7IFMA}
	laneDots  = [...]laneKernel{2: dotLanes2IFMA, 7: dotLanes7IFMA}
	laneFours = [...]laneKernel{2: dotFours2IFMA, 7: dotFours7IFMA}
)

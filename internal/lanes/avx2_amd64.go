//go:build amd64 && !purego

package lanes

import (
	"unsafe"
)

var unitAVX2 = func() Unit {
	u := Unit{
		Lanes: 4, Bits: 51, width: 9, Few: 1000, Floats: true, costs: [3]float64{2.2, 0.35, 0.083},
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

var cutsAVX2 = [...]func(*byte){
	nil, nil,
	cutVertical2AVX2, cutVertical3AVX2, cutVertical4AVX2, cutVertical5AVX2,
	cutVertical6AVX2, cutVertical7AVX2, cutVertical8AVX2, cutVertical9AVX2,
	cutVertical10AVX2, cutVertical11AVX2, cutVertical12AVX2, cutVertical13AVX2,
	cutVertical14AVX2, cutVertical15AVX2, cutVertical16AVX2, cutVertical17AVX2,
	cutVertical18AVX2,
}

var axpysAVX2 = [9]verticalKernel{
	verticalAxpy1AVX2, verticalAxpy2AVX2, verticalAxpy3AVX2,
	verticalAxpy4AVX2, verticalAxpy5AVX2, verticalAxpy6AVX2,
	verticalAxpy7AVX2, verticalAxpy8AVX2, verticalAxpy9AVX2,
}

var dotsAVX2 = [9]verticalKernel{
	verticalDot1AVX2, verticalDot2AVX2, verticalDot3AVX2,
	verticalDot4AVX2, verticalDot5AVX2, verticalDot6AVX2,
	verticalDot7AVX2, verticalDot8AVX2, verticalDot9AVX2,
}

//go:build amd64 && !purego

package lanes

import (
	"unsafe"
)

// The costs were measured on matrix-vector products of 256 x 1000 numbers, on Sapphire Rapids or
// later and on Zen 3.
var unitIFMA = Unit{
	Lanes: 8, Bits: 52, width: 9, Few: 1000, costs: [3]float64{2.2, 0.25, 0.034},
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

var cutsIFMA = [...]func(*byte) int{
	nil, nil,
	cutVertical2IFMA, cutVertical3IFMA, cutVertical4IFMA, cutVertical5IFMA,
	cutVertical6IFMA, cutVertical7IFMA, cutVertical8IFMA, cutVertical9IFMA,
	cutVertical10IFMA, cutVertical11IFMA, cutVertical12IFMA, cutVertical13IFMA,
	cutVertical14IFMA, cutVertical15IFMA, cutVertical16IFMA, cutVertical17IFMA,
	cutVertical18IFMA,
}

var axpysIFMA = [9]func(acc *int64, a *uint64, aPitch int, x *uint64, xPitch int, n, first, digits int, soon uintptr, soonPitch, soonLines, accPitch int){
	verticalAxpy1IFMA, verticalAxpy2IFMA, verticalAxpy3IFMA,
	verticalAxpy4IFMA, verticalAxpy5IFMA, verticalAxpy6IFMA,
	verticalAxpy7IFMA, verticalAxpy8IFMA, verticalAxpy9IFMA,
}

var dotsIFMA = [9]verticalKernel{
	verticalDot1IFMA, verticalDot2IFMA, verticalDot3IFMA,
	verticalDot4IFMA, verticalDot5IFMA, verticalDot6IFMA,
	verticalDot7IFMA, verticalDot8IFMA, verticalDot9IFMA,
}

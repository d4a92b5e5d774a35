//go:build amd64 && !purego

package rounding

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/isa"
)

func integersFast(mag, neg []uint64, stride int, words []int64, wordStride int, m *Modulus, n int) {
	switch level := isa.Level(); {
	case level >= isa.AVX512:
		integersAVX512(&mag[0], stride, &neg[0], &words[0], wordStride, unsafe.SliceData(m.m), len(m.m), m.low, m.high, n)
	case level >= isa.AVX2:
		integersAVX2(&mag[0], stride, &neg[0], &words[0], wordStride, unsafe.SliceData(m.m), len(m.m), m.low, m.high, n)
	default:
		integersGeneric(mag, neg, stride, words, wordStride, m, n)
	}
}

func roundFast(z []uint64, top []int64, ok, mag []uint64, stride, count int, f Format, errRow float64, errCol []float64, n int) {
	switch level := isa.Level(); {
	case level >= isa.AVX512:
		roundAVX512(&z[0], &top[0], &ok[0], &mag[Pad(f.Limbs)*stride], stride, count, f.Limbs, f.Spare, errRow, &errCol[0], n)
	case level >= isa.AVX2:
		roundAVX2(&z[0], &top[0], &ok[0], &mag[Pad(f.Limbs)*stride], stride, count, f.Limbs, f.Spare, errRow, &errCol[0], n)
	default:
		roundGeneric(z, top, ok, mag, stride, count, f, errRow, errCol, n)
	}
}

func remaindersFast(mag, neg []uint64, top []int64, stride, count, prec, n int) {
	if isa.Level() < isa.AVX2 {
		remaindersGeneric(mag, neg, top, stride, count, prec, n)
		return
	}
	remaindersAVX2(&mag[0], stride, &neg[0], &top[0], count, prec, n)
}

func floatsFast(z, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	all, whole := true, n&^3
	if whole > 0 && isa.Level() >= isa.AVX2 {
		all = floatsAVX2(&z[0], &ok[0], &top[0], &exps[0], unit, &neg[0], flip, whole) == 15
	} else {
		whole = 0
	}
	return floatsGeneric(z[whole:], ok[whole:], top[whole:], exps[whole:], unit, neg[whole:], flip, n-whole) && all
}

func exponentsFast(exp []int32, cls []uint8, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	if isa.Level() < isa.AVX512 {
		return exponentsGeneric(exp, cls, ok, top, exps, unit, neg, flip, n)
	}
	return exponentsAVX512(&exp[0], &cls[0], &ok[0], &top[0], &exps[0], unit, &neg[0], flip, n) == 0
}

func significandsFast(sig, z []uint64, stride, limbs, n int) {
	whole := n &^ 3
	if whole > 0 && limbs > 1 && isa.Level() >= isa.AVX2 {
		significandsAVX2(&sig[0], &z[0], stride, limbs, whole)
	} else {
		whole = 0
	}
	significandsGeneric(sig[whole*limbs:], z[whole:], stride, limbs, n-whole)
}

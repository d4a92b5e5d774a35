//go:build !amd64 || purego

package rounding

func integersFast(mag, neg []uint64, stride int, words []int64, wordStride int, m *Modulus, n int) {
	integersGeneric(mag, neg, stride, words, wordStride, m, n)
}

func roundFast(z []uint64, top []int64, ok, mag []uint64, stride, count int, f Format, errRow float64, errCol []float64, n int) {
	roundGeneric(z, top, ok, mag, stride, count, f, errRow, errCol, n)
}

func remaindersFast(mag, neg []uint64, top []int64, stride, count, prec, n int) {
	remaindersGeneric(mag, neg, top, stride, count, prec, n)
}

func floatsFast(z, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	return floatsGeneric(z, ok, top, exps, unit, neg, flip, n)
}

func significandsFast(sig, z []uint64, stride, limbs, n int) {
	significandsGeneric(sig, z, stride, limbs, n)
}

func exponentsFast(exp []int32, cls []uint8, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	return exponentsGeneric(exp, cls, ok, top, exps, unit, neg, flip, n)
}

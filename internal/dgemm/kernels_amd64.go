//go:build amd64 && !purego

package dgemm

import "github.com/halfulp/halfulp/internal/isa"

// best returns the fastest kernel of the level in force.
func best() *kernel {
	switch l := isa.Level(); {
	case l >= isa.AVX512:
		return avx512
	case l >= isa.AVX2:
		return avx2
	}
	return generic
}

var (
	avx512 = &kernel{"avx512", 16, 12, microAVX512, triangleAVX2, axpyAVX2, axpyAbsAVX2, combineAVX2, microSingleAVX512, combineSingleAVX2}
	avx2   = &kernel{"avx2", 8, 6, microAVX2, triangleAVX2, axpyAVX2, axpyAbsAVX2, combineAVX2, microSingleAVX2, combineSingleAVX2}
)

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
	narrow512 = &kernel{name: "narrow avx512", mr: 24, nr: 3, microSingle: microSingleNarrowAVX512}
	narrow2   = &kernel{name: "narrow avx2", mr: 12, nr: 3, microSingle: microSingleNarrowAVX2}

	avx512 = &kernel{"avx512", 16, 12, microAVX512, triangleAVX2, axpyAVX2, axpyAbsAVX2, eliminateAVX2, combineAVX2, microSingleAVX512, combineSingleAVX2, narrow512}
	avx2   = &kernel{"avx2", 8, 6, microAVX2, triangleAVX2, axpyAVX2, axpyAbsAVX2, eliminateAVX2, combineAVX2, microSingleAVX2, combineSingleAVX2, narrow2}
)

//go:build amd64 && !purego

package sgemm

import "github.com/halfulp/halfulp/internal/isa"

// Best returns the fastest kernel of the level in force.
func Best() *Kernel {
	switch l := isa.Level(); {
	case l >= isa.AVX512:
		return avx512
	case l >= isa.AVX2:
		return avx2
	}
	return generic
}

// BestPairs returns the fastest kernel of pairs of the level in force.
func BestPairs() *PairKernel {
	switch l := isa.Level(); {
	case l >= isa.AVX512:
		return avx512Pairs
	case l >= isa.AVX2:
		return avx2Pairs
	}
	return genericPairs
}

// The blocks of AVX2 were measured with BenchmarkMul on a Zen 3.
var (
	avx512 = &Kernel{Name: "avx512", MR: 32, NR: 12, micro: microAVX512, block: block{192, 256, 384}}
	avx2   = &Kernel{Name: "avx2", MR: 16, NR: 6, micro: microAVX2, block: block{192, 256, 192}}

	avx512Pairs = &PairKernel{MR: 16, NR: 8, micro: microPairsAVX512}
	avx2Pairs   = &PairKernel{MR: 8, NR: 4, micro: microPairsAVX2}
)

//go:build amd64 && !purego

package sgemm

import "github.com/halfulp/halfulp/internal/impl"

// Best returns the fastest kernel of the level in force.
func Best() *Kernel {
	switch l := impl.Level(); {
	case l >= impl.AVX512:
		return avx512
	case l >= impl.AVX2:
		return avx2
	}
	return generic
}

// The blocks of AVX2 were measured with BenchmarkMul on a Zen 3.
var (
	avx512 = &Kernel{Name: "avx512", MR: 32, NR: 12, micro: microAVX512, block: block{192, 256, 384}}
	avx2   = &Kernel{Name: "avx2", MR: 16, NR: 6, micro: microAVX2, block: block{192, 256, 192}}
)

//go:build arm64 && !purego

package sgemm

import "github.com/halfulp/halfulp/internal/isa"

// Best returns the fastest kernel of the level in force.
func Best() *Kernel {
	if isa.Level() >= isa.NEON {
		return neon
	}
	return generic
}

// BestPairs returns the fastest kernel of pairs of the level in force.
func BestPairs() *PairKernel {
	if isa.Level() >= isa.NEON {
		return neonPairs
	}
	return genericPairs
}

// The block sizes are copied from AVX2. No others have been measured.
var (
	neon      = &Kernel{Name: "neon", MR: 8, NR: 12, micro: microNEON, block: block{192, 256, 192}}
	neonPairs = &PairKernel{MR: 4, NR: 8, micro: microPairsNEON}
)

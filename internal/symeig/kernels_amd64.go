//go:build amd64 && !purego

package symeig

import "github.com/halfulp/halfulp/internal/isa"

// best returns the fastest kernel of the level in force.
func best() *kernel {
	if isa.Level() >= isa.AVX2 {
		return avx2
	}
	return generic
}

var avx2 = &kernel{bothAVX2, addAVX2, dotsAVX2, sumsAVX2, quotientsAVX2, scaleQuotientsAVX2}

//go:build arm64 && !purego

package dgemm

import "github.com/halfulp/halfulp/internal/isa"

// best returns the fastest kernel of the level in force.
func best() *kernel {
	if isa.Level() >= isa.NEON {
		return neon
	}
	return generic
}

var neon = &kernel{name: "neon", mr: 8, nr: 6, micro: microNEON, triangle: triangleGeneric}

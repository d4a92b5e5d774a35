//go:build arm64 && !purego

package dgemm

import "github.com/halfulp/halfulp/internal/impl"

// best returns the fastest kernel of the level in force.
func best() *kernel {
	if impl.Level() >= impl.NEON {
		return neon
	}
	return generic
}

var neon = &kernel{name: "neon", mr: 8, nr: 6, micro: microNEON, triangle: triangleGeneric}

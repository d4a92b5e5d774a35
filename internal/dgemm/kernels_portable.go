//go:build (!amd64 && !arm64) || purego

package dgemm

// best returns the fastest kernel.
func best() *kernel { return generic }

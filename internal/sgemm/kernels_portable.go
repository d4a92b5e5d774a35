//go:build (!amd64 && !arm64) || purego

package sgemm

// Best returns the fastest kernel.
func Best() *Kernel { return generic }

// BestPairs returns the fastest kernel of pairs.
func BestPairs() *PairKernel { return genericPairs }

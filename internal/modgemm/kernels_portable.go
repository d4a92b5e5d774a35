//go:build (!amd64 && !arm64) || purego

package modgemm

// kernels lists all kernels of this build, best first.
var kernels = []*Kernel{generic}

//go:build !amd64 || purego

package modgemm

// byteKernel is nil: only amd64 has tiles.
var byteKernel *ByteKernel

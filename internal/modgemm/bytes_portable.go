//go:build !amd64 || purego

package modgemm

// byteKernel is none: only amd64 has tiles.
var byteKernel *ByteKernel

//go:build amd64 && !purego

package modgemm

func measuredBytes() []*ByteKernel { return []*ByteKernel{byteKernel, byteKernelAhead} }

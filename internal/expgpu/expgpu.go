// Package expgpu runs the arithmetic of package expansion on NVIDIA GPUs, by the kernels of
// internal/kernels/expansion: what is done entry by entry, native products and sums of products,
// and Gauss-Jordan elimination. Operands are views of arrays in the formats DD, TD and QD, by block
// schemes Float64 too, all of one format and on the device of the stream.
package expgpu

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// formatNames end the names of kernels, by the words of a number.
var formatNames = [...]string{1: "Double", 2: "DD", 3: "TD", 4: "QD"}

// suffix is what the names of kernels for m's format end with.
func suffix(m mem.Matrix) string { return formatNames[m.Arr.Terms()] }

// entries is struct entries of kernels/expansion/expansion.cuh.
type entries struct {
	w      [4]cuda.Pointer
	rs, cs int64
}

func entriesOf(m mem.Matrix) entries {
	e := entries{rs: int64(m.RS), cs: int64(m.CS)}
	for t := range m.Arr.Terms() {
		e.w[t] = m.Arr.Plane(t) + cuda.Pointer(8*m.Off)
	}
	return e
}

// column is the entries of a vector as a matrix of one column.
func column(v mem.Vector) mem.Matrix { return v.Col() }

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

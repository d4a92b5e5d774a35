// Package expgpu runs the arithmetic of package expansion on NVIDIA GPUs, by the kernels of
// internal/kernels/expansion: entrywise operations, native products and sums of products, and
// Gauss-Jordan elimination. Operands are views of arrays on the device of the stream, all in one of
// the formats DD, TD and QD. The block schemes also support Float64.
package expgpu

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// formatNames are the suffixes of kernel names, indexed by the words of a number.
var formatNames = [...]string{1: "Double", 2: "DD", 3: "TD", 4: "QD"}

// suffix returns the suffix of the names of kernels for the format of m.
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

// column returns a vector as a matrix of one column.
func column(v mem.Vector) mem.Matrix { return v.Col() }

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

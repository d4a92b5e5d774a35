// Package expgpu runs the arithmetic of package expansion on NVIDIA GPUs, by the kernels expansion*.cu
// of internal/gpu/kernels: what is done entry by entry, native products and sums of products, and
// Gauss-Jordan elimination. Operands are views of arrays in the formats DD, TD and QD, all of one
// format and on the device of the stream.
package expgpu

import (
	"sync"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/gpu/kernels"
)

// loaded are the kernels in use, which stay: the driver takes tenths of a second to compile one.
var loaded struct {
	sync.Mutex
	of map[kernelKey]*cuda.Function
}

type kernelKey struct {
	dev  *cuda.Device
	name string
}

// kernel returns a kernel of kernels/file.cu.
func kernel(s *cuda.Stream, file, name string) (*cuda.Function, error) {
	loaded.Lock()
	defer loaded.Unlock()
	key := kernelKey{s.Device(), name}
	if f := loaded.of[key]; f != nil {
		return f, nil
	}
	m, err := s.Load(kernels.Entry(file, name))
	if err != nil {
		return nil, err
	}
	f, err := m.Function(name)
	if err != nil {
		return nil, err
	}
	if loaded.of == nil {
		loaded.of = map[kernelKey]*cuda.Function{}
	}
	loaded.of[key] = f
	return f, nil
}

// formatNames end the names of kernels, by the words of a number.
var formatNames = [...]string{2: "DD", 3: "TD", 4: "QD"}

// suffix is what the names of kernels for m's format end with.
func suffix(m gpu.Matrix) string { return formatNames[m.Arr.Terms()] }

// entries is struct entries of kernels/expansion.cuh.
type entries struct {
	w      [4]cuda.Pointer
	rs, cs int64
}

func entriesOf(m gpu.Matrix) entries {
	e := entries{rs: int64(m.RS), cs: int64(m.CS)}
	for t := range m.Arr.Terms() {
		e.w[t] = m.Arr.Plane(t) + cuda.Pointer(8*m.Off)
	}
	return e
}

// column is the entries of a vector as a matrix of one column.
func column(v gpu.Vector) gpu.Matrix { return v.Col() }

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

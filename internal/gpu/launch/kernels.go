// Package launch keeps the kernels that are loaded on NVIDIA GPUs, and other data that stays on a
// device between calls.
package launch

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/kernels"
)

// Kernels are the loaded kernels of a device; they stay loaded. They must be used on the device's
// thread only.
type Kernels struct {
	functions map[key]*cuda.Function
	blocks    map[occupancy]int
}

// A key names a kernel of a source.
type key struct{ file, kernel string }

// An occupancy is the shape of a launch for which the number of resident blocks is known.
type occupancy struct {
	f               *cuda.Function
	threads, shared int
}

var loaded PerDevice[Kernels]

// KernelsOf returns the kernels of the device of s.
func KernelsOf(s *cuda.Stream) *Kernels {
	return loaded.Of(s.Device(), func() *Kernels {
		return &Kernels{functions: map[key]*cuda.Function{}, blocks: map[occupancy]int{}}
	})
}

// Function returns a kernel of source file.cu, such as exact/scan. At its first use the kernel is
// compiled, alone, which takes the driver tenths of a second. The streams of a device share it.
// Function panics if there is no such kernel.
func (k *Kernels) Function(s *cuda.Stream, file, kernel string) (*cuda.Function, error) {
	of := key{file, kernel}
	if f := k.functions[of]; f != nil {
		return f, nil
	}
	m, err := s.Load(kernels.Entry(file, kernel))
	if err != nil {
		return nil, err
	}
	f, err := m.Function(kernel)
	if err != nil {
		_ = m.Unload()
		return nil, err
	}
	k.functions[of] = f
	return f, nil
}

// Blocks returns how many blocks of f, with the given threads and bytes of dynamic shared memory
// each, run on a multiprocessor at a time.
func (k *Kernels) Blocks(f *cuda.Function, threads, shared int) (int, error) {
	key := occupancy{f, threads, shared}
	if n, ok := k.blocks[key]; ok {
		return n, nil
	}
	res, err := f.Resources(threads, shared)
	if err != nil {
		return 0, err
	}
	k.blocks[key] = max(1, res.BlocksPerMultiprocessor)
	return k.blocks[key], nil
}

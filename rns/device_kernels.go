package rns

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// Kernel tells what a kernel takes on a GPU, as its driver compiled it for the base.
type Kernel struct {
	// Name is one of: sum (of threads, in Reduce3, GeNorm), dot (the same of products: Dot, Gemv,
	// Gemm, SpMV), tree (their sums), map (entry by entry), pairs (Reduce2 over all numbers), and
	// recursive or pairwise (Reduce1, Reduce2) by one thread or by a group.
	Name        string
	Threads     int     // of a block
	Registers   int     // a thread
	LocalBytes  int     // a thread: spilled registers and arrays
	SharedBytes int     // a block
	Occupancy   float64 // warps that run at a time, of those that a multiprocessor has room for
}

// Kernels returns what the kernels of DeviceReduce1, DeviceGemv and so on take on the GPU
// "cuda:N" for the base. Errors are those of Array.To.
func (b *Base) Kernels(device string) ([]Kernel, error) {
	a, err := b.NewArray(0).To(device)
	if err != nil {
		return nil, err
	}
	defer a.Free()
	var list []Kernel
	err = a.do(func(_ *cuda.Stream, c *rnsgpu.Base) error {
		found, err := c.Kernels()
		for _, k := range found {
			list = append(list, Kernel{k.Name, k.Threads, k.Registers, k.LocalBytes, k.SharedBytes, k.Occupancy})
		}
		return err
	})
	return list, err
}

package rns

import (
	"context"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Kernel describes the resources of a kernel on a GPU, as its driver compiled it for the base.
type Kernel struct {
	// Name is one of: sum (of threads, in Reduce3, GeNorm), dot (the same of products: Dot, Gemv,
	// Symv, Gemm, Syrk), tree (their sums), map (sums and products entry by entry), pairs
	// (Reduce2 over all numbers), recursive or pairwise (Reduce1, Reduce2) by one thread or by a
	// group; and for the variant Published: signs, exponents, evaluations; digits; rounding; row
	// sums, by DefaultBlockSize threads; basic.
	Name        string
	Threads     int     // of a block
	Registers   int     // a thread
	LocalBytes  int     // a thread: spilled registers and arrays
	SharedBytes int     // a block
	Occupancy   float64 // warps at a time, as a share of a multiprocessor's limit
}

// Kernels returns the resources of the kernels of Reduce1, Gemv and so on for the base, on the GPU
// "cuda:N". It returns the errors of [Base.NewArrayOn].
func (b *Base) Kernels(device halfulp.Device) ([]Kernel, error) {
	c, err := b.onDevice(context.Background(), device)
	if err != nil {
		return nil, err
	}
	found, err := c.Kernels(context.Background())
	var list []Kernel
	for _, k := range found {
		list = append(list, Kernel(k))
	}
	return list, err
}

// onDevice returns the base on a device other than the CPU.
func (b *Base) onDevice(ctx context.Context, d halfulp.Device) (place.RNSBase, error) {
	p, err := place.One(string(d))
	if err == nil && p == nil {
		err = fmt.Errorf("device %q: %w (want cuda:N)", d, halfulp.ErrDevice)
	}
	if err != nil {
		return nil, err
	}
	return b.on(ctx, p)
}

// Package sgemm multiplies float32 matrices on the CPU, in one fixed order of operations:
// an entry of the product is the chain
//
//	p = 0;  p = RN(a_ih b_hj + p)  for h = 0, 1, …, k-1,
//
// each step one fused multiply-add rounded to float32. Neither blocks, threads nor the
// instruction set change a bit of it.
package sgemm

import (
	"context"

	"github.com/halfulp/halfulp/internal/par"
)

// Panels are the vectors of one factor, the rows of the left or the columns of the right
// one, Width of them interleaved: entry h of vector v is
//
//	Data[(v/Width*Len + h)*Width + v%Width].
//
// Entries of the last panel beyond N are 0.
type Panels struct {
	Width  int // vectors a panel
	N, Len int // vectors, and entries of one
	Data   []float32
}

// NewPanels returns n zero vectors of the given length, width a panel. It takes memory from
// data if there is enough.
func NewPanels(width, n, length int, data []float32) *Panels {
	size := PanelsSize(width, n, length)
	if cap(data) < size {
		data = make([]float32, size)
	}
	p := &Panels{Width: width, N: n, Len: length, Data: data[:size]}
	if n%width != 0 {
		clear(p.Data[n/width*width*length:])
	}
	return p
}

// PanelsSize is the number of entries of such panels, padding included.
func PanelsSize(width, n, length int) int { return (n + width - 1) / width * width * length }

// At returns entry h of vector v.
func (p *Panels) At(v, h int) float32 { return p.Data[p.index(v, h)] }

func (p *Panels) index(v, h int) int { return (v/p.Width*p.Len+h)*p.Width + v%p.Width }

// Mul sets C = A B, entry (i, j) at c[i + j ldc], for the rows of a and columns of b. The
// panels have the widths of k.
func (k *Kernel) Mul(ctx context.Context, threads int, c []float32, ldc int, a, b *Panels) error {
	rows := (a.N + k.MR - 1) / k.MR
	cols := (b.N + k.NR - 1) / k.NR
	return par.For(ctx, threads, rows*cols, func(_, i int) {
		k.tile(c, ldc, a, b, i%rows, i/rows)
	})
}

// tile multiplies panel i of a by panel j of b.
func (k *Kernel) tile(c []float32, ldc int, a, b *Panels, i, j int) {
	t := make([]float32, k.MR*k.NR)
	k.micro(t, a.Data[i*a.Len*k.MR:], b.Data[j*b.Len*k.NR:], a.Len)
	for s := range min(k.NR, b.N-j*k.NR) {
		for r := range min(k.MR, a.N-i*k.MR) {
			c[i*k.MR+r+(j*k.NR+s)*ldc] = t[r+s*k.MR]
		}
	}
}

// Package sgemm multiplies float32 matrices on the CPU, in one fixed order of operations:
// an entry of the product is the chain
//
//	p = 0;  p = RN(a_ih b_hj + p)  for h = 0, 1, …, k-1,
//
// each step one fused multiply-add rounded to float32. The bits do not depend on blocks, threads
// or the instruction set, except for the sign of a zero from underflow: see [Kernel.MulBlock].
package sgemm

import (
	"context"

	"github.com/halfulp/halfulp/internal/par"
)

//go:generate go -C _asm run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg sgemm
//go:generate go -C _asm run . -isa avx512 -out ../avx512_amd64.s -stubs ../stubs_avx512_amd64.go -pkg sgemm
//go:generate go -C _asm run . -isa neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg sgemm

// A Kernel multiplies a panel by a panel on one kind of machine.
type Kernel struct {
	Name   string
	MR, NR int // widths of the panels of the left and the right factor
	// micro continues the chains of a tile over k entries of its panels, or begins them at 0
	// unless load is set. Entry (r, s) is c[r + s ldc].
	micro func(c []float32, ldc int, a, b []float32, k int, load bool)
	block
}

// block holds the block sizes of a product. A panel of the left factor, kc long, stays in the
// first-level cache, and a block of the right factor, kc x nc, in the second-level cache. nc is at
// most 64 panels.
type block struct{ mc, kc, nc int }

// maxTile is the largest tile of a kernel.
const maxTile = 32 * 12

// Mul sets C = A B, entry (i, j) at c[i + j ldc], for the rows of a and columns of b. The
// panels have the widths of k.
func (k *Kernel) Mul(ctx context.Context, threads int, c []float32, ldc int, a, b *Panels) error {
	threads, mc, nc := k.Blocks(threads, a.N, b.N, a.Len)
	rows := Parts(a.N, mc)
	return par.For(ctx, threads, rows*Parts(b.N, nc), func(_, i int) {
		i0, j0 := i%rows*mc, i/rows*nc
		k.MulBlock(c[i0+j0*ldc:], ldc, a, b, i0, min(i0+mc, a.N), j0, min(j0+nc, b.N))
	})
}

// Blocks returns the number of threads to use for an m x n product whose sums have the given
// length, and the size mc x nc of the blocks that they compute.
func (k *Kernel) Blocks(threads, m, n, length int) (use, mc, nc int) {
	const few = 1 << 20 // multiply-adds, not worth a goroutine
	if float64(m)*float64(n)*float64(length) < few {
		threads = 1
	}
	mc, nc = k.mc, k.nc
	for Parts(m, mc)*Parts(n, nc) < 2*threads && (mc >= 4*k.MR || nc >= 8*k.NR) {
		if mc >= nc && mc >= 4*k.MR || nc < 8*k.NR {
			mc = Parts(mc/2, k.MR) * k.MR
		} else {
			nc = Parts(nc/2, k.NR) * k.NR
		}
	}
	return threads, mc, nc
}

// Parts returns the number of parts of the given size into which n is cut.
func Parts(n, size int) int { return (n + size - 1) / size }

// MulBlock sets the block of C of rows i0 ≤ i < i1 and columns j0 ≤ j < j1, entry (i, j) at
// c[i - i0 + (j - j0) ldc]. i0 and j0 are multiples of the widths of panels, j1 - j0 is at most 64
// of them. Parts of panels that are zero are skipped, which can change only the sign of a
// zero from underflow.
func (k *Kernel) MulBlock(c []float32, ldc int, a, b *Panels, i0, i1, j0, j1 int) {
	for j := j0; j < j1 && a.Len == 0; j++ {
		clear(c[(j-j0)*ldc:][:i1-i0])
	}
	for h := 0; h < a.Len; h += k.kc {
		n := min(k.kc, a.Len-h)
		var zeroB uint64
		for p := 0; j0+p*k.NR < j1; p++ {
			if allZero(b.from(j0+p*k.NR, h)[:n*k.NR]) {
				zeroB |= 1 << p
			}
		}
		for i := i0; i < i1; i += k.MR {
			x := a.from(i, h)
			zeroA := allZero(x[:n*k.MR])
			for j := j0; j < j1; j += k.NR {
				rows, cols := min(k.MR, i1-i), min(k.NR, j1-j)
				switch tile := c[i-i0+(j-j0)*ldc:]; {
				case !zeroA && zeroB>>((j-j0)/k.NR)&1 == 0:
					k.tile(tile, ldc, x, b.from(j, h), n, h > 0, rows, cols)
				case h == 0:
					for s := range cols {
						clear(tile[s*ldc : s*ldc+rows])
					}
				}
			}
		}
	}
}

func allZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// tile continues the chains of a tile of which only rows x cols entries exist.
func (k *Kernel) tile(c []float32, ldc int, a, b []float32, n int, load bool, rows, cols int) {
	if rows == k.MR && cols == k.NR {
		k.micro(c, ldc, a, b, n, load)
		return
	}
	var t [maxTile]float32
	if load {
		for s := range cols {
			copy(t[s*k.MR:s*k.MR+rows], c[s*ldc:])
		}
	}
	k.micro(t[:], k.MR, a, b, n, load)
	for s := range cols {
		copy(c[s*ldc:s*ldc+rows], t[s*k.MR:])
	}
}

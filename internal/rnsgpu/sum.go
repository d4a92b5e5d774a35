package rnsgpu

import (
	"math/bits"

	"github.com/halfulp/halfulp/cuda"
)

// Reduce1 sets number 0 of z to the recursive sum of the entries (i, 0) of x, i < n, by one
// team (1S and 1P of 003).
func (b *Base) Reduce1(s *cuda.Stream, t Team, x View, n int, z *Array) error {
	return b.recursive[t].Launch(s, cuda.Dim{}, cuda.Dim{X: b.threads(t)}, 0, b.c, sums{
		x: x.T().native(), z: View{Array: z}.native(), n: int64(n), stride: 2, rows: 1, cols: 1, size: 1,
	})
}

// Reduce2 sets number 0 of z to the pairwise sum of the entries (i, 0) of x, i < n, n > 0,
// by one team with a stack (2S and 2P of 003).
func (b *Base) Reduce2(s *cuda.Stream, t Team, x View, n int, z *Array) error {
	return b.pair(s, b.pairwise[t], x, n, n, b.threads(t), 1, z)
}

// chunk is how many numbers a group of Reduce2Parallel sums, a power of two.
const chunk = 8

// Reduce2Parallel is Reduce2 by many groups: the sum of a chunk, as the stack makes it, is
// an entry of the next level. The last chunk may be short: what its stack holds is folded
// first in Reduce2 as well, so that the tree is the same.
func (b *Base) Reduce2Parallel(s *cuda.Stream, x View, n int, z *Array) error {
	for n > chunk {
		m := (n + chunk - 1) / chunk
		y, err := b.NewArray(s, m)
		if err != nil {
			return err
		}
		defer y.Free()
		if err := b.pair(s, b.pairs, x, n, chunk, b.lanes(), threads/b.lanes(), y); err != nil {
			return err
		}
		x, n = View{y, 0, 1, 0}, m
	}
	return b.pair(s, b.pairs, x, n, chunk, b.lanes(), threads/b.lanes(), z)
}

// pair launches a kernel whose groups, so many a block, sum chunks.
func (b *Base) pair(s *cuda.Stream, f *cuda.Function, x View, n, chunk, lanes, groups int, z *Array) error {
	blocks := ((n+chunk-1)/chunk + groups - 1) / groups
	return f.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: groups * lanes}, b.stack(groups, chunk), b.c, pairs{
		x: x.native(), z: View{z, 0, 1, 0}.native(), n: int64(n), chunk: int32(chunk), depth: int32(depth(chunk)),
	})
}

// depth is the depth of the stack that sums a chunk.
func depth(chunk int) int { return bits.Len(uint(chunk)) }

// stack is the shared memory of so many groups.
func (b *Base) stack(groups, chunk int) int {
	return groups * depth(chunk) * 4 * (b.padded + headWords)
}

// Reduce3 sets the numbers of z, one a block, to what the blocks of size threads of the
// hybrid summation of the entries (i, 0) of x, i < n, sum; of |x| for absolute, of x y
// if there is a y.
func (b *Base) Reduce3(s *cuda.Stream, x, y View, n, size int, absolute bool, z *Array) error {
	blocks := z.n
	t, err := b.NewArray(s, blocks*size)
	if err != nil {
		return err
	}
	defer t.Free()
	x.CS, x.RS = x.RS, 0
	y.CS, y.RS = y.RS, 0
	if err := b.partial(s, sums{
		x: x.native(), y: y.native(), z: View{t, 0, size, 1}.native(),
		n: int64(n), first: 2 * int64(size), stride: 2 * int64(size) * int64(blocks),
		rows: int32(blocks), cols: 1, size: int32(size), absolute: flag(absolute),
	}); err != nil {
		return err
	}
	return b.reduce(s, t, blocks, size, View{z, 0, 1, 0}, false)
}

// RowSums sets the entries (i, 0) of z, i < rows, to the sums of the entries (i, j) of x,
// j < n, by blocks of size threads; of |x| for absolute, of x_ij y_j if there is a y; with
// more they are added to z.
func (b *Base) RowSums(s *cuda.Stream, x, y View, rows, n, size int, absolute, more bool, z View) error {
	t, err := b.NewArray(s, rows*size)
	if err != nil {
		return err
	}
	defer t.Free()
	y.CS, y.RS = y.RS, 0
	if err := b.partial(s, sums{
		x: x.native(), y: y.native(), z: View{t, 0, size, 1}.native(), n: int64(n), stride: 2 * int64(size),
		rows: int32(rows), cols: 1, size: int32(size), absolute: flag(absolute),
		rowsFirst: flag(x.RS == 1),
	}); err != nil {
		return err
	}
	return b.reduce(s, t, rows, size, z, more)
}

// Products sets z_ij to the recursive sum of x_ik y_kj, k < n, or adds the products to it
// one after the other.
func (b *Base) Products(s *cuda.Stream, x, y View, rows, cols, n int, more bool, z View) error {
	// The kernel's rows are numbered column by column; z.CS is that of one row.
	return b.partial(s, sums{
		x: x.native(), y: y.T().native(), z: operand{z.Array.native(), int64(z.Off), int64(z.RS), 0},
		n: int64(n), stride: 2, rows: int32(rows), cols: int32(cols), size: 1, more: flag(more),
	})
}

// SparseProducts sets the entries (i, 0) of z, i < rows, to the recursive sums of the
// products of row i of a sparse matrix by compressed rows and x.
func (b *Base) SparseProducts(s *cuda.Stream, pointers, indices *cuda.Memory, values, x View, rows int, z View) error {
	return b.partial(s, sums{
		x: values.T().native(), y: x.T().native(), z: z.native(), pointers: pointers.Pointer(), indices: indices.Pointer(),
		stride: 2, rows: int32(rows), cols: 1, size: 1,
	})
}

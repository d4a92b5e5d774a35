package rnsgpu

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/place"
)

// Reduce1 implements place.RNSQueue (1S and 1P of 003).
func (q *Queue) Reduce1(t place.RNSTeam, x place.RNSView, n int, z place.RNSView) error {
	return q.recursive[t].Launch(q.s, cuda.Dim{}, cuda.Dim{X: q.threads(t)}, 0, q.c, sums{
		x: native(x.T()), z: native(z), n: int64(n), stride: 2, rows: 1, cols: 1, size: 1,
	})
}

// Reduce2 implements place.RNSQueue (2S and 2P of 003); n > 0.
func (q *Queue) Reduce2(t place.RNSTeam, x place.RNSView, n int, z place.RNSView) error {
	return q.pair(q.pairwise[t], x, n, n, q.threads(t), 1, z)
}

// chunk is how many numbers a group of Reduce2Parallel sums, a power of two.
const chunk = 8

// Reduce2Parallel computes the sum of Reduce2 by many groups. The sum of a chunk, computed with a
// stack, is an entry of the next level. The last chunk may be short. Reduce2 also adds the numbers
// on the stack of a short last chunk first, so both sum by the same tree.
func (q *Queue) Reduce2Parallel(x place.RNSView, n int, z place.RNSView) error {
	for n > chunk {
		m := (n + chunk - 1) / chunk
		y, err := q.newArray(m)
		if err != nil {
			return err
		}
		defer q.free(y)
		to := place.RNSView{Array: y, RS: 1}
		if err := q.pair(q.pairs, x, n, chunk, q.lanes(), threads/q.lanes(), to); err != nil {
			return err
		}
		x, n = to, m
	}
	return q.pair(q.pairs, x, n, chunk, q.lanes(), threads/q.lanes(), z)
}

// pair launches f, whose blocks of groups groups sum a chunk with each group.
func (q *Queue) pair(f *cuda.Function, x place.RNSView, n, chunk, lanes, groups int, z place.RNSView) error {
	blocks := ((n+chunk-1)/chunk + groups - 1) / groups
	return f.Launch(q.s, cuda.Dim{X: blocks}, cuda.Dim{X: groups * lanes}, q.stack(groups, chunk), q.c, pairs{
		x: native(x), z: native(z), n: int64(n), chunk: int32(chunk), depth: int32(depth(chunk)),
	})
}

// depth returns the depth of the stack that sums a chunk.
func depth(chunk int) int { return bits.Len(uint(chunk)) }

// stack returns the bytes of shared memory for the stacks of groups groups.
func (b *Base) stack(groups, chunk int) int {
	return groups * depth(chunk) * 4 * (b.padded + headWords)
}

// Reduce3 implements place.RNSQueue.
func (q *Queue) Reduce3(x, y place.RNSView, n, blocks, size int, absolute bool, z place.RNSView) error {
	t, err := q.newArray(blocks * size)
	if err != nil {
		return err
	}
	defer q.free(t)
	x.CS, x.RS = x.RS, 0
	y.CS, y.RS = y.RS, 0
	if err := q.partial(sums{
		x: native(x), y: native(y), z: native(place.RNSView{Array: t, RS: size, CS: 1}),
		n: int64(n), first: 2 * int64(size), stride: 2 * int64(size) * int64(blocks),
		rows: int32(blocks), cols: 1, size: int32(size), absolute: flag(absolute),
	}); err != nil {
		return err
	}
	return q.reduce(t, blocks, size, z, false)
}

// RowSums implements place.RNSQueue.
func (q *Queue) RowSums(x, y place.RNSView, rows, n, size int, absolute, more bool, z place.RNSView) error {
	s := sums{x: native(x), n: int64(n), rows: int32(rows), size: int32(size), absolute: flag(absolute), rowsFirst: flag(x.RS == 1)}
	return q.rowSums(s, y, z, more)
}

// rowSums sums the rows of s, or their products with y if there is a y. Each row has size partial
// sums.
func (q *Queue) rowSums(s sums, y, z place.RNSView, more bool) error {
	rows, size := int(s.rows), int(s.size)
	t, err := q.newArray(rows * size)
	if err != nil {
		return err
	}
	defer q.free(t)
	y.CS, y.RS = y.RS, 0
	s.y, s.z = native(y), native(place.RNSView{Array: t, RS: size, CS: 1})
	s.stride, s.cols = 2*int64(size), 1
	if err := q.partial(s); err != nil {
		return err
	}
	return q.reduce(t, rows, size, z, more)
}

// Products implements place.RNSQueue.
func (q *Queue) Products(x, y place.RNSView, rows, cols, n int, more bool, z place.RNSView) error {
	// The kernel numbers the entries of z column by column, as rows with one sum each; z.CS would
	// be the distance between the sums of one row.
	z.CS = 0
	return q.partial(sums{
		x: native(x), y: native(y.T()), z: native(z),
		n: int64(n), stride: 2, rows: int32(rows), cols: int32(cols), size: 1, more: flag(more),
	})
}

// SymmetricRowSums implements place.RNSQueue.
func (q *Queue) SymmetricRowSums(t place.RNSTriangle, x, y place.RNSView, n, size int, z place.RNSView) error {
	s := sums{x: native(x), n: int64(n), rows: int32(n), size: int32(size), stored: t, rowsFirst: 1}
	return q.rowSums(s, y, z, true)
}

// SymmetricProducts implements place.RNSQueue.
func (q *Queue) SymmetricProducts(t place.RNSTriangle, x place.RNSView, n, k int, z place.RNSView) error {
	z.CS = 0
	return q.partial(sums{
		x: native(x), y: native(x), z: native(z),
		n: int64(k), stride: 2, rows: int32(n), cols: int32(n), size: 1, triangle: t,
	})
}

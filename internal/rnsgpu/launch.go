package rnsgpu

import (
	"math/bits"

	"github.com/halfulp/halfulp/cuda"
)

// threads is the number of threads of a block of the kernels for many groups.
const threads = 128

// The structures of kernels/rnskernels.cuh.
type (
	sums struct {
		x, y, z           operand
		pointers, indices cuda.Pointer
		n, first, stride  int64
		rows, cols, size  int32
		absolute          int32
		more              int32
		rowsFirst         int32
	}
	trees struct {
		sums                         array
		z                            operand
		rows, size, half, more, tile int32
		_                            int32
	}
	maps struct {
		p, q, r, s, z operand
		rows, cols    int64
		minus         int32
		_             int32
	}
	pairs struct {
		x, z         operand
		n            int64
		chunk, depth int32
	}
)

// blocks returns the blocks that give items a group each.
func (b *Base) blocks(items int) cuda.Dim {
	groups := threads / b.lanes()
	return cuda.Dim{X: (items + groups - 1) / groups}
}

// partial launches rnsSum, or rnsDot if there is a y.
func (b *Base) partial(s *cuda.Stream, a sums) error {
	items := int(a.rows) * int(a.cols) * int(a.size)
	if items == 0 {
		return nil
	}
	f := b.sum
	if a.y.a.digits != 0 {
		f = b.dot
	}
	return f.Launch(s, b.blocks(items), cuda.Dim{X: threads}, 0, b.c, a)
}

// reduce sums rows of size sums each into the entries of z, or adds them to those.
func (b *Base) reduce(s *cuda.Stream, from *Array, rows, size int, z View, more bool) error {
	if rows == 0 {
		return nil
	}
	half := 1 << bits.Len(uint(size-1)) / 2
	tile := max(1, threads/b.lanes()/max(half, 1))
	return b.tree.Launch(s, cuda.Dim{X: (rows + tile - 1) / tile}, cuda.Dim{X: threads}, 0, b.c, trees{
		sums: from.native(), z: z.native(), rows: int32(rows), size: int32(size), half: int32(half), more: flag(more), tile: int32(tile),
	})
}

// Map sets z_ij = fl(p_ij q_ij) + fl(r_ij s_ij), rounded, or the difference; operands
// may be the zero View, and are left out.
func (b *Base) Map(s *cuda.Stream, rows, cols int, p, q, r, t, z View, minus bool) error {
	if rows*cols == 0 {
		return nil
	}
	return b.mapping.Launch(s, b.blocks(rows*cols), cuda.Dim{X: threads}, 0, b.c, maps{
		p: p.native(), q: q.native(), r: r.native(), s: t.native(), z: z.native(),
		rows: int64(rows), cols: int64(cols), minus: flag(minus),
	})
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// Kernel tells what a kernel takes, dynamic shared memory included.
type Kernel struct {
	Name    string
	Threads int // a block, as the kernel is launched
	cuda.Resources
}

// Kernels tells what each kernel takes.
func (b *Base) Kernels() ([]Kernel, error) {
	var list []Kernel
	for _, k := range []struct {
		name            string
		f               *cuda.Function
		threads, shared int
	}{
		{"sum", b.sum, threads, 0},
		{"dot", b.dot, threads, 0},
		{"tree", b.tree, threads, 0},
		{"map", b.mapping, threads, 0},
		{"pairs", b.pairs, threads, b.stack(threads/b.lanes(), chunk)},
		{"recursive, one thread", b.recursive[One], b.threads(One), 0},
		{"recursive, a group", b.recursive[Group], b.threads(Group), 0},
		{"pairwise, one thread", b.pairwise[One], b.threads(One), b.stack(1, manyNumbers)},
		{"pairwise, a group", b.pairwise[Group], b.threads(Group), b.stack(1, manyNumbers)},
	} {
		r, err := k.f.Resources(k.threads, k.shared)
		if err != nil {
			return nil, err
		}
		r.SharedBytes += k.shared
		list = append(list, Kernel{k.name, k.threads, r})
	}
	return list, nil
}

// manyNumbers is how many a sum has for which Kernels counts the stack.
const manyNumbers = 1000000

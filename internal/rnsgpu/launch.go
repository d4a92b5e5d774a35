package rnsgpu

import (
	"context"
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/place"
)

// threads is the number of threads of a block in kernels that run many groups.
const threads = 128

// The structures of kernels/rns/rnskernels.cuh.
type (
	sums struct {
		x, y, z          operand
		n, first, stride int64
		rows, cols, size int32
		absolute         int32
		more             int32
		rowsFirst        int32
		stored, triangle place.RNSTriangle
	}
	trees struct {
		sums                         array
		z                            operand
		rows, size, half, more, tile int32
		_                            int32
	}
	maps struct {
		f          [3][3]operand
		z          operand
		rows, cols int64
		minus      int32
		triangle   place.RNSTriangle
	}
	pairs struct {
		x, z         operand
		n            int64
		chunk, depth int32
	}
)

// blocks returns the grid that gives each of the items a group.
func (b *Base) blocks(items int) cuda.Dim {
	groups := threads / b.lanes()
	return cuda.Dim{X: (items + groups - 1) / groups}
}

// partial launches rnsDot if there is a y, rnsSum otherwise.
func (q *Queue) partial(a sums) error {
	items := int(a.rows) * int(a.cols) * int(a.size)
	if items == 0 {
		return nil
	}
	f := q.sum
	if a.y.a.digits != 0 {
		f = q.dot
	}
	return f.Launch(q.s, q.blocks(items), cuda.Dim{X: threads}, 0, q.c, a)
}

// reduce sums each of the rows of size partial sums into an entry of z, or, with more, adds the sum
// to that entry.
func (q *Queue) reduce(from *Array, rows, size int, z place.RNSView, more bool) error {
	if rows == 0 {
		return nil
	}
	half := 1 << bits.Len(uint(size-1)) / 2
	tile := max(1, threads/q.lanes()/max(half, 1))
	return q.tree.Launch(q.s, cuda.Dim{X: (rows + tile - 1) / tile}, cuda.Dim{X: threads}, 0, q.c, trees{
		sums: from.native(), z: native(z), rows: int32(rows), size: int32(size), half: int32(half), more: flag(more), tile: int32(tile),
	})
}

// Map implements place.RNSQueue.
func (q *Queue) Map(rows, cols int, x, y, t, u, z place.RNSView, minus bool) error {
	return q.update(maps{
		f: [3][3]operand{{native(x), native(y)}, {native(t), native(u)}}, z: native(z),
		rows: int64(rows), cols: int64(cols), minus: flag(minus),
	})
}

// Update implements place.RNSQueue.
func (q *Queue) Update(t place.RNSTriangle, n int, terms [3][3]place.RNSView, z place.RNSView) error {
	m := maps{z: native(z), rows: int64(n), cols: int64(n), triangle: t}
	for i, term := range terms {
		for j, factor := range term {
			m.f[i][j] = native(factor)
		}
	}
	return q.update(m)
}

// update launches rnsMap.
func (q *Queue) update(m maps) error {
	if m.rows*m.cols == 0 {
		return nil
	}
	return q.mapping.Launch(q.s, q.blocks(int(m.rows*m.cols)), cuda.Dim{X: threads}, 0, q.c, m)
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// Kernels implements place.RNSBase.
func (b *Base) Kernels(ctx context.Context) (list []place.RNSKernel, err error) {
	err = backend.Do(ctx, b.at, func(s *cuda.Stream) error {
		list, err = b.describe(s)
		return err
	})
	return list, err
}

// describe computes the result of Kernels on the device's thread. The shared memory it reports
// includes dynamic shared memory.
func (b *Base) describe(s *cuda.Stream) ([]place.RNSKernel, error) {
	var list []place.RNSKernel
	type kernel struct {
		name            string
		f               *cuda.Function
		threads, shared int
	}
	kernels := []kernel{
		{"sum", b.sum, threads, 0},
		{"dot", b.dot, threads, 0},
		{"tree", b.tree, threads, 0},
		{"map", b.mapping, threads, 0},
		{"pairs", b.pairs, threads, b.stack(threads/b.lanes(), chunk)},
		{"recursive, one thread", b.recursive[place.RNSOne], b.threads(place.RNSOne), 0},
		{"recursive, a group", b.recursive[place.RNSGroup], b.threads(place.RNSGroup), 0},
		{"pairwise, one thread", b.pairwise[place.RNSOne], b.threads(place.RNSOne), b.stack(1, manyNumbers)},
		{"pairwise, a group", b.pairwise[place.RNSGroup], b.threads(place.RNSGroup), b.stack(1, manyNumbers)},
	}
	for _, k := range []struct {
		name, kernel    string
		threads, shared int
	}{
		{"signs, exponents, evaluations", "rnsMatRightScalESI", blockDim1, 0},
		{"digits", "rnsMatRightScalDigits", b.digitBlock(s.Device().Info()), 0},
		{"rounding", b.serial("rnsRound"), blockDim1, 0},
		{"row sums", b.serial("rnsRowSum"), rowBlock, rowBlock * b.floatBytes()},
		{"basic", b.serial("rnsBasic"), basicBlock, 0},
	} {
		f, err := publishedOf(s, k.kernel)
		if err != nil {
			return nil, err
		}
		kernels = append(kernels, kernel{k.name, f, k.threads, k.shared})
	}
	for _, k := range kernels {
		r, err := k.f.Resources(k.threads, k.shared)
		if err != nil {
			return nil, err
		}
		list = append(list, place.RNSKernel{
			Name: k.name, Threads: k.threads, Registers: r.Registers, LocalBytes: r.LocalBytes,
			SharedBytes: r.SharedBytes + k.shared, Occupancy: r.Occupancy,
		})
	}
	return list, nil
}

// describe reports the stack for a sum of manyNumbers numbers, and row sums by blocks of rowBlock
// threads, the default of package rns.
const (
	manyNumbers = 1000000
	rowBlock    = 32
)

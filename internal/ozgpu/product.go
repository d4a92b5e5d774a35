package ozgpu

import (
	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
)

// mostPairs is the most products of slices of one launch, MOST_PAIRS of kernels/ozaki/sgemm.cuh.
const mostPairs = 128

// A pair is a product of two slices: the one at place left of the left factor and the one at place
// right of the right factor. Before it is added, the sum so far is scaled down by the weight of
// down slices.
type pair struct{ left, right, down uint8 }

// pairsOf returns the products of count slices in the order of their addition, without products by
// zero slices. last is the number of slices by which the final sum must still be scaled down; it is
// 0 for literal slices, which carry their own weight.
func pairsOf(a, b *split, count int, literal bool) (list []pair, last int) {
	down := 0
	for i := range count {
		g := count + 1 - i
		if literal {
			g = i + 2
		}
		for s := 1; s <= min(g-1, count); s++ {
			t := g - s
			p := pair{left: uint8(s - 1), right: uint8(t - 1)}
			hasLeft, hasRight := a.hasQ, b.hasQ
			if s == count {
				hasLeft = a.hasR
			}
			if g == count+1 {
				hasRight, p.right = b.hasR, uint8(count-1+t-1)
			}
			if hasLeft>>(s-1)&1 == 0 || hasRight>>(t-1)&1 == 0 {
				continue
			}
			p.down, down = uint8(down), 0
			list = append(list, p)
		}
		if !literal && g > 2 {
			down++
		}
	}
	return list, down
}

// floats are matrices of float32: entry (i, j) of matrix p is number p stride + i + j ld.
type floats struct {
	p          *cuda.Memory
	ld, stride int
}

// multiply sets matrix p of z to the product of the slices of list[p].
func (e *Engine) multiply(s *cuda.Stream, lib blas, x, y *split, list []pair, z floats) error {
	if lib == nil {
		return e.multiplyOwn(s, x, y, list, z)
	}
	return multiplyBatch(s, lib, x, y, list, z)
}

// at returns the matrix at a place, for cuBLAS.
func (x *split) at(place uint8) cublas.Matrix {
	return cublas.Matrix{P: uint64(x.out.At(4 * int64(place) * int64(x.stride))), LD: x.ld}
}

// multiplyBatch is multiply by a library in one batched call. On an H100 that is never slower than
// a call for each product, and 4 % faster at n = 4096.
func multiplyBatch(s *cuda.Stream, lib blas, x, y *split, list []pair, z floats) error {
	n := len(list)
	addresses := make([]uint64, 3*n)
	for p, q := range list {
		addresses[p], addresses[n+p] = x.at(q.left).P, y.at(q.right).P
		addresses[2*n+p] = uint64(z.p.At(4 * int64(p) * int64(z.stride)))
	}
	m, err := s.Alloc(8 * int64(len(addresses)))
	if err != nil {
		return err
	}
	defer m.Free()
	if err := cuda.Upload(s, m.Pointer(), addresses); err != nil {
		return err
	}
	at := func(i, ld int) cublas.Matrix { return cublas.Matrix{P: uint64(m.At(8 * int64(i*n))), LD: ld} }
	return lib.SgemmBatched(cublas.NoTrans, cublas.Trans, x.n, y.n, x.length, at(0, x.ld), at(1, y.ld), at(2, z.ld), n)
}

// floatProducts is the argument of the kernel ozakiSgemm.
type floatProducts struct {
	x, y, z                   cuda.Pointer
	xLd, yLd, zLd             int64
	xStride, yStride, zStride int64
	rows, cols, k             int32
	rowTiles, colTiles        int32
	_                         int32
	left, right               [mostPairs]uint8
}

// The sizes of ozakiSgemm: tiles of 64 x 64 entries, and three stages of 16 columns of both
// operands in shared memory.
const (
	tile        = 64
	tileThreads = 64
	tileShared  = 3 * 16 * 2 * tile * 4
)

// multiplyOwn is multiply by the kernel of this package.
func (e *Engine) multiplyOwn(s *cuda.Stream, x, y *split, list []pair, z floats) error {
	tiles := func(n int) int { return (n + tile - 1) / tile }
	a := floatProducts{
		x: x.out.Pointer(), y: y.out.Pointer(), z: z.p.Pointer(),
		xLd: int64(x.ld), yLd: int64(y.ld), zLd: int64(z.ld),
		xStride: int64(x.stride), yStride: int64(y.stride), zStride: int64(z.stride),
		rows: int32(x.n), cols: int32(y.n), k: int32(x.length),
		rowTiles: int32(tiles(x.n)), colTiles: int32(tiles(y.n)),
	}
	for p, q := range list {
		a.left[p], a.right[p] = q.left, q.right
	}
	return e.sgemm.Launch(s, cuda.Dim{X: tiles(x.n) * tiles(y.n), Z: len(list)}, cuda.Dim{X: tileThreads}, tileShared, a)
}

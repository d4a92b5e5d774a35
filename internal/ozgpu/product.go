package ozgpu

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cublas"
)

// mostPairs is how many products one launch makes, MOST_PAIRS of kernels/sgemm.cuh.
const mostPairs = 128

// pair is a product of slices: place left of the left factor, right of the right one. down is by
// how many slices what was summed before weighs more than it.
type pair struct{ left, right, down uint8 }

// pairsOf returns the products of count slices in the order of their addition, but for those with
// slices of zeros, and by how many slices the sum weighs too much in the end.
func pairsOf(a, b *split, count int) (list []pair, last int) {
	down := 0
	for g := count + 1; g >= 2; g-- {
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
		if g > 2 {
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
	switch {
	case lib == nil:
		return e.multiplyOwn(s, x, y, list, z)
	case len(list) > 1 && int64(x.n)*int64(y.n)*int64(x.length) < smallProduct:
		return multiplyBatch(s, lib, x, y, list, z)
	}
	for p, q := range list {
		if err := lib.Sgemm(cublas.NoTrans, cublas.Trans, x.n, y.n, x.length, x.at(q.left), y.at(q.right),
			cublas.Matrix{P: uint64(z.p.At(4 * int64(p) * int64(z.stride))), LD: z.ld}); err != nil {
			return err
		}
	}
	return nil
}

// smallProduct is the size of products that cuBLAS takes many at a time.
var smallProduct int64 = 1 << 30

// at is the matrix at a place, for cuBLAS.
func (x *split) at(place uint8) cublas.Matrix {
	return cublas.Matrix{P: uint64(x.out.At(4 * int64(place) * int64(x.stride))), LD: x.ld}
}

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

// floatProducts is the argument of ozakiSgemm.
type floatProducts struct {
	x, y, z                   cuda.Pointer
	xLd, yLd, zLd             int64
	xStride, yStride, zStride int64
	rows, cols, k             int32
	rowTiles, colTiles        int32
	_                         int32
	left, right               [mostPairs]uint8
}

// tiling is a kernel's tile: tile x tile entries by so many threads, with shared memory.
type tiling struct {
	f                     *cuda.Function
	tile, threads, shared int
}

// sharedOf is what three stages of 16 columns of both operands take.
func sharedOf(tile int) int { return 3 * 16 * 2 * tile * 4 }

// multiplyOwn is multiply by the kernels of this package. Small tiles keep more multiprocessors
// busy.
func (e *Engine) multiplyOwn(s *cuda.Stream, x, y *split, list []pair, z floats) error {
	t := tiling{e.sgemm, 128, 128, sharedOf(128)}
	tiles := func(n int) int { return (n + t.tile - 1) / t.tile }
	if tiles(x.n)*tiles(y.n)*len(list) < 2*s.Device().Info().Multiprocessors {
		t = tiling{e.sgemmSmall, 64, 64, sharedOf(64)}
	}
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
	return t.f.Launch(s, cuda.Dim{X: tiles(x.n) * tiles(y.n), Z: len(list)}, cuda.Dim{X: t.threads}, t.shared, a)
}

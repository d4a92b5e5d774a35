package ozgpu

import (
	"github.com/halfulp/halfulp/internal/cuda"
)

// pairProduct is the argument of the kernel ozakiDouble.
type pairProduct struct {
	xHigh, xLow, yHigh, yLow, t cuda.Pointer
	xLd, yLd, tLd               int64
	rows, cols, k               int32
	rowTiles, colTiles          int32
	_                           int32
}

// pairTile is the width in entries of the tiles of ozakiDouble.
const pairTile = 64

// GemmDouble computes p in double-float arithmetic and waits for it. Entries of A and B, scaled by
// the power of two of their row or column, are rounded to sums of two float32 numbers, and the
// products of these sums are added in order. GemmDouble ignores Slices, Width, Block and SGEMM. It
// calls Bounds with the norms of r_1 for slices of 0 bits.
func (e *Engine) GemmDouble(s *cuda.Stream, p *Product) (Stats, error) {
	q := *p
	q.Slices, q.Width = 1, 0
	_, n := p.A.size()
	q.Block = max(n, 1)
	g := &gemm{Product: &q, e: e, s: s, clock: newClock(s, p.began)}
	g.stats.Kernel = "CUDA double-float chains"
	defer g.free()
	if p.C.Rows == 0 || p.C.Cols == 0 {
		return g.stats, nil
	}
	p.C.Changed()
	if p.Bound.Arr != nil {
		p.Bound.Changed()
	}
	if p.Alpha == 0 || n == 0 {
		return g.stats, g.scaled()
	}
	if err := g.plan(8, 8, 0); err != nil {
		return g.stats, err
	}
	for j := 0; j < p.C.Cols; j += g.cols {
		for i := 0; i < p.C.Rows; i += g.rows {
			i1, j1 := min(i+g.rows, p.C.Rows), min(j+g.cols, p.C.Cols)
			if err := g.doublePart(i, i1, j, j1); err != nil {
				return g.stats, err
			}
			if err := g.advance(i1-i, j1-j); err != nil {
				return g.stats, err
			}
			g.stats.Parts++
		}
	}
	if err := g.specials(); err != nil {
		return g.stats, err
	}
	var err error
	g.stats.Stages, err = g.clock.stop()
	return g.stats, err
}

// doublePart computes rows i to i1 - 1 and columns j to j1 - 1 of C.
func (g *gemm) doublePart(i, i1, j, j1 int) error {
	if err := g.clock.start(splits); err != nil {
		return err
	}
	left, err := g.e.toDouble(g.s, g.A, i, i1)
	if err != nil {
		return err
	}
	defer left.p.Free()
	right, err := g.e.toDouble(g.s, g.B, j, j1)
	if err != nil {
		return err
	}
	defer right.p.Free()
	if g.Bound.Arr != nil {
		if err := g.pairsBound(i, i1, j, j1); err != nil {
			return err
		}
	}
	if err := g.clock.start(products); err != nil {
		return err
	}
	tiles := func(n int) int { return (n + pairTile - 1) / pairTile }
	rows, cols := i1-i, j1-j
	_, n := g.A.size()
	a := pairProduct{
		xHigh: left.p.Pointer(), xLow: left.p.At(4 * int64(left.stride)), yHigh: right.p.Pointer(), yLow: right.p.At(4 * int64(right.stride)),
		t: g.t.Pointer(), xLd: int64(left.ld), yLd: int64(right.ld), tLd: int64(g.p.ld),
		rows: int32(rows), cols: int32(cols), k: int32(n), rowTiles: int32(tiles(rows)), colTiles: int32(tiles(cols)),
	}
	if err := g.e.double.Launch(g.s, cuda.Dim{X: tiles(rows) * tiles(cols)}, cuda.Dim{X: 256}, 0, a); err != nil {
		return err
	}
	if err := g.clock.start(sums); err != nil {
		return err
	}
	z := g.summing(rows, cols, i, j)
	z.moreT, z.endT = 1, 1
	return g.launchSum(z)
}

// pairsBound sets the error bounds of the same part of C.
func (g *gemm) pairsBound(i, i1, j, j1 int) error {
	_, n := g.A.size()
	left, err := g.e.newSplit(g.s, g.A, i, i1, 0, n, 0, 1, noPlaces(), false, true)
	if err != nil {
		return err
	}
	defer left.free()
	right, err := g.e.newSplit(g.s, g.B, j, j1, 0, n, 0, 1, noPlaces(), false, true)
	if err != nil {
		return err
	}
	defer right.free()
	return g.bound(left, right, false)
}

// toDouble returns the vectors v0 to v1 - 1 as double-floats: a matrix of high parts and one of low
// parts.
func (e *Engine) toDouble(s *cuda.Stream, v *Vectors, v0, v1 int) (floats, error) {
	_, n := v.size()
	z := floats{ld: padded(v1 - v0)}
	z.stride = z.ld * n
	var err error
	if z.p, err = s.Alloc(8 * int64(z.stride)); err != nil {
		return z, err
	}
	for lo := 0; lo < n; lo += maxLength {
		hi := min(lo+maxLength, n)
		part, at := v.at(v0, v1, lo, hi), 4*int64(lo)*int64(z.ld)
		if err := e.pairs[v.along()].Launch(s, grid(z.ld, hi-lo), cuda.Dim{X: threads}, 0, part, v.bitsAt(v0),
			z.p.At(at), z.p.At(4*int64(z.stride)+at), int64(z.ld)); err != nil {
			z.p.Free()
			return z, err
		}
	}
	return z, nil
}

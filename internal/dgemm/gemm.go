// Package dgemm factors and inverts float64 matrices on the CPU, by blocked algorithms near the
// peak speed of fused multiply-adds. The bits of results differ between instruction sets, except
// for SubtractSame: results are seeds, which other packages refine and prove.
//
// Matrices are stored by columns, entry (i, j) at i + j ld.
package dgemm

import (
	"context"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/par"
)

//go:generate go -C _asm run . -isa avx2 -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg dgemm
//go:generate go -C _asm run . -isa avx512 -out ../avx512_amd64.s -stubs ../stubs_avx512_amd64.go -pkg dgemm
//go:generate go -C _asm run . -isa neon -out ../neon_arm64.s -stubs ../stubs_neon_arm64.go -pkg dgemm

// kernel multiplies a panel by a panel on one kind of machine.
type kernel struct {
	name   string
	mr, nr int // widths of the panels of the left and the right factor
	// micro adds to the tile, entry (r, s) at c[r + s ldc], the product of panels of length k > 0:
	// entry h of vector v is a[h mr + v] and b[h nr + v].
	micro func(c []float64, ldc int, a, b []float64, k int)
	// triangle computes triangleGeneric. axpy and axpyAbs compute axpyGeneric and axpyAbsGeneric
	// for lengths that are multiples of 8; they may be nil.
	triangle      func(t, x []float64)
	axpy, axpyAbs func(alpha float64, x, y []float64)
	// eliminate computes eliminateGeneric for multiples of 4; it may be nil.
	eliminate func(a []float64, n, k int)
	// combine computes combineGeneric for a y of a length that is a multiple of 8, and an a that is
	// not empty; it may be nil.
	combine func(x []float64, ld int, a, y []float64)
	// microSingle and combineSingle are micro and combine for a factor of single precision; they
	// may be nil.
	microSingle   func(c []float64, ldc int, a []float32, b []float64, k int)
	combineSingle func(x []float32, ld int, a, y []float64)
	narrow        *kernel // for products with three columns; only microSingle, or nil
}

var generic = &kernel{name: "generic", mr: 4, nr: 4, micro: microGeneric, triangle: triangleGeneric}

func microGeneric(c []float64, ldc int, a, b []float64, k int) {
	var t [16]float64
	for h := range k {
		x, y := a[4*h:4*h+4], b[4*h:4*h+4]
		for s, y := range y {
			for r, x := range x {
				t[r+4*s] += x * y // may fuse: a seed
			}
		}
	}
	for s := range 4 {
		for r := range 4 {
			c[r+s*ldc] += t[r+4*s]
		}
	}
}

// maxTile is the largest tile of a kernel.
const maxTile = 16 * 12

// length is the length of the packed panels; a block of rows of them stays in the second-level
// cache. A block of columns is narrower where there are few blocks for the threads.
const (
	length         = 256
	rowBlock       = 192
	colBlock       = 192
	colBlockNarrow = 48
)

// matrix is a view of a matrix.
type matrix struct {
	rows, cols, ld int
	data           []float64
}

// view returns rows i0 ≤ i < i1 and columns j0 ≤ j < j1.
func (m matrix) view(i0, i1, j0, j1 int) matrix {
	if i0 == i1 || j0 == j1 {
		return matrix{rows: i1 - i0, cols: j1 - j0, ld: m.ld}
	}
	return matrix{i1 - i0, j1 - j0, m.ld, m.data[i0+j0*m.ld:]}
}

// worker runs products.
type worker struct {
	ctx     context.Context
	threads int
	k       *kernel
	a, b    []float64 // packed
	piece   int       // how many products are summed before they are added to a matrix
	room    substitution
	tiles   []*[maxTile]float64 // of each thread, for tiles that are not whole
	panels  [][]float64         // free memory of packed panels
	shelf   *bufpool.Shelf[*worker]
}

// subtract sets C -= A B.
func (w *worker) subtract(c, a, b matrix) error {
	m, n := c.rows, c.cols
	if m == 0 || n == 0 || a.cols == 0 {
		return nil
	}
	threads := w.threads
	if float64(m)*float64(n)*float64(a.cols) < 1<<17 { // not worth a goroutine
		threads = 1
	}
	mr, nr := w.k.mr, w.k.nr
	panelsA, panelsB := (m+mr-1)/mr, (n+nr-1)/nr
	for h := 0; h < a.cols; h += length {
		k := min(length, a.cols-h)
		w.a, w.b = room(w.a, panelsA*mr*k), room(w.b, panelsB*nr*k)
		someA, someB := 16, 16 // panels a call
		if threads > 1 && panelsA+panelsB < 32*threads {
			someA, someB = 8, 4
		}
		partsA, partsB := (panelsA+someA-1)/someA, (panelsB+someB-1)/someB
		err := par.For(w.ctx, threads, partsA+partsB, func(_, part int) {
			if part < partsA {
				first, last := part*someA, min(panelsA, (part+1)*someA)
				packRows(w.a[first*mr*k:last*mr*k], mr, a.view(first*mr, min(m, last*mr), h, h+k))
				return
			}
			part -= partsA
			for p := part * someB; p < min(panelsB, (part+1)*someB); p++ {
				packCols(w.b[p*nr*k:(p+1)*nr*k], nr, b.view(h, h+k, p*nr, min(n, (p+1)*nr)))
			}
		})
		if err != nil {
			return err
		}
		wide := colBlock
		if threads > 1 && m*n < 4*threads*rowBlock*colBlock {
			wide = colBlockNarrow
		}
		rows, cols := (m+rowBlock-1)/rowBlock, (n+wide-1)/wide
		w.tilesFor(threads)
		err = par.For(w.ctx, threads, rows*cols, func(thread, i int) {
			i0, j0 := i%rows*rowBlock, i/rows*wide
			w.tileAll(c.view(i0, min(m, i0+rowBlock), j0, min(n, j0+wide)), w.a[i0*k:], w.b[j0*k:], k, w.tiles[thread])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tilesFor provides tiles for some threads.
func (w *worker) tilesFor(threads int) {
	for len(w.tiles) < max(threads, 1) {
		w.tiles = append(w.tiles, new([maxTile]float64))
	}
}

// tileAll adds to c the product of packed rows and packed columns of length k.
func (w *worker) tileAll(c matrix, a, b []float64, k int, t *[maxTile]float64) {
	mr, nr := w.k.mr, w.k.nr
	for i := 0; i < c.rows; i += mr {
		for j := 0; j < c.cols; j += nr {
			w.tile(c.view(i, min(c.rows, i+mr), j, min(c.cols, j+nr)), a[i*k:], b[j*k:], k, t)
		}
	}
}

// tile adds the product of two panels to a tile. t is room for a tile.
func (w *worker) tile(c matrix, a, b []float64, k int, t *[maxTile]float64) {
	whole := c.rows == w.k.mr && c.cols == w.k.nr
	for ; k > 0; k -= w.piece {
		part := min(k, w.piece)
		if whole {
			w.k.micro(c.data, c.ld, a, b, part)
		} else {
			clear(t[:])
			w.k.micro(t[:], w.k.mr, a, b, part)
			for s := range c.cols {
				to := c.data[s*c.ld:][:c.rows]
				for r, v := range t[s*w.k.mr:][:c.rows] {
					to[r] += v
				}
			}
		}
		a, b = a[part*w.k.mr:], b[part*w.k.nr:]
	}
}

func room(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n, max(n, 2*cap(x)))
	}
	return x[:n]
}

// packRows packs the rows of a, negated, as vectors, in panels of width rows. It reads along the
// columns of a.
func packRows(to []float64, width int, a matrix) {
	step := width * a.cols // a panel
	for h := range a.cols {
		column, at := a.data[h*a.ld:][:a.rows], h*width
		for len(column) >= width {
			for x, y := to[at:at+width], column; len(x) >= 4; x, y = x[4:], y[4:] {
				x, y := (*[4]float64)(x), (*[4]float64)(y)
				x[0], x[1], x[2], x[3] = -y[0], -y[1], -y[2], -y[3]
			}
			column, at = column[width:], at+step
		}
		if len(column) > 0 {
			x := to[at : at+width]
			for r, v := range column {
				x[r] = -v
			}
			clear(x[len(column):])
		}
	}
}

// packCols packs the columns of b as vectors.
func packCols(to []float64, width int, b matrix) {
	s := 0
	for ; s+4 <= b.cols; s += 4 {
		c0, c1 := b.data[s*b.ld:][:b.rows], b.data[(s+1)*b.ld:][:b.rows]
		c2, c3 := b.data[(s+2)*b.ld:][:b.rows], b.data[(s+3)*b.ld:][:b.rows]
		at := s
		for h, v := range c0 {
			x := (*[4]float64)(to[at:])
			x[0], x[1], x[2], x[3] = v, c1[h], c2[h], c3[h]
			at += width
		}
	}
	for ; s < b.cols; s++ {
		for h, v := range b.data[s*b.ld:][:b.rows] {
			to[h*width+s] = v
		}
	}
	for ; s < width; s++ {
		for h := range b.rows {
			to[h*width+s] = 0
		}
	}
}

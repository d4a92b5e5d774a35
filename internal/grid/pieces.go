package grid

import (
	"iter"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// A piece is a part of this process's part of a result: the entries i0 <= i < i1, j0 <= j < j1. It
// is restricted to one triangle, 'U' or 'L', if it is a square on the diagonal of the result, or if
// it has steps.
type piece struct {
	i0, i1, j0, j1 int
	triangle       byte
	steps          []int // see product.Problem
}

// of returns the piece of m, a matrix of the shape of the part.
func (p piece) of(m num.Mat) num.Mat {
	m.Off, m.Rows, m.Cols = m.At(p.i0, p.j0), p.i1-p.i0, p.j1-p.j0
	return m
}

// rowsOf returns the rows of the left factor m that the piece needs.
func (p piece) rowsOf(m num.Mat) num.Mat {
	m.Off, m.Rows = m.At(p.i0, 0), p.i1-p.i0
	return m
}

// colsOf returns the columns of the right factor m that the piece needs.
func (p piece) colsOf(m num.Mat) num.Mat {
	m.Off, m.Cols = m.At(0, p.j0), p.j1-p.j0
	return m
}

// pieces cuts the part of a result that lies in the given rows and columns. For a triangle, 'U' or
// 'L', it yields the pieces that lie in this triangle of the result, with the diagonal, or one
// piece with steps if steps is set. For 0 it yields one piece.
func pieces(rows, cols []int, triangle byte, steps bool) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		all := piece{i1: len(rows), j1: len(cols)}
		if triangle == 0 || !steps || slices.Equal(rows, cols) {
			cut(rows, cols, triangle, all, yield)
			return
		}
		all.triangle, all.steps = triangle, make([]int, len(rows))
		for i, row := range rows {
			if triangle == 'L' {
				row++
			}
			all.steps[i], _ = slices.BinarySearch(cols, row)
		}
		yield(all)
	}
}

// cut cuts a piece p and yields the pieces. It returns false if yield does.
func cut(rows, cols []int, triangle byte, p piece, yield func(piece) bool) bool {
	if triangle == 0 {
		return yield(p)
	}
	if p.i0 == p.i1 || p.j0 == p.j1 {
		return true
	}
	r, c := rows[p.i0:p.i1], cols[p.j0:p.j1]
	if triangle == 'U' { // the transposed piece of the lower triangle
		r, c = c, r
	}
	switch m, n := len(r), len(c); {
	case r[0] >= c[n-1]:
		return yield(p)
	case r[m-1] < c[0]:
		return true
	case slices.Equal(r, c):
		p.triangle = triangle
		return yield(p)
	}
	first, second := p, p
	if p.i1-p.i0 >= p.j1-p.j0 {
		first.i1 = middle(rows, p.i0, p.i1)
		second.i0 = first.i1
	} else {
		first.j1 = middle(cols, p.j0, p.j1)
		second.j0 = first.j1
	}
	return cut(rows, cols, triangle, first, yield) && cut(rows, cols, triangle, second, yield)
}

// middle returns where the range lo to hi of a list is cut in two: near the middle, and between two
// blocks if there are several.
func middle(list []int, lo, hi int) int {
	mid := (lo + hi) / 2
	for d := range (hi - lo) / 2 {
		for _, at := range [2]int{mid - d, mid + d} {
			if at > lo && at < hi && list[at] != list[at-1]+1 {
				return at
			}
		}
	}
	return mid
}

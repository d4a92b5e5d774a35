package grid

import (
	"iter"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// A piece is the entries i0 <= i < i1, j0 <= j < j1 of this process's part of a result, or one
// triangle of them, 'U' or 'L', if they are a square on the diagonal of the result, or have steps
// in its place.
type piece struct {
	i0, i1, j0, j1 int
	triangle       byte
	steps          []int // see product.Problem
}

// of is the piece of a matrix of the part's shape.
func (p piece) of(m num.Mat) num.Mat {
	m.Off, m.Rows, m.Cols = m.At(p.i0, p.j0), p.i1-p.i0, p.j1-p.j0
	return m
}

// rowsOf is the rows of the left factor that the piece needs.
func (p piece) rowsOf(m num.Mat) num.Mat {
	m.Off, m.Rows = m.At(p.i0, 0), p.i1-p.i0
	return m
}

// colsOf is the columns of the right factor that the piece needs.
func (p piece) colsOf(m num.Mat) num.Mat {
	m.Off, m.Cols = m.At(0, p.j0), p.j1-p.j0
	return m
}

// pieces cuts the part of a result that is in some of its rows and columns into the pieces that lie
// in one triangle of it, the diagonal included, 'U' or 'L', or makes it one piece for 0, and one
// with steps where those are possible.
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

// cut yields the pieces of one, and reports whether there may be more.
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

// middle is where lo to hi of a list is cut in two: near the middle, between two blocks if there is
// more than one.
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

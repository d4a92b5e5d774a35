package grid

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
)

// An axis is the indices first, first + step, ... of the rows or of the columns of a matrix.
type axis struct{ first, step, n int }

func (a axis) at(i int) int { return a.first + i*a.step }

// A view is a num.Mat of this place. Its entry (i, j) is entry (r.at(i), c.at(j)) of the stored
// matrix, or (r.at(j), c.at(i)) if transposed is set. If line is set, the view is a vector whose
// entries are numbers of the stored array at equal distances: entry i is number r.at(i).
type view struct {
	num.Mat
	s          *storage
	r, c       axis
	transposed bool
	line       bool
}

// look finds the axes of a view. It returns an error for a view whose entries lie on diagonals of
// the stored matrix.
func (g *Grid) look(m num.Mat) (view, error) {
	s := m.Arr.Away.(*storage)
	v := view{Mat: m, s: s}
	if m.Rows == 0 || m.Cols == 0 {
		return v, nil
	}
	ld := max(s.rows, 1)
	first := [2]int{m.Off % ld, m.Off / ld}
	// for each axis of the view: the axis of the matrix that it runs along, and its step
	var along, step [2]int
	for d, stride := range [2]int{m.RS, m.CS} {
		switch {
		case [2]int{m.Rows, m.Cols}[d] == 1:
			along[d] = -1
		case stride%ld == 0:
			along[d], step[d] = 1, stride/ld
		default:
			along[d], step[d] = 0, stride
		}
	}
	switch {
	case along[0] < 0 && along[1] < 0:
		along = [2]int{0, 1}
	case along[0] < 0:
		along[0] = 1 - along[1]
	case along[1] < 0:
		along[1] = 1 - along[0]
	}
	n := [2]int{m.Rows, m.Cols}
	var axes [2]axis // axes of the matrix
	for d := range along {
		axes[along[d]] = axis{first[along[d]], step[d], n[d]}
	}
	bad := along[0] == along[1] || m.Rows > 1 && m.RS == 0 || m.Cols > 1 && m.CS == 0
	for d, size := range [2]int{s.rows, s.cols} {
		last := axes[d].at(axes[d].n - 1)
		bad = bad || last < 0 || last >= size
	}
	if bad && (m.Rows == 1 || m.Cols == 1) {
		v.r = axis{m.Off, m.RS, m.Rows}
		if v.transposed = m.Rows == 1; v.transposed {
			v.r.step, v.r.n = m.CS, m.Cols
		}
		last := v.r.at(v.r.n - 1)
		v.line = true
		if bad = v.r.step == 0 || min(m.Off, last) < 0 || max(m.Off, last) >= s.Len(); !bad {
			return v, nil
		}
	}
	if bad {
		return v, fmt.Errorf("%s: a view whose entries lie neither in rows nor in columns of its matrix", g)
	}
	v.r, v.c, v.transposed = axes[0], axes[1], along[0] == 1
	return v, nil
}

// whole reports whether v is the whole stored matrix, in its order, or empty.
func (v view) whole() bool {
	return !v.transposed && !v.line && v.r == axis{0, 1, v.s.rows} && v.c == axis{0, 1, v.s.cols} ||
		v.Rows*v.Cols == 0
}

// A layout describes which entries of a matrix each process has or receives: the entries in some
// rows and some columns, both in ascending order.
type layout interface {
	part(row, col int) (rows, cols []int)
}

// part returns the entries of v that the process in row row and column col of the grid has.
func (v view) part(row, col int) (rows, cols []int) {
	g := v.s.g
	if v.line {
		for i := range v.r.n {
			if n := v.r.at(i); owner(n%v.s.rows, g.block, g.rows) == row && owner(n/v.s.rows, g.block, g.cols) == col {
				rows = append(rows, i)
			}
		}
		if cols = []int{0}; v.transposed {
			return cols, rows
		}
		return rows, cols
	}
	for i := range v.r.n {
		if owner(v.r.at(i), g.block, g.rows) == row {
			rows = append(rows, i)
		}
	}
	for j := range v.c.n {
		if owner(v.c.at(j), g.block, g.cols) == col {
			cols = append(cols, j)
		}
	}
	if v.transposed {
		return cols, rows
	}
	return rows, cols
}

// position returns the index of entry (i, j) of v in this process's storage. The process must have
// the entry.
func (v view) position(i, j int) int {
	if v.transposed {
		i, j = j, i
	}
	g := v.s.g
	if v.line {
		n := v.r.at(i)
		return within(n%v.s.rows, g.block, g.rows) + within(n/v.s.rows, g.block, g.cols)*v.s.localRows()
	}
	return within(v.r.at(i), g.block, g.rows) + within(v.c.at(j), g.block, g.cols)*v.s.localRows()
}

// own returns the entries of v that this process has.
func (v view) own() (rows, cols []int) { return v.part(v.s.g.row, v.s.g.col) }

// everything is the layout in which every process has the whole m x n matrix.
type everything struct{ m, n int }

func (e everything) part(_, _ int) (rows, cols []int) { return count(e.m), count(e.n) }

// rowsOf is the layout in which each process has all n columns of the rows that it has in another
// layout.
type rowsOf struct {
	layout
	n int
}

func (l rowsOf) part(row, col int) (rows, cols []int) {
	rows, _ = l.layout.part(row, col)
	return rows, count(l.n)
}

// colsOf is the layout in which each process has all m rows of the columns that it has in another
// layout.
type colsOf struct {
	layout
	m int
}

func (l colsOf) part(row, col int) (rows, cols []int) {
	_, cols = l.layout.part(row, col)
	return count(l.m), cols
}

// dealt is the layout in which every process has some consecutive rows of an m x n matrix, with all
// columns.
type dealt struct {
	g    *Grid
	m, n int
}

func (l dealt) part(row, col int) (rows, cols []int) {
	p, of := row*l.g.cols+col, l.g.size()
	for i := l.m * p / of; i < l.m*(p+1)/of; i++ {
		rows = append(rows, i)
	}
	return rows, count(l.n)
}

// count returns 0, 1, ..., n - 1.
func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

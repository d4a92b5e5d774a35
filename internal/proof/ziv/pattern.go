package ziv

import (
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// Pattern determines which entries of solutions of A x = b are 0 for all regular A with zeros in
// the same places.
//
// Let the rows and columns of A be matched one to one. For a right-hand side b, let R contain the
// columns whose matched rows have nonzeros in b and, with every column of R, the columns whose
// matched rows have nonzeros in it. The remaining rows have zeros in b and in all columns of R. So
// the remaining rows and columns form a system C y = 0 with as many equations as unknowns, and A,
// with its rows and columns reordered, is block triangular with C on its diagonal. If A is regular,
// so is C, and y = 0.
//
// The proof holds for any matching. A matching of nonzeros, which every regular matrix has, leaves
// the fewest columns in R; they are found as paths between columns (Duff, Erisman and Reid, Direct
// Methods for Sparse Matrices, 2017, chapter 6).
type Pattern struct {
	n      int
	rows   [][]uint64 // the nonzeros of each row of A
	next   [][]uint64 // for each column, the columns whose matched rows have nonzeros in it
	column []int      // column[i] is matched with row i
}

// NewPattern returns the pattern of a square matrix. It returns nil if the matrix has no zeros, or
// has no matching of nonzeros and is therefore singular.
func NewPattern(a num.Mat) *Pattern {
	n := a.Rows
	if !hasZeros(a) {
		return nil
	}
	p := &Pattern{n: n, rows: bitRows(n), column: make([]int, n)}
	for j := range n {
		for i := range n {
			if a.Arr.Class(a.At(i, j)) != num.Zero {
				p.rows[i][j/64] |= 1 << (j % 64)
			}
		}
	}
	if !p.match() {
		return nil
	}
	p.next = bitRows(n)
	for i, row := range p.rows {
		c := p.column[i]
		for k, w := range row {
			for ; w != 0; w &= w - 1 {
				p.next[64*k+mathbits.TrailingZeros64(w)][c/64] |= 1 << (c % 64)
			}
		}
	}
	return p
}

// hasZeros reports whether a matrix has a zero.
func hasZeros(a num.Mat) bool {
	for j := range a.Cols {
		if a.Arr.Kind == num.F64 && a.RS == 1 && a.Rows > 0 { // the usual case
			if slices.Contains(a.Arr.F64[0][a.At(0, j):][:a.Rows], 0) {
				return true
			}
			continue
		}
		for i, at := 0, a.At(0, j); i < a.Rows; i, at = i+1, at+a.RS {
			if a.Arr.Class(at) == num.Zero {
				return true
			}
		}
	}
	return false
}

// bitRows returns n sets of n bits.
func bitRows(n int) [][]uint64 {
	words := (n + 63) / 64
	all, z := make([]uint64, n*words), make([][]uint64, n)
	for i := range z {
		z[i] = all[i*words : (i+1)*words]
	}
	return z
}

// match matches each row with a column in which it has a nonzero, by augmenting paths (Kuhn 1955),
// and reports whether all rows are matched.
func (p *Pattern) match() bool {
	row := make([]int, p.n) // row[j] is matched with column j, or -1
	for j := range row {
		row[j], p.column[j] = -1, -1
		if p.rows[j][j/64]>>(j%64)&1 != 0 {
			row[j], p.column[j] = j, j
		}
	}
	from, seen := make([]int, p.n), make([]uint64, len(p.rows[0]))
	for first := range p.n {
		if p.column[first] >= 0 {
			continue
		}
		clear(seen)
		free := -1
		for queue := []int{first}; len(queue) > 0 && free < 0; queue = queue[1:] {
			i := queue[0]
			for k, w := range p.rows[i] {
				w &^= seen[k]
				seen[k] |= w
				for ; w != 0 && free < 0; w &= w - 1 {
					j := 64*k + mathbits.TrailingZeros64(w)
					if from[j] = i; row[j] < 0 {
						free = j
					} else {
						queue = append(queue, row[j])
					}
				}
			}
		}
		if free < 0 {
			return false
		}
		for j := free; j >= 0; {
			i := from[j]
			row[j], j, p.column[i] = i, p.column[i], j
		}
	}
	return true
}

// Reached returns the set R for column j of b; nil for a column of zeros.
func (p *Pattern) Reached(b num.Mat, j int) []uint64 {
	z, list := make([]uint64, len(p.rows[0])), make([]int, 0, p.n)
	for i := range b.Rows {
		if b.Arr.Class(b.At(i, j)) != num.Zero {
			c := p.column[i]
			z[c/64] |= 1 << (c % 64)
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil
	}
	for at := 0; at < len(list) && len(list) < p.n; at++ {
		for k, w := range p.next[list[at]] {
			w &^= z[k]
			z[k] |= w
			for ; w != 0; w &= w - 1 {
				list = append(list, 64*k+mathbits.TrailingZeros64(w))
			}
		}
	}
	return z
}

// WithoutZeros removes the entries that are 0 by the pattern of A from the open entries of todo.
// The solution must be 0 at the start. A is regular, or is proved to be regular before the solution
// is used. Columns of B that are 0 stay open as a whole, so that entries remain for which
// regularity is proved.
func WithoutZeros(s *call.Run, a, b num.Mat, todo []*Entries) {
	var p *Pattern
	right := b
	for j, e := range todo {
		if !hasZeros(b.Slice(0, b.Rows, j, j+1)) {
			continue
		}
		if p == nil {
			if p = NewPattern(a); p == nil {
				return
			}
		}
		if in := p.Reached(right, j); in != nil {
			e.Open = slices.DeleteFunc(e.Open, func(i int) bool { return in[i/64]>>(i%64)&1 == 0 })
		}
	}
}

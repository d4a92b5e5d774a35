package grid

import (
	"context"
	"sort"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/mpi"
)

// An Order is a sequence of the entries of a rows x cols matrix, as in a file: column by column, or
// row by row.
type Order struct {
	Rows, Cols int
	ByRows     bool
	// Below, if above 0, restricts an order by columns of a square matrix to a triangle: column j
	// begins at row j + Below - 1. 1 is the lower triangle, and 2 is the lower triangle without the
	// diagonal.
	Below int
	// Mirrored, for an order by columns, stores entry (i, j) of the sequence in entry (j, i) of the
	// matrix, and omits diagonal entries.
	Mirrored bool
}

// lines returns the number of lines, columns or rows, and their length.
func (o Order) lines() (n, length int) {
	if o.ByRows {
		return o.Rows, o.Cols
	}
	return o.Cols, o.Rows
}

// first returns the index in line l at which its entries begin.
func (o Order) first(l int) int {
	if o.Below == 0 {
		return 0
	}
	return l + o.Below - 1
}

// start returns the number of entries before line l.
func (o Order) start(l int) int {
	_, length := o.lines()
	if o.Below == 0 {
		return l * length
	}
	return l*(length-o.Below+1) - l*(l-1)/2
}

// Len returns the number of entries.
func (o Order) Len() int {
	n, _ := o.lines()
	if o.Below == 2 && n > 0 {
		n-- // the last column has no entries
	}
	return o.start(n)
}

// each calls f for the entries lo ≤ k < hi in groups. A group has n entries, from number k on,
// which lie in one line from entry (i, j) of the matrix on: along its column for down, else along
// its row. A group ends at the end of a block or earlier.
func (o Order) each(lo, hi, block int, f func(k, i, j, n int, down bool)) {
	lines, length := o.lines()
	l := sort.Search(lines, func(l int) bool { return o.start(l+1) > lo })
	for k := lo; k < hi; l++ {
		for at := o.first(l) + k - o.start(l); at < length && k < hi; {
			n := min(block-at%block, length-at, hi-k)
			i, j, down := at, l, true
			if o.ByRows || o.Mirrored {
				i, j, down = l, at, false
			}
			from, m := k, n
			if o.Mirrored && at == l { // skip the diagonal entry, the first of the column
				from, m, j = k+1, n-1, j+1
			}
			if m > 0 {
				f(from, i, j, m, down)
			}
			k, at = k+n, at+n
		}
	}
}

// A Range is the range of entries Lo ≤ k < Hi of an order.
type Range struct{ Lo, Hi int }

// Len returns the number of entries of the range.
func (r Range) Len() int { return r.Hi - r.Lo }

// appendRun adds the places at, ..., at + n - 1 to runs.
func appendRun(list []run, at, n int) []run {
	if last := len(list) - 1; last >= 0 && list[last].at+list[last].n == at {
		list[last].n += n
		return list
	}
	return append(list, run{at, n})
}

// outside returns, for each process, the numbers in this process's range whose entries of the
// matrix that process has.
func (s *storage) outside(o Order, mine Range, a *num.Array) []patch {
	g := s.g
	list := make([]patch, g.size())
	lanes := lanesOf(a)
	for p := range list {
		list[p] = patch{lanes: lanes, starts: []int{0}}
	}
	o.each(mine.Lo, mine.Hi, g.block, func(k, i, j, n int, _ bool) {
		p := owner(i, g.block, g.rows)*g.cols + owner(j, g.block, g.cols)
		list[p].runs = appendRun(list[p].runs, k-mine.Lo, n)
	})
	return list
}

// inside returns, for each process's range, the places of the entries in this process's storage.
func (s *storage) inside(o Order, ranges []Range) []patch {
	g, ld := s.g, s.localRows()
	list := make([]patch, g.size())
	lanes := lanesOf(s.local)
	for p, r := range ranges {
		list[p] = patch{lanes: lanes, starts: []int{0}}
		o.each(r.Lo, r.Hi, g.block, func(_, i, j, n int, down bool) {
			if owner(i, g.block, g.rows) != g.row || owner(j, g.block, g.cols) != g.col {
				return
			}
			at := within(i, g.block, g.rows) + within(j, g.block, g.cols)*ld
			if down {
				list[p].runs = appendRun(list[p].runs, at, n)
				return
			}
			for c := range n {
				list[p].runs = appendRun(list[p].runs, at+c*ld, 1)
			}
		})
	}
	return list
}

// Entries gives access to the numbers of a matrix that lives on a grid.
type Entries struct{ s *storage }

// NewEntries returns a rows x cols matrix of +0 that lives on g, by columns, and its Entries.
func (g *Grid) NewEntries(ctx context.Context, f num.Format, rows, cols int) (Entries, num.Mat, error) {
	a, err := g.New(ctx, f, rows, cols)
	if err != nil {
		return Entries{}, num.Mat{}, err
	}
	return Entries{a.Away.(*storage)}, num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}, nil
}

// EntriesOf returns the Entries of a matrix that lives on g. If m is a part of its stored matrix,
// or in another order, these are the Entries of a copy.
func (g *Grid) EntriesOf(ctx context.Context, m num.Mat) (Entries, error) {
	s := m.Arr.Away.(*storage)
	if m.Off == 0 && m.RS == 1 && m.CS == max(m.Rows, 1) && m.Rows == s.rows && m.Cols == s.cols {
		return Entries{s}, nil
	}
	e, z, err := g.NewEntries(ctx, m.Arr.Format, m.Rows, m.Cols)
	if err != nil {
		return e, err
	}
	return e, g.Copy(place.Config{Run: par.Run{Ctx: ctx}}, z, m)
}

// Transport returns the transport that connects the processes of the grid.
func (g *Grid) Transport() Transport { return g.to }

// Largest returns the number of entries of a rows x cols matrix that the first process has. No
// process has more.
func (g *Grid) Largest(rows, cols int) int {
	return share(rows, g.block, g.rows, 0) * share(cols, g.block, g.cols, 0)
}

// Share returns how many numbers of a rows x cols matrix this process has.
func (g *Grid) Share(rows, cols int) int {
	return share(rows, g.block, g.rows, g.row) * share(cols, g.block, g.cols, g.col)
}

// Put stores numbers of an order in the matrix. Each process passes in mine, from number 0 on and
// in the matrix's format, the numbers of its own range. ranges has the ranges of all processes, and
// is equal in all.
func (e Entries) Put(ctx context.Context, o Order, ranges []Range, mine *num.Array) error {
	g := e.s.g
	return g.exchange(ctx, mine.Format, e.s.outside(o, ranges[g.to.Rank()], mine), e.s.inside(o, ranges))
}

// Get is the inverse of Put: it sets mine.
func (e Entries) Get(ctx context.Context, o Order, ranges []Range, mine *num.Array) error {
	g := e.s.g
	return g.exchange(ctx, mine.Format, e.s.inside(o, ranges), e.s.outside(o, ranges[g.to.Rank()], mine))
}

// FirstSpecial returns the first entry, column by column, that is infinite or NaN, and its class
// and sign, in all processes. It is not ok if there is no such entry.
func (e Entries) FirstSpecial(ctx context.Context) (i, j int, is num.Cls, ok bool, err error) {
	s := e.s
	const none, kinds = 1 << 62, 1 << 3 // more than the number of values of a num.Cls
	first := []int64{none}
	ld := s.localRows()
	var buf [num.MaxValueWords]uint64
	for k := range s.local.Len() {
		if c := s.local.Class(k); c == num.Inf || c == num.NaN {
			i, j := s.g.outer(k%ld, k/ld)
			at := (int64(j)*int64(s.rows)+int64(i))*kinds + int64(num.MakeCls(s.local.Value(k, buf[:]).Neg, c))
			first[0] = min(first[0], at)
		}
	}
	if err := s.g.to.Allreduce(ctx, mpi.Min, first); err != nil || first[0] == none {
		return 0, 0, 0, false, err
	}
	at := int(first[0] / kinds)
	return at % s.rows, at / s.rows, num.Cls(first[0] % kinds), true, nil
}

// outer returns the row and column of the matrix that are row i and column j of this process's
// part.
func (g *Grid) outer(i, j int) (row, col int) {
	return i/g.block*g.block*g.rows + g.row*g.block + i%g.block, j/g.block*g.block*g.cols + g.col*g.block + j%g.block
}

package grid

import (
	"context"
	"iter"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// move redistributes v to another layout. It returns the entries that this process has in that
// layout as a matrix of the host, by columns.
func (g *Grid) move(ctx context.Context, v view, to layout) (num.Mat, error) {
	return g.moveTo(ctx, v, to, num.New)
}

// moveTo is move into an array of n numbers with unspecified values that room returns.
func (g *Grid) moveTo(ctx context.Context, v view, to layout, room func(f num.Format, n int) *num.Array) (num.Mat, error) {
	f := v.Arr.Format
	mine, minor := v.own()
	rows, cols := to.part(g.row, g.col)
	z := num.Mat{Arr: room(f, len(rows)*len(cols)), RS: 1, CS: max(len(rows), 1), Rows: len(rows), Cols: len(cols)}
	if g.rows == 1 && g.cols > 1 && v.whole() && g.everywhere(v, to) {
		return z, g.gather(ctx, v.s, z)
	}
	rowAt, colAt := places(rows, v.Rows), places(cols, v.Cols)
	from, into := make([]patch, g.size()), make([]patch, g.size())
	for p := range g.size() {
		r, c := to.part(p/g.cols, p%g.cols)
		from[p] = v.patch(common(mine, r), common(minor, c))
		r, c = v.part(p/g.cols, p%g.cols)
		into[p] = patchOf(z, selected(rowAt, common(r, rows)), selected(colAt, common(c, cols)), v.transposed)
	}
	steps := int((int64(v.Rows)*int64(v.Cols)*num.SizeOf(f) + g.step - 1) / g.step)
	for k := range steps {
		if err := g.exchange(ctx, f, some(from, k, steps), some(into, k, steps)); err != nil {
			return z, err
		}
	}
	return z, nil
}

// everywhere reports whether all processes get all of v, and v is not empty.
func (g *Grid) everywhere(v view, to layout) bool {
	for p := range g.size() {
		if rows, cols := to.part(p/g.cols, p%g.cols); !slices.Equal(rows, count(v.Rows)) || !slices.Equal(cols, count(v.Cols)) {
			return false
		}
	}
	return v.Rows*v.Cols > 0
}

// gather gives all processes of a grid with a single row the whole matrix. The columns of a block
// are consecutive in both the storage and z, so that numbers are sent directly from one to the
// other, a block of each process at a time, without packing and unpacking messages.
func (g *Grid) gather(ctx context.Context, s *storage, z num.Mat) error {
	from, into := lanesOf(s.local), lanesOf(z.Arr)
	counts := make([]int, g.cols)
	for first, own := 0, 0; first < s.cols; first += g.block * g.cols { // own: the column here
		left := s.cols - first
		part := func(p int) (at, n int) { return min(p*g.block, left), min(max(left-p*g.block, 0), g.block) }
		at, n := part(g.col)
		for l, to := range into {
			column := s.rows * to.width
			for p := range counts {
				_, k := part(p)
				counts[p] = k * column
			}
			all := to.bytes[first*column:][:min(left, g.block*g.cols)*column]
			copy(all[at*column:], from[l].bytes[own*column:][:n*column])
			if err := g.to.AllgatherInPlace(ctx, all, counts); err != nil {
				return err
			}
		}
		own += n
	}
	return nil
}

// some returns part k of n of the lines of patches.
func some(list []patch, k, n int) []patch {
	z := slices.Clone(list)
	for p, q := range list {
		lines := len(q.starts)
		z[p].starts = q.starts[lines*k/n : lines*(k+1)/n]
	}
	return z
}

// exchange sends the numbers of from[p] to process p, and stores the numbers received from process
// p in into[p].
func (g *Grid) exchange(ctx context.Context, f num.Format, from, into []patch) error {
	size, me := int(num.SizeOf(f)), g.to.Rank()
	sent, got := make([]int, g.size()), make([]int, g.size())
	for p := range g.size() {
		if p != me {
			sent[p], got[p] = from[p].numbers()*size, into[p].numbers()*size
		}
	}
	into[me].set(from[me])
	out, in := message(sent), message(got)
	for p, text := range parts(out, sent) {
		letter(text, f, from[p]).set(from[p])
	}
	if err := g.to.Alltoall(ctx, out, in, sent, got); err != nil {
		return err // the library may still use the messages
	}
	for p, text := range parts(in, got) {
		into[p].set(letter(text, f, into[p]))
	}
	keep(out)
	keep(in)
	return nil
}

// parts yields the nonempty messages in a buffer.
func parts(b []byte, lengths []int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for p, n := range lengths {
			if n > 0 && !yield(p, b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// selected returns list[i] for all i in indices.
func selected(list, indices []int) []int {
	z := make([]int, len(indices))
	for k, i := range indices {
		z[k] = list[i]
	}
	return z
}

// store sets the entries of v that this process has from a matrix of the host, whose entry
// (rowAt[i], colAt[j]) is entry (i, j) of v. If rowAt is nil, entry (i, j) of the matrix is entry
// (i, j) of v.
func (v view) store(from num.Mat, rowAt, colAt []int) {
	rows, cols := v.own()
	a, b := rows, cols
	if rowAt != nil {
		a, b = selected(rowAt, rows), selected(colAt, cols)
	}
	v.patch(rows, cols).set(patchOf(from, a, b, v.transposed))
}

// storeOwn is store for a matrix that consists of the rows and columns of v that this process has.
func (v view) storeOwn(from num.Mat) {
	rows, cols := v.own()
	v.store(from, places(rows, v.Rows), places(cols, v.Cols))
}

// ownPart returns a copy of the entries of v that this process has, or the storage itself if v is
// the whole stored matrix.
func (v view) ownPart() num.Mat {
	rows, cols := v.own()
	z := num.Mat{RS: 1, CS: max(len(rows), 1), Rows: len(rows), Cols: len(cols)}
	if v.whole() {
		z.Arr = v.s.local
		return z
	}
	z.Arr = num.New(v.Arr.Format, len(rows)*len(cols))
	patchOf(z, count(len(rows)), count(len(cols)), v.transposed).set(v.patch(rows, cols))
	return z
}

// places returns, for each index below n that is in an ascending list, its position in the list.
func places(list []int, n int) []int {
	at := make([]int, n)
	for k, i := range list {
		at[i] = k
	}
	return at
}

// common returns the indices that are in both of two ascending lists.
func common(a, b []int) (list []int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			list = append(list, a[i])
			i, j = i+1, j+1
		}
	}
	return list
}

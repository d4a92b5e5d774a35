package modular

import "math/bits"

// MostCrout is the largest rank for which Crout eliminates: sums of so many products of elements
// fit in 128 bits.
const MostCrout = 64

// Echelon is a matrix G of elements in echelon form, of rank r.
type Echelon struct {
	Order        []int // rows of G: the pivots' ones first, then the others
	Odd          bool  // Order is an odd permutation
	Pivots, Free []int // columns
	Det          uint64
	// X are the multiples of the pivot columns: entry k r + i is the multiple of column Pivots[i]
	// in column Free[k]. It has no meaning if Outside[k] is set: this column is no combination of
	// the pivot columns.
	X       []uint64
	Outside []bool

	ranks []int    // of the columns before each free column
	space []uint64 // working memory
}

// reset makes e the echelon form without columns of a matrix of some rows, and keeps memory.
func (e *Echelon) reset(f *Field, rows int) {
	*e = Echelon{
		Order: resized(e.Order, rows), Pivots: e.Pivots[:0], Free: e.Free[:0], Det: f.One, X: e.X[:0], Outside: e.Outside[:0],
		ranks: e.ranks[:0], space: e.space,
	}
	for i := range e.Order {
		e.Order[i] = i
	}
}

// resized returns a slice of n numbers, in the memory of x if that is enough.
func resized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// Crout eliminates a small matrix, whose first limit columns, or all rows, are at most MostCrout.
// The pivot of a column before limit is its first entry that is not 0, in a row without a pivot;
// the row changes places with the first such row. Det is the determinant of the pivots' rows, as
// ordered, and columns.
//
// Every number is computed once, from a sum of products that is reduced once (Crout, A short method
// for evaluating determinants and solving systems of linear equations, 1941). Crout returns the
// echelon form in e, whose memory it reuses.
func (f *Field) Crout(rows [][]uint64, cols, limit int, e *Echelon) {
	w := min(len(rows), limit)
	e.reset(f, len(rows))
	e.space = resized(e.space, (len(rows)+cols+1)*w+len(rows))
	room := e.space
	take := func(n int) []uint64 {
		x := room[:n:n]
		room = room[n:]
		return x
	}
	l, u, inverse, v := take(len(rows)*w), take(cols*w), take(w), take(len(rows))
	r := 0
	for j := range cols {
		column := u[j*w : (j+1)*w]
		for k := range r {
			column[k] = f.Mul(f.Sub(rows[e.Order[k]][j], f.dot(l[k*w:k*w+k], column)), inverse[k])
		}
		pivot := -1
		for i := len(rows) - 1; i >= r; i-- {
			if v[i] = f.Sub(rows[e.Order[i]][j], f.dot(l[i*w:i*w+r], column)); v[i] != 0 {
				pivot = i
			}
		}
		if pivot < 0 || j >= limit {
			e.Free, e.Outside, e.ranks = append(e.Free, j), append(e.Outside, pivot >= 0), append(e.ranks, r)
			continue
		}
		e.Det = f.Mul(e.Det, v[pivot])
		if pivot != r {
			for k := range r {
				l[r*w+k], l[pivot*w+k] = l[pivot*w+k], l[r*w+k]
			}
			v[r], v[pivot] = v[pivot], v[r]
			e.Order[r], e.Order[pivot] = e.Order[pivot], e.Order[r]
			e.Odd = !e.Odd
		}
		inverse[r] = f.Invert(v[r])
		for i := r; i < len(rows); i++ {
			l[i*w+r] = v[i]
		}
		e.Pivots = append(e.Pivots, j)
		r++
	}
	if len(e.Free) == 0 {
		return
	}
	// Substitution with the rows of U, right of the diagonal, in the room of L.
	for k := range r {
		for t := k + 1; t < r; t++ {
			l[k*w+t] = u[e.Pivots[t]*w+k]
		}
	}
	e.X = resized(e.X, len(e.Free)*r)
	for c, j := range e.Free {
		x := e.X[c*r : (c+1)*r]
		clear(x[e.ranks[c]:])
		copy(x, u[j*w:j*w+e.ranks[c]])
		for k := e.ranks[c] - 1; k >= 0; k-- {
			x[k] = f.Sub(x[k], f.dot(l[k*w+k+1:k*w+e.ranks[c]], x[k+1:]))
		}
	}
}

// Dot returns the sum of the products of elements; y may be longer.
func (f *Field) Dot(x, y []uint64) (z uint64) {
	for len(x) > MostCrout {
		z = f.Add(z, f.dot(x[:MostCrout], y))
		x, y = x[MostCrout:], y[MostCrout:]
	}
	return f.Add(z, f.dot(x, y))
}

// dot is Dot for up to MostCrout elements.
func (f *Field) dot(x, y []uint64) uint64 {
	y = y[:len(x)]
	var hi, lo, carry uint64
	for len(x) >= 4 && len(y) >= 4 {
		h, l := bits.Mul64(x[0], y[0])
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
		h, l = bits.Mul64(x[1], y[1])
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
		h, l = bits.Mul64(x[2], y[2])
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
		h, l = bits.Mul64(x[3], y[3])
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		h, l := bits.Mul64(v, y[i])
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	return f.Add(f.reduce(0, lo), f.word(hi))
}

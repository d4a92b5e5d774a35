package modular

import "math/bits"

// MostCrout is the largest rank for which Crout eliminates: sums of so many products of elements
// fit in 128 bits.
const MostCrout = 64

// Echelon is a matrix G of elements in echelon form, of rank r.
type Echelon struct {
	Order        []int // rows of G: the pivots' ones first, then the others
	Pivots, Free []int // columns
	Det          uint64
	// X are the multiples of the pivot columns: entry k r + i is the multiple of column Pivots[i]
	// in column Free[k]. It has no meaning if Outside[k] is set: this column is no combination of
	// the pivot columns.
	X       []uint64
	Outside []bool
}

// Crout eliminates a small matrix, whose first limit columns, or all rows, are at most MostCrout.
// The pivot of a column before limit is its first entry that is not 0, in a row without a pivot;
// the row changes places with the first such row. Det is the determinant of the pivots' rows, as
// ordered, and columns.
//
// Every number is computed once, from a sum of products that is reduced once (Crout, A short method
// for evaluating determinants and solving systems of linear equations, 1941). space is working
// memory that calls may share one after the other; Crout enlarges it.
func (f *Field) Crout(rows [][]uint64, cols, limit int, space *[]uint64) *Echelon {
	w := min(len(rows), limit)
	e := &Echelon{Order: make([]int, len(rows)), Det: f.One}
	if need := (len(rows)+cols+1)*w + len(rows); len(*space) < need {
		*space = make([]uint64, need)
	}
	room := *space
	take := func(n int) []uint64 {
		x := room[:n:n]
		room = room[n:]
		return x
	}
	l, u, inverse, v := take(len(rows)*w), take(cols*w), take(w), take(len(rows))
	for i := range e.Order {
		e.Order[i] = i
	}
	r := 0
	ranks := make([]int, 0, cols) // of the columns before a free column
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
			e.Free, e.Outside, ranks = append(e.Free, j), append(e.Outside, pivot >= 0), append(ranks, r)
			continue
		}
		e.Det = f.Mul(e.Det, v[pivot])
		if pivot != r {
			for k := range r {
				l[r*w+k], l[pivot*w+k] = l[pivot*w+k], l[r*w+k]
			}
			v[r], v[pivot] = v[pivot], v[r]
			e.Order[r], e.Order[pivot] = e.Order[pivot], e.Order[r]
		}
		inverse[r] = f.Invert(v[r])
		for i := r; i < len(rows); i++ {
			l[i*w+r] = v[i]
		}
		e.Pivots = append(e.Pivots, j)
		r++
	}
	if len(e.Free) == 0 {
		return e
	}
	// Substitution with the rows of U, right of the diagonal, in the room of L.
	for k := range r {
		for t := k + 1; t < r; t++ {
			l[k*w+t] = u[e.Pivots[t]*w+k]
		}
	}
	e.X = make([]uint64, len(e.Free)*r)
	for c, j := range e.Free {
		x := e.X[c*r : (c+1)*r]
		copy(x, u[j*w:j*w+ranks[c]])
		for k := ranks[c] - 1; k >= 0; k-- {
			x[k] = f.Sub(x[k], f.dot(l[k*w+k+1:k*w+ranks[c]], x[k+1:]))
		}
	}
	return e
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

package modular

import "math/bits"

// MostCross is the order up to which Cross is faster than Crout: with one inverse in all it does
// without the inverse of each pivot, and takes about three multiplications of words a step instead
// of one.
const MostCross = 16

// Cross is Crout for a smaller matrix of elements, stored row by row, which it overwrites. It
// returns the echelon form in e, whose memory it reuses. A pivot multiplies the rows below it, so
// that no quotient is needed:
//
//	a_ij <- a_kl a_ij - a_il a_kj, i > k.
//
// Two pivots in columns side by side eliminate the rows below them together, with one reduction.
func (f *Field) Cross(a []uint64, rows, cols, limit int, e *Echelon) {
	e.reset(f, rows)
	// Rows below the pivots are multiplied by factor. factors is the product of the factors of the
	// rows of pivots.
	factor, factors := f.One, f.One
	r := 0
	for j := 0; j < cols; j++ {
		k := r
		for k < rows && a[k*cols+j] == 0 {
			k++
		}
		if k == rows || j >= limit {
			e.Free, e.Outside, e.ranks = append(e.Free, j), append(e.Outside, k < rows), append(e.ranks, r)
			continue
		}
		if k != r {
			e.exchange(a, cols, j, k, r)
		}
		take := func(pivot uint64) { // as the next pivot
			r++
			e.Pivots = append(e.Pivots, j)
			e.Det, factors = f.Mul(e.Det, pivot), f.Mul(factors, factor)
			factor = f.Mul(factor, pivot)
		}
		top := a[r*cols+j : (r+1)*cols]
		take(top[0])
		if len(top) == 1 {
			continue
		}
		k = -1 // the next pivot's row, if column j + 1 has one
		for i := rows - 1; i >= r; i-- {
			row := a[i*cols+j : (i+1)*cols]
			if f.crossed(row[:2], top); row[1] != 0 {
				k = i
			}
		}
		if k < 0 || j+1 >= limit {
			for i := r; i < rows; i++ {
				f.cross(a[i*cols+j:(i+1)*cols], top)
			}
			continue
		}
		if k != r {
			e.exchange(a, cols, j, k, r)
		}
		second := a[r*cols+j : (r+1)*cols]
		f.cross(second, top)
		j++
		take(second[1])
		for i := r; i < rows; i++ {
			f.crossTwice(a[i*cols+j-1:(i+1)*cols], top, second)
		}
	}
	if len(e.Free) == 0 || r == 0 {
		e.Det = f.Mul(e.Det, f.Invert(factors))
		return
	}
	// The inverses of all pivots and of factors, from one inverse of their product.
	e.space = resized(e.space, r*r+r)
	u, inverse := e.space[:r*r], e.space[r*r:]
	product := factors
	for k, j := range e.Pivots {
		inverse[k] = product
		product = f.Mul(product, a[k*cols+j])
		for t := k + 1; t < r; t++ {
			u[k*r+t] = a[k*cols+e.Pivots[t]]
		}
	}
	product = f.Invert(product)
	for k := r - 1; k >= 0; k-- {
		inverse[k] = f.Mul(inverse[k], product)
		product = f.Mul(product, a[k*cols+e.Pivots[k]])
	}
	e.Det = f.Mul(e.Det, product)
	e.X = resized(e.X, len(e.Free)*r)
	for c, j := range e.Free {
		x := e.X[c*r : (c+1)*r]
		clear(x[e.ranks[c]:])
		for k := e.ranks[c] - 1; k >= 0; k-- {
			y := f.Sub(a[k*cols+j], f.dot(u[k*r+k+1:k*r+e.ranks[c]], x[k+1:]))
			x[k] = f.Mul(y, inverse[k])
		}
	}
}

// exchange exchanges rows i and k from column j on.
func (e *Echelon) exchange(a []uint64, cols, j, i, k int) {
	x, y := a[i*cols+j:(i+1)*cols], a[k*cols+j:(k+1)*cols]
	for c := range x {
		x[c], y[c] = y[c], x[c]
	}
	e.Order[i], e.Order[k] = e.Order[k], e.Order[i]
	e.Odd = !e.Odd
}

// crossed sets row[1] to top[0] row[1] - row[0] top[1].
func (f *Field) crossed(row, top []uint64) {
	h0, l0 := bits.Mul64(top[0], row[1]) // the sum is below 2 p²
	h1, l1 := bits.Mul64(f.P-row[0], top[1])
	lo, carry := bits.Add64(l0, l1, 0)
	hi, _ := bits.Add64(h0, h1, carry)
	row[1] = f.reduce(hi, lo)
}

// cross sets row[c] to top[0] row[c] - row[0] top[c] for c > 1.
func (f *Field) cross(row, top []uint64) {
	pivot, by := top[0], f.P-row[0]
	row, top = row[2:], top[2:]
	row = row[:len(top)]
	for c, x := range top {
		h0, l0 := bits.Mul64(pivot, row[c])
		h1, l1 := bits.Mul64(by, x)
		lo, carry := bits.Add64(l0, l1, 0)
		hi, _ := bits.Add64(h0, h1, carry)
		row[c] = f.reduce(hi, lo)
	}
}

// crossTwice is cross by the rows x and y, where row[1] is known after cross by x: it sets row[c],
// c > 1, to
//
//	y[1] (x[0] row[c] - row[0] x[c]) - row[1] y[c].
func (f *Field) crossTwice(row, x, y []uint64) {
	pivots, byX, byY := f.Mul(x[0], y[1]), f.Mul(f.P-row[0], y[1]), f.P-row[1]
	row, x, y = row[2:], x[2:], y[2:]
	x, y = x[:len(row)], y[:len(row)]
	for c, v := range row { // sums are below 3 p² < 2^64 p
		h0, l0 := bits.Mul64(pivots, v)
		h1, l1 := bits.Mul64(byX, x[c])
		lo, carry := bits.Add64(l0, l1, 0)
		hi, _ := bits.Add64(h0, h1, carry)
		h1, l1 = bits.Mul64(byY, y[c])
		lo, carry = bits.Add64(lo, l1, 0)
		hi, _ = bits.Add64(hi, h1, carry)
		row[c] = f.reduce(hi, lo)
	}
}

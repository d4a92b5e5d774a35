package modular

import "math/bits"

// MostCross is the order up to which Cross is faster than Crout: with one inverse in all it does
// without the inverse of each pivot, and takes four multiplications of words a step instead of one.
const MostCross = 16

// Cross is Crout for a smaller matrix of elements, stored row by row, which it overwrites. It
// returns the echelon form in e, whose memory it reuses. A pivot multiplies the rows below it, so
// that no quotient is needed:
//
//	a_ij <- a_kl a_ij - a_il a_kj, i > k.
func (f *Field) Cross(a []uint64, rows, cols, limit int, e *Echelon) {
	e.reset(f, rows)
	// Rows below the pivots are multiplied by factor. factors is the product of the factors of the
	// rows of pivots.
	factor, factors := f.One, f.One
	r := 0
	for j := range cols {
		k := r
		for k < rows && a[k*cols+j] == 0 {
			k++
		}
		if k == rows || j >= limit {
			e.Free, e.Outside, e.ranks = append(e.Free, j), append(e.Outside, k < rows), append(e.ranks, r)
			continue
		}
		if k != r {
			x, y := a[k*cols+j:(k+1)*cols], a[r*cols+j:(r+1)*cols]
			for c := range x {
				x[c], y[c] = y[c], x[c]
			}
			e.Order[k], e.Order[r] = e.Order[r], e.Order[k]
			e.Odd = !e.Odd
		}
		pivot, top := a[r*cols+j], a[r*cols+j+1:(r+1)*cols]
		r++
		for i := r; i < rows; i++ {
			row := a[i*cols+j : (i+1)*cols]
			by := f.P - row[0]
			row = row[1:]
			row = row[:len(top)]
			for c, x := range top { // below 2 p²
				h0, l0 := bits.Mul64(pivot, row[c])
				h1, l1 := bits.Mul64(by, x)
				lo, carry := bits.Add64(l0, l1, 0)
				hi, _ := bits.Add64(h0, h1, carry)
				row[c] = f.reduce(hi, lo)
			}
		}
		e.Pivots = append(e.Pivots, j)
		e.Det, factors = f.Mul(e.Det, pivot), f.Mul(factors, factor)
		factor = f.Mul(factor, pivot)
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

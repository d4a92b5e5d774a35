package interval

// InvertBlock encloses the inverse of the block of x in rows and columns from b on; nil if it may
// be singular, or if exponents leave what operations may have.
func (p Prec) InvertBlock(x [][]Interval, b, size int) [][]Interval {
	d := x[b][b]
	if size == 1 {
		if d.HasZero() {
			return nil
		}
		return [][]Interval{{p.over(OfInt(1), d)}}
	}
	above, below, e := x[b][b+1], x[b+1][b], x[b+1][b+1]
	det := p.Sub(p.times(d, e), p.times(above, below))
	if !within(det) || det.HasZero() {
		return nil
	}
	z := [][]Interval{
		{p.over(e, det), p.over(above, det).negative()},
		{p.over(below, det).negative(), p.over(d, det)},
	}
	for _, row := range z {
		for _, x := range row {
			if !within(x) { // products with it might be 0 where they are not
				return nil
			}
		}
	}
	return z
}

// EliminateRow makes entries of a row those of L, in the columns of a block from b on, and takes
// what the rows of the block eliminate from the others; not ok if exponents leave what operations
// may have.
func (p Prec) EliminateRow(row []Interval, block, inverse [][]Interval, b int) (ok bool) {
	size := len(block)
	l := make([]Interval, size)
	for c := range l {
		l[c] = p.times(row[b], inverse[0][c])
		if size == 2 {
			l[c] = p.Sub(l[c], p.times(row[b+1], inverse[1][c]).negative())
		}
		if !within(l[c]) {
			return false
		}
	}
	copy(row[b:], l)
	for c, x := range l {
		if x.IsZero() {
			continue
		}
		for j, y := range block[c] {
			if j < b+size || y.IsZero() {
				continue
			}
			if row[j] = p.Sub(row[j], p.times(x, y)); !within(row[j]) {
				return false
			}
		}
	}
	return true
}

// times is mul with fewer products for negative numbers.
func (p Prec) times(x, y Interval) Interval {
	if y.Hi.Sign() <= 0 {
		return p.Mul(x, y.negative()).negative()
	}
	return p.Mul(x, y)
}

// over returns x/y for a y without 0.
func (p Prec) over(x, y Interval) Interval {
	if y.Lo.Sign() < 0 {
		return p.Quo(x, y.negative()).negative()
	}
	return p.Quo(x, y)
}

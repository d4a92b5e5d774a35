package interval

// InvertBlock encloses the inverse of the block of x of order size, 1 or 2, that begins in row and
// column b. It returns nil if the block may be singular, or if exponents leave the range in which
// operations are safe.
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
			if !within(x) { // products with it might underflow to 0
				return nil
			}
		}
	}
	return z
}

// EliminateRow replaces the entries of a row in the columns of a block, from b on, by entries of L,
// and subtracts their multiples of the block's rows from the other entries. It is not ok if
// exponents leave the range in which operations are safe.
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

// times is Mul, with fewer products if y is negative.
func (p Prec) times(x, y Interval) Interval {
	if y.Hi.Sign() <= 0 {
		return p.Mul(x, y.negative()).negative()
	}
	return p.Mul(x, y)
}

// over encloses x/y, for a y that does not contain 0.
func (p Prec) over(x, y Interval) Interval {
	if y.Lo.Sign() < 0 {
		return p.Quo(x, y.negative()).negative()
	}
	return p.Quo(x, y)
}

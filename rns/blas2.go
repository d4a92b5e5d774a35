package rns

// Transpose says whether a matrix is transposed.
type Transpose bool

// The values of Transpose.
const (
	NoTrans Transpose = false
	Trans   Transpose = true
)

// gemvShapes panics unless A, or its transpose, times x fits y.
func gemvShapes(trans Transpose, a *Matrix, x, y *Vector) {
	rows, cols := a.rows, a.cols
	if trans {
		rows, cols = cols, rows
	}
	if !a.arr.b.same(x.arr.b) || !a.arr.b.same(y.arr.b) {
		panic(errBase)
	}
	if x.n != cols || y.n != rows {
		panic(errShape)
	}
}

// Gemv sets y = α A x + β y, or y = α Aᵀ x + β y, by algorithm 1 of the papers (001):
//
//  1. d_j = fl(α x_j);
//  2. y_i = fl(β y_i), or 0 for β = 0, which leaves y unread;
//  3. b_ij = fl(a_ij d_j), B = A diag(d), or diag(d) A for the transpose;
//  4. the rows of B, or its columns, are summed, each by one block of o.BlockSize
//     threads as in steps 1 and 2 of Reduce3 with one block, and y_i = fl(sum + y_i).
//
// α = 0 leaves A and x unread. y must not overlap A and x. Every product and sum is
// rounded as those of Number are, in this order, so an implementation in ten launches on
// a GPU gives the same bits. The error is bounded by (18) and (19) of the paper, which
// o.Bound receives.
func Gemv(trans Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, o *Options) {
	gemvShapes(trans, a, x, y)
	p, b := o.with(), a.arr.b
	_ = b.scalars(alpha, beta)
	var limit XFloat
	if p.Bound != nil {
		limit = gemvBound(trans, alpha, a, x, beta, y)
	}
	scaleBy(beta, y, &p)
	if !alpha.IsZero() {
		d := x.Clone()
		Scal(alpha, d, &p)
		p.blocks(b, y.n, func(i int, s *block) {
			row := a.line(trans, i)
			sum := s.row(d.n, func(j int, s *block) val {
				u, v := row.val(j), d.val(j)
				b.mul(&s.temp, &u, &v, s.w)
				return s.temp
			})
			z, u := y.val(i), y.val(i)
			b.add(&z, &sum, &u, false, s.w)
			y.put(i, &z)
		})
	}
	if p.Bound != nil {
		*p.Bound = newBound(limit, y)
	}
}

// line returns row i of A, or of its transpose.
func (m *Matrix) line(trans Transpose, i int) *Vector {
	if trans {
		return m.Col(i)
	}
	return m.Row(i)
}

// scaleBy sets y = β y, 0 for β = 0.
func scaleBy(beta *Number, y *Vector, p *Options) {
	if !beta.IsZero() {
		Scal(beta, y, p)
		return
	}
	for i := range y.n {
		z := y.val(i)
		z.setZero()
		y.put(i, &z)
	}
}

// GemvBasic sets y = α A x + β y, or y = α Aᵀ x + β y, by the loops of the reference BLAS,
// one operation after the other, the "basic implementation" of the paper:
// y_i = fl(β y_i), then y_i = fl(y_i + fl(fl(α x_j) a_ij)) for j = 1, 2, …; for the
// transpose t = fl(t + fl(a_ij x_i)) for i = 1, 2, … and y_j = fl(y_j + fl(α t)). Special
// cases and the bound on the error are those of Gemv.
func GemvBasic(trans Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, o *Options) {
	gemvShapes(trans, a, x, y)
	p, b := o.with(), a.arr.b
	al := b.scalars(alpha, beta)
	var limit XFloat
	if p.Bound != nil {
		limit = gemvBound(trans, alpha, a, x, beta, y)
	}
	scaleBy(beta, y, &p)
	if !alpha.IsZero() {
		d := x
		if !trans {
			d = x.Clone()
			Scal(alpha, d, &p)
		}
		p.each(b, y.n, func(lo, hi int, w *scratch) {
			t, s := val{x: w.s}, val{x: w.r}
			for i := lo; i < hi; i++ {
				row, z := a.line(trans, i), y.val(i)
				if trans {
					s.setZero()
				} else {
					s.set(&z)
				}
				for j := range d.n {
					u, v := row.val(j), d.val(j)
					b.mul(&t, &u, &v, w)
					b.addTo(&s, &t, w)
				}
				if trans {
					b.mul(&t, &al[0], &s, w)
					b.addTo(&z, &t, w)
				} else {
					z.set(&s)
				}
				y.put(i, &z)
			}
		})
	}
	if p.Bound != nil {
		*p.Bound = newBound(limit, y)
	}
}

// Ger sets a_ij = fl(a_ij + fl(fl(α x_i) y_j)). A must not overlap x and y.
func Ger(alpha *Number, x, y *Vector, a *Matrix, o *Options) {
	p, b := o.with(), a.arr.b
	if !b.same(x.arr.b) || !b.same(y.arr.b) {
		panic(errBase)
	}
	if x.n != a.rows || y.n != a.cols {
		panic(errShape)
	}
	d := x.Clone()
	Scal(alpha, d, &p)
	p.columns(a, func(j, lo, hi int, w *scratch) {
		t, v := val{x: w.s}, y.val(j)
		for i := lo; i < hi; i++ {
			u, z := d.val(i), a.val(i, j)
			b.mul(&t, &u, &v, w)
			b.addTo(&z, &t, w)
			a.put(i, j, &z)
		}
	})
}

// columns calls f for parts lo ≤ i < hi of the columns j of a matrix.
func (o *Options) columns(a *Matrix, f func(j, lo, hi int, w *scratch)) {
	if a.rows == 0 {
		return
	}
	o.each(a.arr.b, a.rows*a.cols, func(lo, hi int, w *scratch) {
		for lo < hi {
			j, i := lo/a.rows, lo%a.rows
			end := min(a.rows, i+hi-lo)
			f(j, i, end, w)
			lo += end - i
		}
	})
}

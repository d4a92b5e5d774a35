package rns

// Routines on matrices. Those that work entry by entry may write to an input.

// like panics unless matrices have the base and shape of a.
func (m *Matrix) like(bs ...*Matrix) {
	for _, b := range bs {
		if !m.arr.b.same(b.arr.b) {
			panic(errBase)
		}
		if m.rows != b.rows || m.cols != b.cols {
			panic(errShape)
		}
	}
}

// GeAdd sets c_ij = fl(fl(α a_ij) + fl(β b_ij)).
func GeAdd(alpha *Number, a *Matrix, beta *Number, b, c *Matrix, o *Options) {
	a.like(b, c)
	p := o.with()
	p.columns(a, func(j, lo, hi int, w *scratch) {
		base := a.arr.b
		f, t, s := base.scalars(alpha, beta), val{x: w.s}, val{x: w.r}
		for i := lo; i < hi; i++ {
			u, v, z := a.val(i, j), b.val(i, j), c.val(i, j)
			base.mul(&t, &f[0], &u, w)
			base.mul(&s, &f[1], &v, w)
			base.add(&z, &t, &s, false, w)
			c.put(i, j, &z)
		}
	})
}

// GeAcc sets b_ij = fl(fl(α a_ij) + fl(β b_ij)).
func GeAcc(alpha *Number, a *Matrix, beta *Number, b *Matrix, o *Options) {
	GeAdd(alpha, a, beta, b, b, o)
}

// Side says on which side of a matrix a diagonal one stands.
type Side int

// The sides: diag(d) A and A diag(d).
const (
	Left Side = iota
	Right
)

// GeDiagScale sets A = diag(d) A, a_ij = fl(d_i a_ij), or A = A diag(d), a_ij = fl(a_ij d_j).
func GeDiagScale(side Side, d *Vector, a *Matrix, o *Options) {
	switch side {
	case Left:
		geScale(d, a, nil, o)
	case Right:
		geScale(nil, a, d, o)
	default:
		panic(errSide)
	}
}

// GeLRScale sets A = diag(l) A diag(r), a_ij = fl(fl(l_i a_ij) r_j).
func GeLRScale(l *Vector, a *Matrix, r *Vector, o *Options) { geScale(l, a, r, o) }

// geScale multiplies by the diagonals that are not nil.
func geScale(l *Vector, a *Matrix, r *Vector, o *Options) {
	b := a.arr.b
	for _, d := range []struct {
		v *Vector
		n int
	}{{l, a.rows}, {r, a.cols}} {
		if d.v != nil && !b.same(d.v.arr.b) {
			panic(errBase)
		}
		if d.v != nil && d.v.n != d.n {
			panic(errShape)
		}
	}
	p := o.with()
	p.columns(a, func(j, lo, hi int, w *scratch) {
		for i := lo; i < hi; i++ {
			z := a.val(i, j)
			if l != nil {
				u, v := z, l.val(i)
				b.mul(&z, &v, &u, w)
			}
			if r != nil {
				u, v := z, r.val(j)
				b.mul(&z, &u, &v, w)
			}
			a.put(i, j, &z)
		}
	})
}

// GeNorm returns the largest of the sums of |a_ij| over columns (OneNorm) or rows (InfNorm),
// each summed by one block of threads like the rows in Gemv.
func GeNorm(kind Norm, a *Matrix, o *Options) *Number {
	trans, n, length := Trans, a.cols, a.rows
	switch kind {
	case OneNorm:
	case InfNorm:
		trans, n, length = NoTrans, a.rows, a.cols
	default:
		panic(errNorm)
	}
	p, sums := o.with(), a.arr.b.NewVector(n)
	p.blocks(a.arr.b, n, func(i int, s *block) {
		line := a.line(trans, i)
		sum := s.row(length, func(j int, _ *block) val {
			v := line.val(j)
			v.neg = false
			return v
		})
		z := sums.val(i)
		z.set(&sum)
		sums.put(i, &z)
	})
	return largest(sums)
}

// Gemm sets c_ij = fl(fl(α s) + fl(β c_ij)), s the recursive sum of fl(a_ik b_kj) over
// k = 1, 2, …, for A or its transpose and B or its transpose. β = 0 leaves C unread, α = 0
// A and B. C must not overlap A and B.
func Gemm(transA, transB Transpose, alpha *Number, a, b *Matrix, beta *Number, c *Matrix, o *Options) {
	rows, inner := a.rows, a.cols
	if transA {
		rows, inner = inner, rows
	}
	k, cols := b.rows, b.cols
	if transB {
		k, cols = cols, k
	}
	base := c.arr.b
	if !base.same(a.arr.b) || !base.same(b.arr.b) {
		panic(errBase)
	}
	if k != inner || c.rows != rows || c.cols != cols {
		panic(errShape)
	}
	p, f := o.with(), base.scalars(alpha, beta)
	p.columns(c, func(j, lo, hi int, w *scratch) {
		t, s := val{x: w.s}, val{x: w.r}
		col := b.line(!transB, j)
		for i := lo; i < hi; i++ {
			s.setZero()
			if !f[0].isZero() {
				row := a.line(transA, i)
				for k := range inner {
					u, v := row.val(k), col.val(k)
					base.mul(&t, &u, &v, w)
					base.addTo(&s, &t, w)
				}
				t.set(&s)
				base.mul(&s, &f[0], &t, w)
			}
			z := c.val(i, j)
			if f[1].isZero() {
				z.set(&s)
			} else {
				base.mul(&t, &f[1], &z, w)
				base.add(&z, &s, &t, false, w)
			}
			c.put(i, j, &z)
		}
	})
}

package rns

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Routines on matrices. Routines that work entry by entry may write to an input.

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
func GeAdd(alpha *Number, a *Matrix, beta *Number, b, c *Matrix, opt *Options) error {
	return geAdd("GeAdd", alpha, a, beta, b, c, opt)
}

// GeAcc sets b_ij = fl(fl(α a_ij) + fl(β b_ij)).
func GeAcc(alpha *Number, a *Matrix, beta *Number, b *Matrix, opt *Options) error {
	return geAdd("GeAcc", alpha, a, beta, b, b, opt)
}

func geAdd(name string, alpha *Number, a *Matrix, beta *Number, b, c *Matrix, opt *Options) error {
	a.like(b, c)
	base := a.arr.b
	f := base.scalars(alpha, beta)
	r, err := begin(name, opt, base, a.view(), b.view(), c.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.columns(a, 1, func(j, lo, hi int, w *scratch) {
			t, s := val{x: w.s}, val{x: w.r}
			for i := lo; i < hi; i++ {
				u, v, z := a.val(i, j), b.val(i, j), c.val(i, j)
				base.mul(&t, &f[0], &u, w)
				base.mul(&s, &f[1], &v, w)
				base.add(&z, &t, &s, false, w)
				c.put(i, j, &z)
			}
		})
	} else {
		err = r.away([]*Number{alpha, beta}, []view{a.view(), b.view(), c.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Map(a.rows, a.cols, v[0], s[0], v[1], s[1], v[2], false)
		})
	}
	return r.end("sum", err)
}

// GeDiagScale sets A = diag(d) A, a_ij = fl(d_i a_ij), or A = A diag(d), a_ij = fl(a_ij d_j).
func GeDiagScale(side halfulp.Side, d *Vector, a *Matrix, opt *Options) error {
	switch side {
	case halfulp.Left:
		return geScale("GeDiagScale", d, nil, a, opt)
	case halfulp.Right:
		return geScale("GeDiagScale", nil, d, a, opt)
	}
	panic(errSide)
}

// GeLRScale sets A = diag(l) A diag(r), a_ij = fl(fl(l_i a_ij) r_j).
func GeLRScale(l, r *Vector, a *Matrix, opt *Options) error {
	return geScale("GeLRScale", l, r, a, opt)
}

// geScale multiplies by the diagonals that are not nil.
func geScale(name string, left, right *Vector, a *Matrix, opt *Options) error {
	var operands []view
	for _, d := range []struct {
		v *Vector
		n int
	}{{left, a.rows}, {right, a.cols}} {
		switch {
		case d.v == nil:
			continue
		case !a.arr.b.same(d.v.arr.b):
			panic(errBase)
		case d.v.n != d.n:
			panic(errShape)
		}
		operands = append(operands, d.v.view())
	}
	operands = append(operands, a.view())
	r, err := begin(name, opt, a.arr.b, operands...)
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.geScale(left, right, a)
	} else {
		err = r.away(nil, operands, 1, func(q place.RNSQueue, _, v []place.RNSView) error {
			m := v[len(v)-1]
			if left != nil {
				if err := q.Map(a.rows, a.cols, m, v[0], none, none, m, false); err != nil {
					return err
				}
			}
			if right == nil {
				return nil
			}
			return q.Map(a.rows, a.cols, m, v[len(v)-2].T(), none, none, m, false)
		})
	}
	return r.end("scale", err)
}

// geScale is geScale on the CPU.
func (r *run) geScale(left, right *Vector, a *Matrix) error {
	return r.columns(a, 1, func(j, lo, hi int, w *scratch) {
		for i := lo; i < hi; i++ {
			z := a.val(i, j)
			if left != nil {
				u, v := z, left.val(i)
				r.b.mul(&z, &v, &u, w)
			}
			if right != nil {
				u, v := z, right.val(j)
				r.b.mul(&z, &u, &v, w)
			}
			a.put(i, j, &z)
		}
	})
}

// GeNorm returns the largest of the sums of |a_ij| over columns (OneNorm) or rows (InfNorm). One
// block of threads computes each sum, as for the rows in Gemv. For a matrix on a device the sums
// are computed there and compared on the host.
func GeNorm(kind halfulp.Norm, a *Matrix, opt *Options) (*Number, error) {
	if kind != halfulp.OneNorm && kind != halfulp.InfNorm {
		panic(errNorm)
	}
	trans := kind == halfulp.OneNorm
	r, err := begin("GeNorm", opt, a.arr.b, a.view())
	if err != nil {
		return nil, err
	}
	rows, cols := a.op(trans)
	var sums *Vector
	if r.at == nil {
		sums, err = r.lineSums(trans, a)
	} else {
		sums, err = r.sums(rows, []view{a.view()}, func(q place.RNSQueue, v []place.RNSView, z place.RNSView) error {
			return q.RowSums(opView(trans, v[0]), none, rows, cols, r.BlockSize, true, false, z)
		})
	}
	if err != nil {
		return r.number("norm", nil, err)
	}
	z, err := r.largest(sums, 0)
	return r.number("norm", z, err)
}

// lineSums returns the sums of |a_ij| over rows, or columns, on the CPU.
func (r *run) lineSums(trans bool, a *Matrix) (*Vector, error) {
	n, length := a.op(trans)
	if err := r.room(n + min(r.Threads, n)*r.BlockSize); err != nil {
		return nil, err
	}
	sums := a.arr.b.NewVector(n)
	return sums, r.blocks(n, 1, func(i int, s *block) {
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
}

// Gemm sets c_ij = fl(fl(α s) + fl(β c_ij)), s the recursive sum of fl(a_ik b_kj) over k = 1, 2, …,
// for A or its transpose and B or its transpose. β = 0 leaves C unread, α = 0 leaves A and B
// unread. C must not overlap A and B.
func Gemm(transA, transB halfulp.Transpose, alpha *Number, a, b *Matrix, beta *Number, c *Matrix, opt *Options) error {
	tA, tB := isTrans(transA), isTrans(transB)
	rows, inner := a.op(tA)
	k, cols := b.op(tB)
	base := c.arr.b
	if !base.same(a.arr.b) || !base.same(b.arr.b) {
		panic(errBase)
	}
	if k != inner || c.rows != rows || c.cols != cols {
		panic(errShape)
	}
	f := base.scalars(alpha, beta)
	r, err := begin("Gemm", opt, base, a.view(), b.view(), c.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.gemm(tA, tB, &f[0], a, b, &f[1], c)
	} else {
		err = r.away([]*Number{alpha, beta}, []view{a.view(), b.view(), c.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			old, factor := v[2], s[1]
			if beta.IsZero() {
				old, factor = none, none
			}
			if alpha.IsZero() {
				return q.Map(rows, cols, none, none, old, factor, v[2], false)
			}
			t, err := q.New(rows * cols)
			if err != nil {
				return err
			}
			z := place.RNSView{Array: t, RS: 1, CS: rows}
			if err := q.Products(opView(tA, v[0]), opView(tB, v[1]), rows, cols, inner, false, z); err != nil {
				return err
			}
			return q.Map(rows, cols, z, s[0], old, factor, v[2], false)
		})
	}
	return r.end("product", err)
}

// gemm is Gemm on the CPU.
func (r *run) gemm(transA, transB bool, alpha *val, a, b *Matrix, beta *val, c *Matrix) error {
	_, inner := a.op(transA)
	return r.columns(c, inner, func(j, lo, hi int, w *scratch) {
		col := b.line(!transB, j)
		for i := lo; i < hi; i++ {
			z := c.val(i, j)
			r.gemmEntry(alpha, a.line(transA, i), col, beta, &z, w)
			c.put(i, j, &z)
		}
	})
}

// gemmEntry sets z = fl(fl(α s) + fl(β z)) as Gemm does, s the sum of the products of x and y.
func (r *run) gemmEntry(alpha *val, x, y *Vector, beta, z *val, w *scratch) {
	t, s := val{x: w.s}, val{x: w.r}
	s.setZero()
	if !alpha.isZero() {
		r.addProducts(&s, x, y, &t, w)
		t.set(&s)
		r.b.mul(&s, alpha, &t, w)
	}
	if beta.isZero() {
		z.set(&s)
		return
	}
	r.b.mul(&t, beta, z, w)
	r.b.add(z, &s, &t, false, w)
}

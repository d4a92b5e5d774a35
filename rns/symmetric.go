package rns

import (
	"context"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Routines on symmetric matrices. Only one triangle, with the diagonal, is stored; the other one is
// neither read nor written. The operations are symmetric in i and j, so that the two triangles have
// the same bits.

// triangle returns the triangle that u names.
func triangle(u halfulp.Uplo) place.RNSTriangle {
	switch u {
	case halfulp.Upper:
		return place.RNSUpper
	case halfulp.Lower:
		return place.RNSLower
	}
	panic(errUplo)
}

// square panics unless m is square.
func (m *Matrix) square() {
	if m.rows != m.cols {
		panic(errShape)
	}
}

// within returns the part of lo ≤ i < hi for which (i, j) is in the triangle.
func within(t place.RNSTriangle, j, lo, hi int) (int, int) {
	if t == place.RNSUpper {
		return lo, min(hi, j+1)
	}
	return max(lo, j), hi
}

// stored returns entry (i, j) of the symmetric matrix with the stored triangle t.
func (m *Matrix) stored(t place.RNSTriangle, i, j int) val {
	if (t == place.RNSUpper) == (i <= j) {
		return m.val(i, j)
	}
	return m.val(j, i)
}

// Symv sets y = α A x + β y for a symmetric matrix A; a holds the triangle uplo. The order of
// operations is the same as in [Gemv], with rows added as if both triangles were stored. Special
// cases, errors and the bound on the error, (18) and (19) of 001 for opt.Bound, are the same as for
// Gemv. y must not overlap A and x. (MPRES-BLAS adds a row in one thread, and multiplies the sum by
// α.)
func Symv(uplo halfulp.Uplo, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, opt *Options) error {
	t := triangle(uplo)
	a.square()
	gemvShapes(false, a, x, y)
	if opt == nil || opt.Bound == nil {
		return symv(t, alpha, a, x, beta, y, opt)
	}
	_ = a.arr.b.scalars(alpha, beta)
	ctx := opt.Context
	if ctx == nil {
		ctx = context.Background()
	}
	limit, err := boundOfMirrored(ctx, t, alpha, a, x, beta, y)
	if err != nil {
		return fmt.Errorf("rns.Symv: %w", err)
	}
	p := *opt
	p.Bound = nil
	if err := symv(t, alpha, a, x, beta, y, &p); err != nil {
		return err
	}
	*opt.Bound, err = boundOfResult(limit, y)
	return err
}

// symv is Symv without the bound.
func symv(t place.RNSTriangle, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, opt *Options) error {
	return gemv("Symv", halfulp.NoTrans, alpha, a, x, beta, y, opt, gemvMethod{
		here: func(r *run, _ bool, alpha *val, a *Matrix, x, y *Vector) error {
			return r.rowProducts(alpha, x, y, func(i, j int) val { return a.stored(t, i, j) })
		},
		away: func(q place.RNSQueue, r *run, _ bool, alpha place.RNSView, a *Matrix, m, x, y place.RNSView) error {
			d, err := scaledAway(q, alpha, x, a.cols)
			if err != nil {
				return err
			}
			return q.SymmetricRowSums(t, m, d, a.rows, r.BlockSize, y)
		},
	})
}

// boundOfMirrored is boundOfOperands for a symmetric matrix.
func boundOfMirrored(ctx context.Context, t place.RNSTriangle, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector) (XFloat, error) {
	full, err := a.mirrored(t)
	if err != nil {
		return xInf, err
	}
	x, err = x.onHost()
	if err != nil {
		return xInf, err
	}
	y, err = y.onHost()
	if err != nil {
		return xInf, err
	}
	return gemvBound(ctx, false, alpha, full, x, beta, y)
}

// mirrored returns a matrix of the host with both triangles of the symmetric matrix with the stored
// triangle t.
func (m *Matrix) mirrored(t place.RNSTriangle) (*Matrix, error) {
	h, err := m.onHost()
	if err != nil {
		return nil, err
	}
	full := m.arr.b.NewMatrix(m.rows, m.cols)
	for j := range m.cols {
		for i := range m.rows {
			v, z := h.stored(t, i, j), full.val(i, j)
			z.set(&v)
			full.put(i, j, &z)
		}
	}
	return full, nil
}

// Syr sets a_ij = fl(a_ij + fl(α fl(x_i x_j))) in the triangle uplo of A, with an error of at most
// γ₃ |α x_i x_j| + u |a_ij + α x_i x_j|, γ_k = k u / (1 - k u). A must not overlap x.
func Syr(uplo halfulp.Uplo, alpha *Number, x *Vector, a *Matrix, opt *Options) error {
	t := triangle(uplo)
	b := a.rankOne(x)
	f := b.scalars(alpha)
	r, err := begin("Syr", opt, b, x.view(), a.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.triangle(t, a, 1, func(i, j int, z *val, w *scratch) {
			p, s := val{x: w.s}, val{x: w.r}
			u, v := x.val(i), x.val(j)
			b.mul(&p, &u, &v, w)
			b.mul(&s, &p, &f[0], w)
			b.addTo(z, &s, w)
		})
	} else {
		err = r.away([]*Number{alpha}, []view{x.view(), a.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Update(t, a.rows, [3][3]place.RNSView{{v[1]}, {v[0], v[0].T(), s[0]}}, v[1])
		})
	}
	return r.end("update", err)
}

// Syr2 sets a_ij = fl(fl(fl(α fl(x_i y_j)) + fl(α fl(y_i x_j))) + a_ij) in the triangle uplo of A,
// with an error of at most γ₄ (|α x_i y_j| + |α y_i x_j|) + u |a_ij + α x_i y_j + α y_i x_j|, γ_k
// as for [Syr]. A must not overlap x and y.
func Syr2(uplo halfulp.Uplo, alpha *Number, x, y *Vector, a *Matrix, opt *Options) error {
	t := triangle(uplo)
	b := a.rankOne(x, y)
	f := b.scalars(alpha)
	r, err := begin("Syr2", opt, b, x.view(), y.view(), a.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.triangle(t, a, 2, func(i, j int, z *val, w *scratch) {
			p, s, sum := val{x: w.s}, val{x: w.r}, val{x: w.p}
			sum.setZero()
			for _, k := range [2][2]int{{i, j}, {j, i}} {
				u, v := x.val(k[0]), y.val(k[1])
				b.mul(&p, &u, &v, w)
				b.mul(&s, &p, &f[0], w)
				b.addTo(&sum, &s, w)
			}
			b.addTo(z, &sum, w)
		})
	} else {
		err = r.away([]*Number{alpha}, []view{x.view(), y.view(), a.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Update(t, a.rows, [3][3]place.RNSView{
				{v[0], v[1].T(), s[0]}, {v[0].T(), v[1], s[0]}, {v[2]},
			}, v[2])
		})
	}
	return r.end("update", err)
}

// rankOne panics unless m is square and vectors have its base and order, and returns the base.
func (m *Matrix) rankOne(xs ...*Vector) *Base {
	m.square()
	for _, x := range xs {
		if !m.arr.b.same(x.arr.b) {
			panic(errBase)
		}
		if x.n != m.rows {
			panic(errShape)
		}
	}
	return m.arr.b
}

// Syrk sets c_ij = fl(fl(α s) + fl(β c_ij)) in the triangle uplo of C. For C = α A Aᵀ + β C, s is
// the recursive sum of fl(a_ik a_jk) over k = 1, 2, …, K; for the transpose, C = α Aᵀ A + β C, the
// recursive sum of fl(a_ki a_kj). [Gemm] computes the same entries. β = 0 leaves C unread, α = 0
// leaves A unread. The error is at most γ_(K+2) (|α| Σ |a_ik a_jk| + |β c_ij|), γ_k as for [Syr]. C
// must not overlap A.
func Syrk(uplo halfulp.Uplo, trans halfulp.Transpose, alpha *Number, a *Matrix, beta *Number, c *Matrix, opt *Options) error {
	t, tr := triangle(uplo), isTrans(trans)
	n, k := a.op(tr)
	b := c.arr.b
	if !b.same(a.arr.b) {
		panic(errBase)
	}
	c.square()
	if c.rows != n {
		panic(errShape)
	}
	f := b.scalars(alpha, beta)
	r, err := begin("Syrk", opt, b, a.view(), c.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.triangle(t, c, k, func(i, j int, z *val, w *scratch) {
			r.gemmEntry(&f[0], a.line(tr, i), a.line(tr, j), &f[1], z, w)
		})
	} else {
		err = r.away([]*Number{alpha, beta}, []view{a.view(), c.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			var terms [3][3]place.RNSView
			if !alpha.IsZero() && n > 0 {
				sums, err := q.New(n * n)
				if err != nil {
					return err
				}
				z := place.RNSView{Array: sums, RS: 1, CS: n}
				if err := q.SymmetricProducts(t, opView(tr, v[0]), n, k, z); err != nil {
					return err
				}
				terms[0] = [3]place.RNSView{z, s[0]}
			}
			if !beta.IsZero() {
				terms[1] = [3]place.RNSView{v[1], s[1]}
			}
			return q.Update(t, n, terms, v[1])
		})
	}
	return r.end("product", err)
}

// triangle calls f for the entries of a triangle of a matrix, in parallel like columns. z holds the
// entry before the call, and f stores the new one in it.
func (r *run) triangle(t place.RNSTriangle, a *Matrix, cost int, f func(i, j int, z *val, w *scratch)) error {
	return r.columns(a, cost, func(j, lo, hi int, w *scratch) {
		lo, hi = within(t, j, lo, hi)
		for i := lo; i < hi; i++ {
			z := a.val(i, j)
			f(i, j, &z, w)
			a.put(i, j, &z)
		}
	})
}

package rns

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// isTrans reports whether t asks for the transpose.
func isTrans(t halfulp.Transpose) bool {
	switch t {
	case halfulp.NoTrans:
		return false
	case halfulp.Trans, halfulp.ConjTrans:
		return true
	}
	panic(errTranspose)
}

// op returns the dimensions of A, or of its transpose.
func (m *Matrix) op(trans bool) (rows, cols int) {
	if trans {
		return m.cols, m.rows
	}
	return m.rows, m.cols
}

// opView returns the view v of a matrix on a device, or of its transpose.
func opView(trans bool, v place.RNSView) place.RNSView {
	if trans {
		return v.T()
	}
	return v
}

// gemvShapes panics unless A, or its transpose, times x fits y.
func gemvShapes(trans bool, a *Matrix, x, y *Vector) {
	rows, cols := a.op(trans)
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
//  4. the rows of B, or its columns, are summed, each by one block of opt.BlockSize
//     threads as in steps 1 and 2 of Reduce3 with one block, and y_i = fl(sum + y_i).
//
// α = 0 leaves A and x unread. y must not overlap A and x. Every product and sum is rounded like an
// operation of Number, in this order. (18) and (19) of the paper bound the error; opt.Bound
// receives these bounds.
//
// Products of step 3 are added as they are made, and B is never stored: on a GPU these are four
// launches.
//
// With opt.Variant = [Published] the result has the same bits, but B is stored, and products are
// made in three passes: signs, exponents and interval evaluations; digits; rounding. On a GPU these
// are the ten launches of the paper, on copies of operands as its mp_array_t: one thread a number,
// on a two-dimensional grid for B; one thread a residue, in blocks of at least MinBS threads
// (formula 8); one thread a number; and the sums of step 4 by blocks of opt.BlockSize threads, one
// thread an addition, in shared memory. There, blocks of more than 256 threads, or of more than
// shared memory has room for, are an error that wraps halfulp.ErrOptions. Stats.Stages has the time
// of every step, as a GPU's events measure it, and then the time of the copies.
func Gemv(trans halfulp.Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, opt *Options) error {
	return gemv("Gemv", trans, alpha, a, x, beta, y, opt, gemvMethod{(*run).gemv, gemvAway, (*run).algorithm1, algorithm1Away})
}

// GemvBasic sets y = α A x + β y, or y = α Aᵀ x + β y, by the loops of the reference BLAS, one
// operation after the other, the "basic implementation" of the paper: y_i = fl(β y_i), then y_i =
// fl(y_i + fl(fl(α x_j) a_ij)) for j = 1, 2, …; for the transpose t = fl(t + fl(a_ij x_i)) for i =
// 1, 2, … and y_j = fl(y_j + fl(α t)). Special cases and the bound on the error are the same as for
// Gemv. On a GPU several lanes of a warp share a number. With opt.Variant = [Published] one thread
// for each row carries out its operations, on copies of the operands as arrays of mp_float_t, and
// Stats.Stages has the time of each launch and of the copies.
func GemvBasic(trans halfulp.Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, opt *Options) error {
	return gemv("GemvBasic", trans, alpha, a, x, beta, y, opt, gemvMethod{(*run).gemvBasic, gemvBasicAway, nil, basicAway})
}

// gemvMethod is a product. here, on the CPU, and away, on a device, add α A x to β y. The published
// variants compute α A x + β y as a whole; nil means that there is no such variant.
type gemvMethod struct {
	here func(r *run, trans bool, alpha *val, a *Matrix, x, y *Vector) error
	away func(q place.RNSQueue, r *run, trans bool, alpha place.RNSView, a *Matrix, m, x, y place.RNSView) error

	publishedHere func(r *run, trans bool, alpha, beta *val, a *Matrix, x, y *Vector) error
	publishedAway func(q place.RNSQueue, r *run, g place.RNSGemv) error
}

// gemv runs a product.
func gemv(name string, t halfulp.Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, opt *Options, m gemvMethod) error {
	trans := isTrans(t)
	gemvShapes(trans, a, x, y)
	f := a.arr.b.scalars(alpha, beta)
	r, err := begin(name, opt, a.arr.b, a.view(), x.view(), y.view())
	if err != nil {
		return err
	}
	var limit XFloat
	if r.Bound != nil {
		limit, err = boundOfOperands(r.ctx, trans, alpha, a, x, beta, y)
	}
	switch {
	case err != nil:
	case r.at == nil && r.Variant == Published && m.publishedHere != nil:
		err = m.publishedHere(r, trans, &f[0], &f[1], a, x, y)
	case r.at == nil:
		if err = r.scaleBy(&f[1], y); err == nil && !alpha.IsZero() {
			err = m.here(r, trans, &f[0], a, x, y)
		}
	default:
		err = r.away([]*Number{alpha, beta}, []view{a.view(), x.view(), y.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			old := v[2]
			if beta.IsZero() {
				old, s[1] = none, none
			}
			if r.Variant == Published && m.publishedAway != nil {
				if alpha.IsZero() {
					s[0] = none
				}
				return m.publishedAway(q, r, place.RNSGemv{
					Trans: trans, Rows: a.rows, Cols: a.cols, Alpha: s[0], A: v[0], X: v[1], Beta: s[1], Y: v[2], BlockSize: r.BlockSize,
				})
			}
			if err := q.Map(y.n, 1, old, s[1], none, none, v[2], false); err != nil || alpha.IsZero() {
				return err
			}
			return m.away(q, r, trans, s[0], a, opView(trans, v[0]), v[1], v[2])
		})
	}
	if err == nil && r.Bound != nil {
		*r.Bound, err = boundOfResult(limit, y)
	}
	return r.end("product", err)
}

// scaleBy sets y = β y, 0 for β = 0.
func (r *run) scaleBy(beta *val, y *Vector) error {
	if !beta.isZero() {
		return r.scale(beta, y, 0)
	}
	for i := range y.n {
		z := y.val(i)
		z.setZero()
		y.put(i, &z)
	}
	return nil
}

// scaled returns α x on the CPU.
func (r *run) scaled(alpha *val, x *Vector) (*Vector, error) {
	if err := r.room(x.n); err != nil {
		return nil, err
	}
	d := x.Clone()
	return d, r.scale(alpha, d, 0)
}

// scaledAway returns α x on a device.
func scaledAway(q place.RNSQueue, alpha, x place.RNSView, n int) (place.RNSView, error) {
	a, err := q.New(n)
	if err != nil {
		return none, err
	}
	d := place.RNSView{Array: a, RS: 1}
	return d, q.Map(n, 1, x, alpha, none, none, d, false)
}

// gemv adds α A x to y by steps 1, 3 and 4 of Gemv.
func (r *run) gemv(trans bool, alpha *val, a *Matrix, x, y *Vector) error {
	if trans {
		return r.rowProducts(alpha, x, y, func(i, j int) val { return a.val(j, i) })
	}
	return r.rowProducts(alpha, x, y, a.val)
}

// rowProducts is gemv for a matrix with these entries.
func (r *run) rowProducts(alpha *val, x, y *Vector, entry func(i, j int) val) error {
	if err := r.room(x.n + min(r.Threads, y.n)*r.BlockSize); err != nil {
		return err
	}
	d, err := r.scaled(alpha, x)
	if err != nil {
		return err
	}
	return r.blocks(y.n, 1, func(i int, s *block) {
		sum := s.row(d.n, func(j int, s *block) val {
			u, v := entry(i, j), d.val(j)
			r.b.mul(&s.temp, &u, &v, s.w)
			return s.temp
		})
		z, u := y.val(i), y.val(i)
		r.b.add(&z, &sum, &u, false, s.w)
		y.put(i, &z)
	})
}

func gemvAway(q place.RNSQueue, r *run, trans bool, alpha place.RNSView, a *Matrix, m, x, y place.RNSView) error {
	rows, cols := a.op(trans)
	d, err := scaledAway(q, alpha, x, cols)
	if err != nil {
		return err
	}
	return q.RowSums(m, d, rows, cols, r.BlockSize, false, true, y)
}

// gemvBasic adds α A x to y by the loops of GemvBasic.
func (r *run) gemvBasic(trans bool, alpha *val, a *Matrix, x, y *Vector) error {
	d := x
	if !trans {
		var err error
		if d, err = r.scaled(alpha, x); err != nil {
			return err
		}
	}
	return r.each(y.n, d.n, 1, func(lo, hi int, w *scratch) {
		t, s := val{x: w.s}, val{x: w.r}
		for i := lo; i < hi; i++ {
			row, z := a.line(trans, i), y.val(i)
			if trans {
				s.setZero()
			} else {
				s.set(&z)
			}
			r.addProducts(&s, row, d, &t, w)
			if trans {
				r.b.mul(&t, alpha, &s, w)
				r.b.addTo(&z, &t, w)
			} else {
				z.set(&s)
			}
			y.put(i, &z)
		}
	})
}

// addProducts adds fl(x_j y_j), j = 1, 2, …, to s, one after the other. It stops early if the run's
// context is cancelled.
func (r *run) addProducts(s *val, x, y *Vector, t *val, w *scratch) {
	for j := range x.n {
		if j > 0 && r.stopped(j) {
			return
		}
		u, v := x.val(j), y.val(j)
		r.b.mul(t, &u, &v, w)
		r.b.addTo(s, t, w)
	}
}

func gemvBasicAway(q place.RNSQueue, _ *run, trans bool, alpha place.RNSView, a *Matrix, m, x, y place.RNSView) error {
	rows, cols := a.op(trans)
	if !trans {
		d, err := scaledAway(q, alpha, x, cols)
		if err != nil {
			return err
		}
		return q.Products(m, d, rows, 1, cols, true, y)
	}
	sum, err := q.New(rows)
	if err != nil {
		return err
	}
	t := place.RNSView{Array: sum, RS: 1}
	if err := q.Products(m, x, rows, 1, cols, false, t); err != nil {
		return err
	}
	return q.Map(rows, 1, y, none, t, alpha, y, false)
}

// line returns row i of A, or of its transpose.
func (m *Matrix) line(trans bool, i int) *Vector {
	if trans {
		return m.Col(i)
	}
	return m.Row(i)
}

// Ger sets a_ij = fl(a_ij + fl(fl(α x_i) y_j)). A must not overlap x and y.
func Ger(alpha *Number, x, y *Vector, a *Matrix, opt *Options) error {
	b := a.arr.b
	if !b.same(x.arr.b) || !b.same(y.arr.b) {
		panic(errBase)
	}
	if x.n != a.rows || y.n != a.cols {
		panic(errShape)
	}
	f := b.scalars(alpha)
	r, err := begin("Ger", opt, b, x.view(), y.view(), a.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.ger(&f[0], x, y, a)
	} else {
		err = r.away([]*Number{alpha}, []view{x.view(), y.view(), a.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			d, err := scaledAway(q, s[0], v[0], x.n)
			if err != nil {
				return err
			}
			return q.Map(a.rows, a.cols, v[2], none, d, v[1].T(), v[2], false)
		})
	}
	return r.end("update", err)
}

// ger is Ger on the CPU.
func (r *run) ger(alpha *val, x, y *Vector, a *Matrix) error {
	d, err := r.scaled(alpha, x)
	if err != nil {
		return err
	}
	return r.columns(a, 1, func(j, lo, hi int, w *scratch) {
		t, v := val{x: w.s}, y.val(j)
		for i := lo; i < hi; i++ {
			u, z := d.val(i), a.val(i, j)
			r.b.mul(&t, &u, &v, w)
			r.b.addTo(&z, &t, w)
			a.put(i, j, &z)
		}
	})
}

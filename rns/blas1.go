package rns

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Routines of BLAS level 1 and their like on RNS arrays. Each is a composition of the
// rounded operations of Number in the order given, whatever the number of threads.
// Vectors of one call are of one base and of one length, else routines panic; outputs
// may be inputs, entry by entry.

// none is an absent operand of a kernel.
var none place.RNSView

// like panics unless vectors have the base and length of x.
func (x *Vector) like(ys ...*Vector) {
	for _, y := range ys {
		if !x.arr.b.same(y.arr.b) {
			panic(errBase)
		}
		if x.n != y.n {
			panic(errShape)
		}
	}
}

// scalars panics unless numbers have base b, and returns copies of their fields.
func (b *Base) scalars(xs ...*Number) (vs [4]val) {
	for i, x := range xs {
		if !b.same(x.b) {
			panic(errBase)
		}
		vs[i] = x.v
	}
	return vs
}

// Asum returns Σ |x_i|, summed as Reduce3 does.
func Asum(x *Vector, opt *Options) (*Number, error) {
	return reduceBlocks("Asum", x, nil, true, opt)
}

// Dot returns Σ fl(x_i y_i), summed as Reduce3 does.
func Dot(x, y *Vector, opt *Options) (*Number, error) {
	x.like(y)
	return reduceBlocks("Dot", x, y, false, opt)
}

// Scal sets x_i = fl(α x_i).
func Scal(alpha *Number, x *Vector, opt *Options) error {
	a := x.arr.b.scalars(alpha)
	r, err := begin("Scal", opt, x.arr.b, x.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.scale(&a[0], x, 1)
	} else {
		err = r.away([]*Number{alpha}, []view{x.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Map(x.n, 1, v[0], s[0], none, none, v[0], false)
		})
	}
	return r.end("scale", err)
}

// scale is Scal on the CPU; share is its part of the routine's work.
func (r *run) scale(alpha *val, x *Vector, share float64) error {
	return r.each(x.n, 1, share, func(lo, hi int, w *scratch) {
		for i := lo; i < hi; i++ {
			z, u := x.val(i), x.val(i)
			r.b.mul(&z, alpha, &u, w)
			x.put(i, &z)
		}
	})
}

// Axpy sets y_i = fl(fl(α x_i) + y_i).
func Axpy(alpha *Number, x, y *Vector, opt *Options) error {
	x.like(y)
	b := x.arr.b
	a := b.scalars(alpha)
	r, err := begin("Axpy", opt, b, x.view(), y.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.each(x.n, 1, 1, func(lo, hi int, w *scratch) {
			t := val{x: w.s}
			for i := lo; i < hi; i++ {
				u, v, z := x.val(i), y.val(i), y.val(i)
				b.mul(&t, &a[0], &u, w)
				b.add(&z, &t, &v, false, w)
				y.put(i, &z)
			}
		})
	} else {
		err = r.away([]*Number{alpha}, []view{x.view(), y.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Map(x.n, 1, v[0], s[0], v[1], none, v[1], false)
		})
	}
	return r.end("update", err)
}

// Maxpy sets r_i = fl(y_i - fl(α x_i)), the MAXPY of MPRES-BLAS, with an error of at most
// u |y_i - α x_i| + u (1 + u) |α x_i|.
func Maxpy(alpha *Number, x, y, r *Vector, opt *Options) error {
	x.like(y, r)
	b := x.arr.b
	a := b.scalars(alpha)
	run, err := begin("Maxpy", opt, b, x.view(), y.view(), r.view())
	if err != nil {
		return err
	}
	if run.at == nil {
		err = run.subtract(&a[0], x, y, r, 1)
	} else {
		err = run.away([]*Number{alpha}, []view{x.view(), y.view(), r.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Map(x.n, 1, v[1], none, v[0], s[0], v[2], true)
		})
	}
	return run.end("update", err)
}

// subtract is Maxpy on the CPU; share is its part of the routine's work.
func (r *run) subtract(alpha *val, x, y, z *Vector, share float64) error {
	return r.each(x.n, 1, share, func(lo, hi int, w *scratch) {
		t := val{x: w.s}
		for i := lo; i < hi; i++ {
			u, v, s := x.val(i), y.val(i), z.val(i)
			r.b.mul(&t, alpha, &u, w)
			r.b.add(&s, &v, &t, true, w)
			z.put(i, &s)
		}
	})
}

// AxpyDot sets w_i = fl(w_i - fl(α v_i)) and returns Σ fl(w_i u_i) of the new w, summed as Reduce3
// does. It is the AXPY_DOT of the BLAS Technical Forum's standard and of MPRES-BLAS. u and v may be
// w; otherwise w must not overlap them. The error bound of w is the bound of [Maxpy]. [DotBound] of
// u and the new w bounds the difference between the returned number and their exact product.
func AxpyDot(alpha *Number, w, v, u *Vector, opt *Options) (*Number, error) {
	w.like(v, u)
	b := w.arr.b
	a := b.scalars(alpha)
	operands := []view{v.view(), u.view(), w.view()}
	r, err := begin("AxpyDot", opt, b, operands...)
	if err != nil {
		return nil, err
	}
	var sums *Vector
	if r.at == nil {
		if err = r.subtract(&a[0], v, w, w, 0.5); err == nil {
			sums, err = r.blockSums(w, u, false, 0.5)
		}
	} else {
		sums = b.NewVector(r.Blocks)
		err = r.away([]*Number{alpha}, operands, 1, func(q place.RNSQueue, s, x []place.RNSView) error {
			if err := q.Map(w.n, 1, x[2], none, x[0], s[0], x[2], true); err != nil {
				return err
			}
			blocks, err := q.New(r.Blocks)
			if err != nil {
				return err
			}
			z := place.RNSView{Array: blocks, RS: 1}
			if err := q.Reduce3(x[2], x[1], w.n, r.Blocks, r.BlockSize, false, z); err != nil {
				return err
			}
			return sums.view().get(q, z)
		})
	}
	if err != nil {
		return r.number("update and product", nil, err)
	}
	z, err := r.recursive(sums, 0)
	return r.number("update and product", z, err)
}

// Nrm2 returns fl(√s), s = Σ fl(x_i²) summed as Reduce3 does: ‖x‖₂, the NORM2 of MPRES-BLAS.
// [Nrm2Bound] bounds its error. A square with an exponent above 2^30 is NaN, one with an exponent
// below -2^30 is 0. The host computes the root.
func Nrm2(x *Vector, opt *Options) (*Number, error) {
	z, err := reduceBlocks("Nrm2", x, x, false, opt)
	if err != nil {
		return nil, err
	}
	return z.Sqrt(z), nil
}

// Waxpby sets w_i = fl(fl(α x_i) + fl(β y_i)).
func Waxpby(alpha *Number, x *Vector, beta *Number, y, w *Vector, opt *Options) error {
	x.like(y, w)
	b := x.arr.b
	a := b.scalars(alpha, beta)
	r, err := begin("Waxpby", opt, b, x.view(), y.view(), w.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.each(x.n, 1, 1, func(lo, hi int, mem *scratch) {
			t, s := val{x: mem.s}, val{x: mem.r}
			for i := lo; i < hi; i++ {
				u, v, z := x.val(i), y.val(i), w.val(i)
				b.mul(&t, &a[0], &u, mem)
				b.mul(&s, &a[1], &v, mem)
				b.add(&z, &t, &s, false, mem)
				w.put(i, &z)
			}
		})
	} else {
		err = r.away([]*Number{alpha, beta}, []view{x.view(), y.view(), w.view()}, 1, func(q place.RNSQueue, s, v []place.RNSView) error {
			return q.Map(x.n, 1, v[0], s[0], v[1], s[1], v[2], false)
		})
	}
	return r.end("sum", err)
}

// Rot sets x_i = fl(fl(c x_i) + fl(s y_i)) and y_i = fl(fl(c y_i) - fl(s x_i)).
func Rot(x, y *Vector, c, s *Number, opt *Options) error {
	x.like(y)
	b := x.arr.b
	a := b.scalars(c, s)
	r, err := begin("Rot", opt, b, x.view(), y.view())
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.each(x.n, 1, 1, func(lo, hi int, w *scratch) {
			cx, sy, cy, sx := val{x: w.s}, val{x: w.r}, val{x: w.q}, val{x: w.p}
			for i := lo; i < hi; i++ {
				u, v := x.val(i), y.val(i)
				b.mul(&cx, &a[0], &u, w)
				b.mul(&sy, &a[1], &v, w)
				b.mul(&cy, &a[0], &v, w)
				b.mul(&sx, &a[1], &u, w)
				z, t := x.val(i), y.val(i)
				b.add(&z, &cx, &sy, false, w)
				x.put(i, &z)
				b.add(&t, &cy, &sx, true, w)
				y.put(i, &t)
			}
		})
	} else {
		err = r.away([]*Number{c, s}, []view{x.view(), y.view()}, 2, func(q place.RNSQueue, s, v []place.RNSView) error {
			a, err := q.New(x.n)
			if err != nil {
				return err
			}
			t := place.RNSView{Array: a, RS: 1}
			if err := q.Map(x.n, 1, v[0], s[0], v[1], s[1], t, false); err != nil {
				return err
			}
			if err := q.Map(x.n, 1, v[1], s[0], v[0], s[1], v[1], true); err != nil {
				return err
			}
			return q.Map(x.n, 1, t, none, none, none, v[0], false)
		})
	}
	return r.end("rotation", err)
}

// Nrm returns the norm of x: Asum, or the largest |x_i|, exactly. If an entry is NaN, so is the
// norm. InfNorm runs on the CPU; entries on a device are copied to the host.
func Nrm(kind halfulp.Norm, x *Vector, opt *Options) (*Number, error) {
	switch kind {
	case halfulp.OneNorm:
		return reduceBlocks("Nrm", x, nil, true, opt)
	case halfulp.InfNorm:
	default:
		panic(errNorm)
	}
	r, err := begin("Nrm", opt, x.arr.b, x.view())
	if err != nil {
		return nil, err
	}
	r.stats.Device = place.Host
	h, err := x.onHost()
	if err != nil {
		return r.number("search", nil, err)
	}
	z, err := r.largest(h, 1)
	return r.number("search", z, err)
}

// largest returns the largest |x_i|, the first of equal ones, 0 for an empty vector; share is its
// part of the routine's work.
func (r *run) largest(x *Vector, share float64) (*Number, error) {
	z := x.arr.b.NewNumber()
	w := z.b.getScratch()
	defer z.b.putScratch(w)
	for i := range x.n {
		if r.stopped(i) {
			return nil, r.ctx.Err()
		}
		if i%interval == 0 && i > 0 {
			r.advance(share * interval / float64(x.n))
		}
		v := x.val(i)
		if v.isNaN() {
			z.v.setNaN()
			return z, nil
		}
		if z.b.compare(&z.v, &v, w) < 0 {
			z.v.set(&v)
			z.v.neg = false
		}
	}
	return z, nil
}

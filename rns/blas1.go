package rns

// Routines of BLAS level 1 and their like on RNS arrays. Each is a composition of the
// rounded operations of Number in the order given, whatever the number of threads.
// Vectors of one call are of one base and of one length, else routines panic; outputs
// may be inputs, entry by entry.

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
func Asum(x *Vector, o *Options) *Number {
	p := o.with()
	return reduceBlocks(x.arr.b, x.n, &p, func(i int, _ *block) val {
		v := x.val(i)
		v.neg = false
		return v
	})
}

// Dot returns Σ fl(x_i y_i), summed as Reduce3 does.
func Dot(x, y *Vector, o *Options) *Number {
	x.like(y)
	p, b := o.with(), x.arr.b
	return reduceBlocks(b, x.n, &p, func(i int, s *block) val {
		u, v := x.val(i), y.val(i)
		b.mul(&s.temp, &u, &v, s.w)
		return s.temp
	})
}

// Scal sets x_i = fl(α x_i).
func Scal(alpha *Number, x *Vector, o *Options) {
	p, b := o.with(), x.arr.b
	a := b.scalars(alpha)
	p.each(b, x.n, func(lo, hi int, w *scratch) {
		for i := lo; i < hi; i++ {
			z, u := x.val(i), x.val(i)
			b.mul(&z, &a[0], &u, w)
			x.put(i, &z)
		}
	})
}

// Axpy sets y_i = fl(fl(α x_i) + y_i).
func Axpy(alpha *Number, x, y *Vector, o *Options) {
	x.like(y)
	p, b := o.with(), x.arr.b
	a := b.scalars(alpha)
	p.each(b, x.n, func(lo, hi int, w *scratch) {
		t := val{x: w.s}
		for i := lo; i < hi; i++ {
			u, v, z := x.val(i), y.val(i), y.val(i)
			b.mul(&t, &a[0], &u, w)
			b.add(&z, &t, &v, false, w)
			y.put(i, &z)
		}
	})
}

// Waxpby sets w_i = fl(fl(α x_i) + fl(β y_i)).
func Waxpby(alpha *Number, x *Vector, beta *Number, y, w *Vector, o *Options) {
	x.like(y, w)
	p, b := o.with(), x.arr.b
	a := b.scalars(alpha, beta)
	p.each(b, x.n, func(lo, hi int, mem *scratch) {
		t, s := val{x: mem.s}, val{x: mem.r}
		for i := lo; i < hi; i++ {
			u, v, z := x.val(i), y.val(i), w.val(i)
			b.mul(&t, &a[0], &u, mem)
			b.mul(&s, &a[1], &v, mem)
			b.add(&z, &t, &s, false, mem)
			w.put(i, &z)
		}
	})
}

// Rot sets x_i = fl(fl(c x_i) + fl(s y_i)) and y_i = fl(fl(c y_i) - fl(s x_i)).
func Rot(x, y *Vector, c, s *Number, o *Options) {
	x.like(y)
	p, b := o.with(), x.arr.b
	a := b.scalars(c, s)
	p.each(b, x.n, func(lo, hi int, w *scratch) {
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
}

// Norm says which norm.
type Norm int

// The norms: ‖x‖₁ = Σ |x_i|, the largest column sum of a matrix; ‖x‖_∞ = max |x_i|, the
// largest row sum of a matrix.
const (
	OneNorm Norm = iota
	InfNorm
)

// Nrm returns the norm of x: Asum, or the largest |x_i|, exactly. If an entry is NaN so is
// the norm.
func Nrm(kind Norm, x *Vector, o *Options) *Number {
	switch kind {
	case OneNorm:
		return Asum(x, o)
	case InfNorm:
		return largest(x)
	}
	panic(errNorm)
}

// largest returns the largest |x_i|, the first of equal ones, 0 for an empty vector.
func largest(x *Vector) *Number {
	z := x.arr.b.NewNumber()
	w := z.b.getScratch()
	defer z.b.putScratch(w)
	for i := range x.n {
		v := x.val(i)
		if v.isNaN() {
			z.v.setNaN()
			return z
		}
		if z.b.compare(&z.v, &v, w) < 0 {
			z.v.set(&v)
			z.v.neg = false
		}
	}
	return z
}

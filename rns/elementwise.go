package rns

import (
	"github.com/halfulp/halfulp/internal/place"
)

// Elements are the numbers of a vector or of a matrix.
type Elements interface {
	*Vector | *Matrix
	view() view
}

// Add sets z_i = fl(x_i + y_i), or z_ij of matrices, as [Number.Add] does, |δ| < u. It panics
// unless the operands have one base and shape; z may be one of them.
func Add[A Elements](x, y, z A, opt *Options) error {
	return elementwise("Add", "sum", func(b *Base, z *val, x *[3]val, w *scratch) {
		b.add(z, &x[0], &x[1], false, w)
	}, func(q place.RNSQueue, rows, cols int, v []place.RNSView) error {
		return q.Map(rows, cols, v[0], none, v[1], none, v[2], false)
	}, opt, x.view(), y.view(), z.view())
}

// Sub sets z_i = fl(x_i - y_i) like [Add], as [Number.Sub] does, |δ| < u: the DIFF of MPRES-BLAS.
func Sub[A Elements](x, y, z A, opt *Options) error {
	return elementwise("Sub", "difference", func(b *Base, z *val, x *[3]val, w *scratch) {
		b.add(z, &x[0], &x[1], true, w)
	}, func(q place.RNSQueue, rows, cols int, v []place.RNSView) error {
		return q.Map(rows, cols, v[0], none, v[1], none, v[2], true)
	}, opt, x.view(), y.view(), z.view())
}

// Mul sets z_i = fl(x_i y_i) like [Add], as [Number.Mul] does, |δ| < u: the PROD of MPRES-BLAS.
func Mul[A Elements](x, y, z A, opt *Options) error {
	return elementwise("Mul", "product", func(b *Base, z *val, x *[3]val, w *scratch) {
		b.mul(z, &x[0], &x[1], w)
	}, func(q place.RNSQueue, rows, cols int, v []place.RNSView) error {
		return q.Map(rows, cols, v[0], v[1], none, none, v[2], false)
	}, opt, x.view(), y.view(), z.view())
}

// Div sets z_i = fl(x_i / y_i) like [Add], as [Number.Quo] does, |δ| < u, and NaN where y_i = 0.
func Div[A Elements](x, y, z A, opt *Options) error {
	return elementwise("Div", "quotient", func(b *Base, z *val, x *[3]val, w *scratch) {
		b.div(z, &x[0], &x[1], w)
	}, func(q place.RNSQueue, rows, cols int, v []place.RNSView) error {
		return q.Apply(place.RNSQuotient, rows, cols, v[0], v[1], none, v[2])
	}, opt, x.view(), y.view(), z.view())
}

// Sqrt sets z_i = fl(√x_i) like [Add], as [Number.Sqrt] does, |δ| < u, and NaN where x_i < 0.
func Sqrt[A Elements](x, z A, opt *Options) error {
	return elementwise("Sqrt", "root", func(b *Base, z *val, x *[3]val, w *scratch) {
		b.sqrt(z, &x[0], w)
	}, func(q place.RNSQueue, rows, cols int, v []place.RNSView) error {
		return q.Apply(place.RNSRoot, rows, cols, v[0], none, none, v[1])
	}, opt, x.view(), z.view())
}

// FMA sets z_i = fl(x_i y_i + c_i) like [Add], as [Number.FMA] does:
// |error| ≤ u |x_i y_i + c_i| + u² (|x_i y_i| + |c_i|).
func FMA[A Elements](x, y, c, z A, opt *Options) error {
	return elementwise("FMA", "fma", func(b *Base, z *val, x *[3]val, w *scratch) {
		b.fma(z, &x[0], &x[1], &x[2], w)
	}, func(q place.RNSQueue, rows, cols int, v []place.RNSView) error {
		return q.Apply(place.RNSFMA, rows, cols, v[0], v[1], v[2], v[3])
	}, opt, x.view(), y.view(), c.view(), z.view())
}

// elementwise runs op on the entries of all views but the last, of which there are up to three; the
// last view receives the results. On a device it runs away.
func elementwise(name, stage string, op func(b *Base, z *val, x *[3]val, w *scratch),
	away func(q place.RNSQueue, rows, cols int, v []place.RNSView) error, opt *Options, views ...view) error {
	z := views[len(views)-1]
	for _, v := range views {
		if !v.arr.b.same(z.arr.b) {
			panic(errBase)
		}
		if v.rows != z.rows || v.cols != z.cols {
			panic(errShape)
		}
	}
	r, err := begin(name, opt, z.arr.b, views...)
	if err != nil {
		return err
	}
	if r.at == nil {
		err = r.each(z.len(), 1, 1, func(lo, hi int, w *scratch) {
			for k := lo; k < hi; k++ {
				var x [3]val
				for i, v := range views[:len(views)-1] {
					x[i] = v.arr.val(v.index(k))
				}
				at := z.index(k)
				u := z.arr.val(at)
				op(r.b, &u, &x, w)
				z.arr.put(at, &u)
			}
		})
	} else {
		err = r.away(nil, views, 1, func(q place.RNSQueue, _, v []place.RNSView) error {
			return away(q, z.rows, z.cols, v)
		})
	}
	return r.end(stage, err)
}

package rns

import (
	"context"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// SpMV sets y_i = Σ fl(a_ij x_j). T = opt.RowThreads threads add the products of a row in the order
// of its places. Thread t adds the products of the entries in places t, t + T, t + 2 T, … to 0, in
// this order. Then for h = T/2, T/4, …, 1 thread t < h adds the sum of thread t + h. Unused places
// count, but add nothing. y must not overlap A and x.
//
// T = 1, the default, is the recursive sum of a row, as in the scalar kernels of MPRES-BLAS
// (spmv_csr, _jad, _ell, _dia). A power of two up to MaxRowThreads gives the order of its vector
// kernels (spmv_csrv, _jadv). For the same T, CSR, JAD and ELL give the same bits. The places of
// DIA are diagonals: it gives the same bits for T = 1 if the columns of each row increase and no
// entry is 0.
//
// Float64 entries are converted first, exactly where the base has 53 bits or more. Each entry then
// goes through one product and at most n - 1 sums for the n entries of its row:
//
//	|y*_i - ŷ_i| ≤ n u / (1 - n u) Σ_j |a_ij x_j|,
//
// which opt.Bound receives for the 1-norm, and [SpMVBound] returns.
func SpMV(a *Sparse, x, y *Vector, opt *Options) error {
	a.fits(x, y)
	r, err := begin("SpMV", opt, a.Base(), a.values.view(), x.view(), y.view())
	if err != nil {
		return err
	}
	var limit XFloat
	if r.Bound != nil {
		limit, err = a.boundOfProduct(r.ctx, x)
	}
	switch {
	case err != nil:
	case r.at == nil:
		err = r.spmv(a, x, y)
	default:
		err = r.away(nil, []view{a.values.view(), x.view(), y.view()}, 1, func(q place.RNSQueue, _, v []place.RNSView) error {
			m := a.away
			if m == nil {
				var err error
				if m, err = q.Sparse(a.layout()); err != nil {
					return err
				}
				defer m.Free()
			}
			return q.SparseProducts(m, v[0], v[1], r.RowThreads, v[2])
		})
	}
	if err == nil && r.Bound != nil {
		*r.Bound, err = boundOfResult(limit, y)
	}
	return r.end("product", err)
}

// fits panics unless y may be A x.
func (a *Sparse) fits(x, y *Vector) {
	if b := a.Base(); !b.same(x.arr.b) || !b.same(y.arr.b) {
		panic(errBase)
	}
	if x.n != a.cols || y.n != a.rows {
		panic(errShape)
	}
}

// spmv is SpMV on the CPU.
func (r *run) spmv(a *Sparse, x, y *Vector) error {
	r.BlockSize = r.RowThreads // of the blocks that stand for the threads of a row
	if r.BlockSize > 1 {
		if err := r.room(min(r.Threads, a.rows) * r.BlockSize); err != nil {
			return err
		}
	}
	rows := max(grain*a.rows/max(a.entries, 1), 1) // of a part
	parts := (a.rows + rows - 1) / rows
	blocks := make([]*block, r.Threads)
	return par.For(r.ctx, r.Threads, parts, func(worker, part int) {
		if blocks[worker] == nil {
			blocks[worker] = newBlock(r)
		}
		for i := part * rows; i < min((part+1)*rows, a.rows) && r.ctx.Err() == nil; i++ {
			z := y.val(a.row(i))
			sum := blocks[worker].row(a.length(i), func(e int, s *block) val { return a.product(i, e, x, s) })
			z.set(&sum)
			y.put(a.row(i), &z)
		}
		r.advance(1 / float64(parts))
	})
}

// product returns the product that place e of stored row i adds; its residues are in the storage of
// s.
func (a *Sparse) product(i, e int, x *Vector, s *block) val {
	k, column := a.at(i, e)
	if column >= 0 && column < a.cols {
		v := a.get(k, s.w.s)
		if a.format != DIA || !v.isZero() {
			u := x.val(column)
			s.b.mul(&s.temp, &v, &u, s.w)
			return s.temp
		}
	}
	s.temp.setZero()
	return s.temp
}

// SpMVBound returns the bounds that Options.Bound receives for a result that SpMV computed from A
// and x: the bound of [SpMV], summed over the rows. It bounds the distance to the exact product of
// the entries, float64 numbers as they are given; where the base has less than 53 bits, their
// conversion counts as one more rounding. It runs on the CPU, and copies operands on a device to
// the host. It returns an error if the copy fails or the context is cancelled.
func SpMVBound(ctx context.Context, a *Sparse, x, result *Vector) (Bound, error) {
	a.fits(x, result)
	limit, err := a.boundOfProduct(ctx, x)
	if err != nil {
		return Bound{}, err
	}
	return boundOfResult(limit, result)
}

// boundOfProduct bounds the error of a product in the 1-norm.
func (a *Sparse) boundOfProduct(ctx context.Context, x *Vector) (XFloat, error) {
	var sum XFloat
	err := a.rowBounds(ctx, x, func(_ int, bound XFloat) { sum = sum.AddUp(bound) })
	return sum, err
}

// rowBounds calls f with a bound on the error of y_i for each row i of y = A x.
func (a *Sparse) rowBounds(ctx context.Context, x *Vector, f func(i int, bound XFloat)) error {
	a, err := a.onHost()
	if err != nil {
		return err
	}
	if x, err = x.onHost(); err != nil {
		return err
	}
	b := a.Base()
	rounded := 0 // conversions
	if a.Float64() && b.prec < fracBits+1 {
		rounded = 1
	}
	w := b.getScratch()
	defer b.putScratch(w)
	var row []entry
	for i := range a.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		var norm, lost XFloat
		row = a.appendRow(row[:0], i, w.s)
		for k, e := range row {
			if k > 0 && cancelled(ctx, k) {
				return ctx.Err()
			}
			u, v := a.get(e.k, w.s), x.val(e.column)
			size := b.magnitude(&u, true)
			if rounded > 0 { // before that it was up to 1/(1 - u) < 1 + 2 u times as large
				size = size.AddUp(b.u.Scale(1).MulUp(size))
			}
			norm = norm.AddUp(size.MulUp(b.magnitude(&v, true)))
			if underflows(&u, &v) {
				lost = lost.AddUp(b.tiny())
			}
		}
		f(a.row(i), b.absolute(norm, lost, len(row)+rounded))
	}
	return nil
}

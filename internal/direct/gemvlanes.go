package direct

import (
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// rowsVertical computes rows lo <= i < hi and returns the number of rows that took the exact sum.
func (w *gemvWorker) rowsVertical(lo, hi int) (exact int64) {
	t := w.sums.vertical
	if w.vertical == nil {
		f := w.m.Arr.Format
		if w.cut != nil {
			f = w.cut.Format
		}
		w.vertical = lanes.NewRows(t, f, w.block, w.byRows)
	}
	w.vertical.Reset(hi - lo)
	if w.byRows {
		w.vertical.AddRows(w.m, lo, hi, w.ref, w.xVertical, w.stopped)
	} else {
		w.addColumnsVertical(lo, hi)
	}
	bound := uint64(w.m.Cols) * t.ProductBound()
	for r := range hi - lo {
		if w.stopped() {
			return exact
		}
		m, neg := w.vertical.Value(w.mag, r)
		x := num.Real{Class: num.Finite, Neg: neg, Exp: w.ref[r] - int64(t.Unit.Bits*t.Digits), Mag: m}
		if w.special[r] || len(m) == 0 || !w.roundSum(lo+r, x, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// addColumnsVertical processes a vector of rows at a time. All of these rows use the same digits of
// x.
func (w *gemvWorker) addColumnsVertical(lo, hi int) {
	t := w.sums.vertical
	for j := 0; j < w.m.Cols && !w.stopped(); j += t.Numbers {
		n := min(t.Numbers, w.m.Cols-j)
		for term := range t.Terms {
			a, at, step := w.m.Arr, w.m.At(lo, j), w.m.CS
			if w.cut != nil {
				w.loadTerm(term, lo, hi, j, n)
				a, at, step = w.cut, 0, hi-lo
			}
			w.vertical.AddBlock(a, at, step, hi-lo, w.ref, w.xVertical, j, n)
		}
	}
}

// loadTerm stores a term of rows lo <= i < hi of columns j <= h < j+n in MP, column by column.
func (w *gemvWorker) loadTerm(term, lo, hi, j, n int) {
	b, rows := w.cut, hi-lo
	for h := range n {
		at, f := w.m.At(lo, j+h), w.scale[j+h]
		x := w.gathered[:rows]
		switch {
		case w.m.Arr.Kind == num.F32:
			for r := range x {
				x[r] = float64(w.m.Arr.F32[at+r*w.m.RS])
			}
		case w.m.RS == 1:
			x = w.m.Arr.F64[term][at:][:rows]
		default:
			for r := range x {
				x[r] = w.m.Arr.F64[term][at+r*w.m.RS]
			}
		}
		sig, exp, cls := b.Sig[h*rows:][:rows], b.Exp[h*rows:][:rows], b.Cls[h*rows:][:rows]
		for r, v := range x {
			var e int32
			if cls[r], e = superacc.FloatWord(&sig[r], v); cls[r].Class() > num.Finite {
				w.special[r] = true
			}
			exp[r] = e
			if term > 0 && int64(e)+f > w.ref[r] { // the terms overlap
				w.special[r] = true
			}
		}
	}
}

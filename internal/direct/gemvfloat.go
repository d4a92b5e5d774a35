package direct

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
)

// Matrix-vector products of binary32 and binary64 numbers in compensated arithmetic,
// along the rows where these lie in line, else down the columns with a lane for
// every row. floatSum.add has the error bound.

// rowsFloat computes rows lo <= i < hi and returns how many took the exact sum.
func (w *gemvWorker) rowsFloat(lo, hi int) (exact int64) {
	if w.gathered == nil {
		w.gathered = make([]float64, max(w.m.Cols, w.block))
	}
	if w.m.CS == 1 {
		for i := lo; i < hi; i++ {
			if !w.rowFloat(i, floatsOf(w.m.Row(i), 0, w.m.Cols, w.gathered)) {
				w.exactRow(i)
				exact++
			}
		}
		return exact
	}
	s, e, m := w.columnsFloat(lo, hi)
	for r := range hi - lo {
		if !w.laneFloat(lo+r, s[r], e[r], m[r]) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

func (w *gemvWorker) rowFloat(i int, row []float64) bool {
	f := &w.floats
	f.acc.Reset()
	f.bound, f.failed = 0, false
	for at := 0; at < len(row) && !f.failed; at += floatChunk {
		end := min(at+floatChunk, len(row))
		f.addSlices(Dot, row[at:end], w.xf[at:end])
	}
	if f.failed || f.bound == 0 || !f.acc.Finite() {
		return false
	}
	return w.roundFloat(i, f.bound*(1+0x1p-20))
}

// roundFloat stores row i if the sum of products in w.floats, known up to bound,
// decides it.
func (w *gemvWorker) roundFloat(i int, bound float64) bool {
	w.acc.Reset()
	w.acc.AddScaled(&w.floats.acc, w.alpha)
	return w.roundRest(i, floatReal(bound, make([]uint64, 1)))
}

// columnsFloat returns the compensated sums of rows lo <= i < hi.
func (w *gemvWorker) columnsFloat(lo, hi int) (s, e, m []float64) {
	for k := range w.lanes {
		if w.lanes[k] == nil {
			w.lanes[k] = make([]float64, w.block)
		}
		w.lanes[k] = w.lanes[k][:hi-lo]
		clear(w.lanes[k])
	}
	s, e, m = w.lanes[0], w.lanes[1], w.lanes[2]
	axpy := axpy2
	if assembly() {
		axpy = axpy2Fast
	}
	for j, x := range w.xf {
		axpy(floatsOf(w.m.T().Row(j), lo, hi, w.gathered), x, s, e, m)
	}
	return s, e, m
}

// laneFloat stores row i, whose products sum to s + e but for what its bound by the
// sum m of magnitudes allows, if that decides it.
func (w *gemvWorker) laneFloat(i int, s, e, m float64) bool {
	if !(m < 0x1p1000) {
		return false
	}
	n := float64(w.m.Cols + 2)
	bound := float64(0x1.02p-105*n*n)*m + float64(n*0x1p-1072)
	if w.plain && w.shift == 0 && !w.negative && w.z.Kind == num.F64 {
		// r + (l - bound) and r + (l + bound) enclose the sum.
		r := s + e
		l := (s - r) + e // exact for |e| <= |s|
		bound += math.Abs(l) * 0x1p-50
		if math.Abs(r) > 0x1p-900 && math.Abs(e) <= math.Abs(s) {
			if r+(l-bound) == r && r+(l+bound) == r {
				w.z.F64[0][i] = r
				return true
			}
			return false
		}
	}
	f := &w.floats
	f.acc.Reset()
	f.addFloat(s)
	f.addFloat(e)
	return f.acc.Finite() && w.roundFloat(i, bound)
}

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

// rowFloat stores row i, whose entries are given, if the lanes of its compensated sum decide it.
//
// The sums of the lanes, exact but for their share of laneFloat's bound, are added up with the
// errors of 7 additions and the products left over with theirs, 30 errors at most, each less than u
// M for the sum M of magnitudes; summing n/8 + 30 errors costs less than 30 u (n/8 + 40) u M more.
// All of it is less than laneFloat's 2 (n + 2)^2 u^2 M from 16 products on.
func (w *gemvWorker) rowFloat(i int, row []float64) bool {
	var s, e, m float64
	for at := 0; at < len(row); at += floatChunk {
		end := min(at+floatChunk, len(row))
		u, v := row[at:end], w.xf[at:end]
		n := len(u) &^ (lanes - 1)
		var out [3 * lanes]float64
		if n > 0 {
			compensated(Dot, u[:n], v[:n], &out)
		}
		for l := range lanes {
			var d float64
			s, d = twoSum(s, out[l])
			e += d + out[lanes+l]
			m += out[2*lanes+l]
		}
		for l := n; l < len(u); l++ {
			p := float64(u[l] * v[l])
			q := math.FMA(u[l], v[l], -p)
			var d float64
			s, d = twoSum(s, p)
			e += d + q
			m += math.Abs(p)
		}
	}
	return w.laneFloat(i, s, e, m)
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
	bound := float64(0x1.02p-105*n*n*m) + float64(n*0x1p-1072)
	if w.plain && isFloat(w.z.Arr.Format) && w.shift > -50 && w.shift < 50 {
		// r + (l - bound) and r + (l + bound) enclose the sum.
		r := s + e
		l := (s - r) + e // exact for |e| <= |s|
		bound += float64(math.Abs(l) * 0x1p-50)
		if a := math.Abs(r); math.Abs(e) <= math.Abs(s) && a > 0x1p-900 && a < 0x1p900 {
			return w.enclosedFloat(i, r+(l-bound), r+(l+bound))
		}
	}
	f := &w.floats
	f.acc.Reset()
	f.addFloat(s)
	f.addFloat(e)
	return f.acc.Finite() && w.roundFloat(i, bound)
}

// enclosedFloat stores alpha times the sum as row i if the binary64 numbers next to it, lo below
// and hi above, decide that; |lo| and |hi| are far from the ends of the range of binary64.
func (w *gemvWorker) enclosedFloat(i int, lo, hi float64) bool {
	scale := math.Float64frombits(uint64(1023+w.shift) << 52)
	if w.negative {
		scale = -scale
	}
	at := w.z.At(i)
	if w.z.Arr.Kind == num.F64 {
		if lo != hi {
			return false
		}
		w.z.Arr.F64[0][at] = lo * scale
		return true
	}
	// A tie of binary32 at either end may come from rounding to binary64.
	const rest, tie = 1<<29 - 1, 1 << 28
	z := float32(lo * scale)
	if z != float32(hi*scale) || math.Float64bits(lo)&rest == tie || math.Float64bits(hi)&rest == tie ||
		!(z > 0x1p-120 && z < 0x1p120 || z < -0x1p-120 && z > -0x1p120) {
		return false
	}
	w.z.Arr.F32[at] = z
	return true
}

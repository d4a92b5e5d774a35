package direct

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// verticalRows holds what the rows of a product take.
type verticalRows struct {
	*cutter
	byRows bool
	sums   []int64
	one    []int64
}

func (w *gemvWorker) newVerticalRows() *verticalRows {
	t := w.sums.vertical
	f := w.m.Arr.Format
	if w.cut != nil {
		f = w.cut.Format
	}
	v := &verticalRows{cutter: newCutter(t, f), byRows: w.byRows, one: make([]int64, t.digits+1)}
	vectors := (w.block + t.unit.lanes - 1) / t.unit.lanes
	if v.byRows {
		vectors = w.block
	}
	a := aligned(vectors * t.pitch() / 8)
	v.sums = unsafe.Slice((*int64)(unsafe.Pointer(&a[0])), len(a))
	return v
}

// rowsVertical computes rows lo <= i < hi and returns how many took the exact sum.
func (w *gemvWorker) rowsVertical(lo, hi int) (exact int64) {
	if w.vertical == nil {
		w.vertical = w.newVerticalRows()
	}
	v := w.vertical
	t, lanes := v.plan, v.plan.unit.lanes
	size := lanes * (t.digits + 1)
	if v.byRows {
		clear(v.sums[:size*(hi-lo)])
		w.addRowsVertical(lo, hi)
	} else {
		clear(v.sums[:size*((hi-lo+lanes-1)/lanes)])
		w.addColumnsVertical(lo, hi)
	}
	bound := uint64(w.m.Cols) * t.productBound()
	for r := range hi - lo {
		for c := range v.one {
			if v.byRows {
				sum := int64(0)
				for _, x := range v.sums[size*r+lanes*c:][:lanes] {
					sum += x
				}
				v.one[c] = sum
			} else {
				v.one[c] = v.sums[size*(r/lanes)+lanes*c+r%lanes]
			}
		}
		m, neg := t.value(w.mag, v.one)
		x := num.Real{Class: num.Finite, Neg: neg, Exp: w.ref[r] - int64(t.unit.bits*t.digits), Mag: m}
		if w.special[r] || len(m) == 0 || !w.roundSum(lo+r, x, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// addColumnsVertical takes a vector of rows at a time, and the same digits of x for all of them.
func (w *gemvWorker) addColumnsVertical(lo, hi int) {
	t := w.vertical.plan
	for j := 0; j < w.m.Cols; j += t.numbers {
		n := min(t.numbers, w.m.Cols-j)
		for term := range t.terms {
			a, at, step := w.m.Arr, w.m.At(lo, j), w.m.CS
			if w.cut != nil {
				w.loadTerm(term, lo, hi, j, n)
				a, at, step = w.cut, 0, hi-lo
			}
			w.addBlockVertical(a, at, step, hi-lo, j, n)
		}
	}
}

// addBlockVertical adds the products of so many rows of columns j <= h < j+n; they begin at number
// at of a, step apart.
func (w *gemvWorker) addBlockVertical(a *num.Array, at, step, rows, j, n int) {
	v, x := w.vertical, w.xVertical
	t, lanes := v.plan, v.plan.unit.lanes
	size := lanes * (t.digits + 1)
	for r := 0; r < rows; r += lanes {
		var job *cutJob
		var soon fetch
		if k := rows - r; k >= lanes {
			job = v.job(a, at+r, step, n)
			if k > lanes {
				soon = t.fetchNumbers(a, at+r+lanes, step)
			}
		} else {
			job = v.job(v.part(a, at+r, step, n, k), 0, lanes, n)
		}
		job.ref, job.refLane = unsafe.Pointer(&w.ref[r]), 1
		job.scale, job.sign, job.xStep = unsafe.Pointer(&x.scale[j]), unsafe.Pointer(&x.signs[j]), 1
		if t.digits < lateDigits {
			job.soon, soon = soon, fetch{}
		}
		t.unit.cut(job)
		t.add(true, v.sums[size*(r/lanes):], v.digits, x.digits[j*t.digits:], x.pitch, n, soon)
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
			if cls[r], e = floatWord(&sig[r], v); cls[r].Class() > num.Finite {
				w.special[r] = true
			}
			exp[r] = e
			if term > 0 && int64(e)+f > w.ref[r] { // terms that overlap
				w.special[r] = true
			}
		}
	}
}

// addRowsVertical takes a vector of columns at a time.
func (w *gemvWorker) addRowsVertical(lo, hi int) {
	v, x := w.vertical, w.xVertical
	t, lanes := v.plan, v.plan.unit.lanes
	size := lanes * (t.digits + 1)
	for j := 0; j < w.m.Cols; {
		n := min(t.numbers, (w.m.Cols-j)/lanes)
		rest := 0
		if n == 0 {
			n, rest = 1, w.m.Cols-j
		}
		for r := range hi - lo {
			at := w.m.At(lo+r, j)
			var job *cutJob
			if rest == 0 {
				job = v.job(w.m.Arr, at, lanes, n)
			} else {
				job = v.job(v.part(w.m.Arr, at, lanes, 1, rest), 0, lanes, 1)
			}
			job.ref = unsafe.Pointer(&w.ref[r])
			soon := t.fetchNumbers(w.m.Arr, w.m.At(lo+r+1, j), lanes)
			if t.digits < lateDigits {
				job.soon, soon = soon, fetch{}
			}
			job.scale, job.sign = unsafe.Pointer(&x.scale[j]), unsafe.Pointer(&x.signs[j])
			job.xLane, job.xStep = 1, lanes
			t.unit.cut(job)
			t.add(false, v.sums[size*r:], v.digits, x.digits[j*t.digits:], x.pitch, n, soon)
		}
		j += n * lanes
	}
}

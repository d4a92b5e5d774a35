package direct

import (
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Products of numbers of two to seven words are summed in fixed point from the highest words of
// each product, without digits. Longer numbers are treated likewise where there is no assembly. See
// dotTop2 and dotTop, and topRows for plain Go. With the reference exponent P, a sum is kept in
// units of 2^(P - unit).
type topPlan struct {
	words int    // words of a number
	sum   int    // words of a sum
	unit  int64  // number of binary places of a sum
	err   uint64 // bound on the error of a product, in units
}

// planTop returns how to sum n products for rounding to p bits, if the numbers of a permit it.
//
// With two words, a product is cut below its third word. The omitted word, the bits shifted out and
// the complement cost less than 1 unit each, and the words dropped by shifts of whole words cost
// less than 1 more. With L = 3 or more words, the omitted products are the low words of L pairs and
// both words of the pairs below them. In units of the last kept word these are less than L + (L-1)
// + 1. Shift and complement cost the same as before.
func planTop(a num.Format, p, n int) (t topPlan, ok bool) {
	if a.Kind != num.MP {
		return t, false
	}
	l := a.Limbs()
	switch {
	case l == 2:
		t = topPlan{words: 2, sum: 4, unit: 192, err: 4}
	case 3 <= l && l <= 7, 7 < l && l <= longTop && !superacc.Assembly():
		t = topPlan{words: l, sum: l + 1, unit: int64(64 * l), err: uint64(2*l + 3)}
	default:
		return t, false
	}
	// For data of similar size a sum has about 2^P sqrt(n), and its error bound is n err units.
	return t, int64(n) < 1<<40 && p+bits.Len(uint(n))/2+bits.Len64(t.err)+10 <= int(t.unit)
}

// planOne is planTop for numbers of one word, in plain Go, where digits of 28 bits take twice the
// time. Products are complete. Their errors are the bits shifted out and what the complement costs.
func planOne(a num.Format, p, n int) (t topPlan, ok bool) {
	t = topPlan{words: 1, sum: 4, unit: 192, err: 2}
	ok = a.Kind == num.MP && a.Limbs() == 1 && !superacc.Assembly()
	return t, ok && int64(n) < 1<<40 && p+bits.Len(uint(n))/2+12 <= int(t.unit)
}

// fits reports whether the numbers of a have at most as many words as the plan.
func (t topPlan) fits(a num.Format) bool {
	return a.Kind == num.F32 || a.Kind == num.F64 || a.Kind == num.MP && a.Limbs() <= t.words
}

// vector returns x as MP numbers of the plan's words with their exponents. The exponent of a zero
// is superacc.NoScale. It returns nil if there is an infinity or NaN.
func (t topPlan) vector(x num.Vec) (*num.Array, []int64) {
	z := num.New(num.Format{Kind: num.MP, Prec: uint32(64 * t.words)}, x.N)
	scale := make([]int64, x.N)
	var buf [1]uint64
	for i := range x.N {
		r := x.Arr.Value(x.At(i), buf[:])
		z.Set(i, r)
		switch r.Class {
		case num.Finite:
			scale[i] = int64(z.Exp[i])
		case num.Zero:
			scale[i] = superacc.NoScale
		default:
			return nil, nil
		}
	}
	return z, scale
}

// longTop is the largest number of words of numbers whose products are summed in words where there
// is no assembly for their digits. In plain Go digits of 28 bits take 4 times as long.
const longTop = 64

func classBytes(c []num.Cls) []uint8 { return unsafe.Slice((*uint8)(unsafe.Pointer(&c[0])), len(c)) }

// plainRows returns the rows that sum products without assembly, or nil where there is assembly.
func (t topPlan) plainRows() *topRows {
	if superacc.Assembly() || t.words <= 2 {
		return nil
	}
	return newTopRows(t.words)
}

// dot adds products to sum. The factors are the numbers at <= i < end of a and the numbers of x
// from xAt on. It uses rows unless rows is nil.
func (t topPlan) dot(rows *topRows, sum []uint64, ref int64, a *num.Array, at, end int, x *num.Array, xAt int) {
	xEnd, l := xAt+end-at, t.words
	sig, exp, cls := a.Sig[l*at:l*end], a.Exp[at:end], classBytes(a.Cls[at:end])
	xs, xe, xc := x.Sig[l*xAt:l*xEnd], x.Exp[xAt:xEnd], classBytes(x.Cls[xAt:xEnd])
	switch {
	case rows != nil:
		rows.dot(sum, ref, sig, exp, cls, xs, xe, xc)
	case superacc.Assembly():
		dotTopFast(l, sum, ref, sig, exp, cls, xs, xe, xc)
	case t.words == 1:
		dotTop1(sum, ref, sig, exp, cls, xs, xe, xc)
	default:
		dotTop2(sum, ref, sig, exp, cls, xs, xe, xc)
	}
}

// axpy adds the products of the numbers at <= i < end of a with number j of x, which has the
// exponent scale, to the sums.
func (t topPlan) axpy(sums []uint64, ref []int64, a *num.Array, at, end int, x *num.Array, j int, scale int64) {
	l := t.words
	sig, exp, cls := a.Sig[l*at:l*end], a.Exp[at:end], classBytes(a.Cls[at:end])
	v := x.Sig[l*j : l*(j+1)]
	sign := uint64(x.Cls[j] & 1)
	if superacc.Assembly() {
		axpyTopFast(l, sums, ref, sig, exp, cls, v, scale, sign)
		return
	}
	axpyTop2(sums, ref, sig, exp, cls, v[1], v[0], scale, sign)
}

// value returns the number that a sum stands for. It replaces the sum by its magnitude.
func (t topPlan) value(sum []uint64, ref int64) num.Real {
	v := num.Real{Class: num.Finite, Neg: int64(sum[t.sum-1]) < 0, Exp: ref - t.unit}
	if v.Neg {
		num.Negate(sum)
	}
	v.Mag = superacc.Trim(sum)
	return v
}

// rowsTop computes rows lo <= i < hi by the plan and returns the number of rows that took the exact
// sum.
func (w *gemvWorker) rowsTop(lo, hi int) (exact int64) {
	t, a := w.sums.top, w.m.Arr
	sums := w.words[:t.sum*(hi-lo)]
	clear(sums)
	switch {
	case w.topRows[0] != nil && w.m.CS != 1:
		for r := 0; r < hi-lo && !w.stopped(); r += rowTile {
			w.tileTop(lo, r, min(r+rowTile, hi-lo))
		}
	case w.m.RS == 1 && w.topRows[0] == nil:
		for j, f := range w.scale {
			if j%lookColumns == 0 && w.stopped() {
				break
			}
			if f != superacc.NoScale {
				at := w.m.At(lo, j)
				t.axpy(sums, w.ref, a, at, at+hi-lo, w.xTop, j, f)
			}
		}
	default:
		for r := 0; r < hi-lo && !w.stopped(); r++ {
			at := w.m.At(lo+r, 0)
			t.dot(w.topRows[0], sums[t.sum*r:t.sum*(r+1)], w.ref[r], a, at, at+w.m.Cols, w.xTop, 0)
		}
	}
	bound := uint64(w.m.Cols) * t.err
	for r := range hi - lo {
		if w.stopped() {
			return exact
		}
		v := t.value(sums[t.sum*r:t.sum*(r+1)], w.ref[r])
		if w.special[r] || len(v.Mag) == 0 || !w.roundSum(lo+r, v, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// tileTop adds the products of rows lo + r <= i < lo + end to their sums in plain Go. It handles
// several rows at a time to make full use of the data that memory delivers.
func (w *gemvWorker) tileTop(lo, r, end int) {
	t, a := w.sums.top, w.m.Arr
	l := t.words
	for j, f := range w.scale {
		if f == superacc.NoScale {
			continue
		}
		x, sign := w.xTop.Sig[l*j:l*(j+1)], uint8(w.xTop.Cls[j])
		at := w.m.At(lo+r, j)
		for i := r; i < end; i, at = i+1, at+w.m.RS {
			d := w.ref[i] - int64(a.Exp[at]) - f
			if c := uint8(a.Cls[at]); c&2 != 0 && uint64(d) < uint64(64*l) {
				w.topRows[i-r].add(a.Sig[l*at:l*(at+1)], x, uint64(d), c^sign)
			}
		}
	}
	for i := r; i < end; i++ {
		w.topRows[i-r].fold(w.words[t.sum*i : t.sum*(i+1)])
	}
}

package direct

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Matrix-vector products of binary32 and binary64 numbers in compensated arithmetic. The sums run
// along the rows where these are contiguous. Otherwise they run down the columns with one lane for
// every row. The error bound is in floatSum.add.

// rowsFloat computes rows lo <= i < hi and returns the number of rows that took the exact sum.
func (w *gemvWorker) rowsFloat(lo, hi int) (exact int64) {
	w.gathered = atLeast(w.gathered, max(w.m.Cols, hi-lo))
	if w.m.CS == 1 {
		for i := lo; i < hi && !w.stopped(); i++ {
			if !w.rowFloat(i, floatsOf(w.m.Row(i), 0, w.m.Cols, w.gathered)) {
				w.exactRow(i)
				exact++
			}
		}
		return exact
	}
	s, e, m := w.columnsFloat(lo, hi)
	simple := w.floatFactors.ok && w.floatFactors.alpha == 1 && w.floatFactors.beta == 0 && w.z.Arr.Kind == num.F64
	for r := range hi - lo {
		if r%lookColumns == 0 && w.stopped() {
			return exact
		}
		if simple && w.simpleFloat(lo+r, s[r], e[r], m[r]) {
			continue
		}
		if !w.laneFloat(lo+r, s[r], e[r], m[r]) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// atLeast returns a slice of n numbers, in the memory of x if that is large enough.
func atLeast[T float64 | uint64](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// rowFloat stores row i, whose entries are given, if its compensated sum decides the rounding.
//
// The sums of the lanes are exact except for their share of laneFloat's bound. They are added with
// the errors of 7 additions, and the remaining products with theirs. These are at most 30 errors,
// each less than u M, where M is the sum of magnitudes. Summing n/8 + 30 errors costs less than 30
// u (n/8 + 40) u M more. From 16 products on, the total is less than laneFloat's 2 (n + 2)^2 u^2 M.
func (w *gemvWorker) rowFloat(i int, row []float64) bool {
	var s, e, m float64
	for at := 0; at < len(row); at += floatChunk {
		end := min(at+floatChunk, len(row))
		u, v := row[at:end], w.xf[at:end]
		n := len(u) &^ (sumLanes - 1)
		if len(row) < 2*sumLanes { // a single sum, as in a lane of columnsFloat
			n = 0
		}
		var out [3 * sumLanes]float64
		if n > 0 {
			compensated(Dot, u[:n], v[:n], &out)
		}
		for l := range sumLanes {
			var d float64
			s, d = twoSum(s, out[l])
			e += d + out[sumLanes+l]
			m += out[2*sumLanes+l]
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

// roundFloat stores row i if the sum of products in w.floats, known up to bound, decides the
// rounding.
func (w *gemvWorker) roundFloat(i int, bound float64) bool {
	w.acc.Reset()
	w.acc.AddScaled(&w.floats.acc, w.alpha)
	return w.roundRest(i, superacc.FloatReal(bound, make([]uint64, 1)))
}

// lookColumns is the number of columns of a block of rows, or of rows to be rounded, between two
// looks at the context.
const lookColumns = 64

// columnsFloat returns the compensated sums of rows lo <= i < hi.
func (w *gemvWorker) columnsFloat(lo, hi int) (s, e, m []float64) {
	for k := range w.lanes {
		w.lanes[k] = atLeast(w.lanes[k], hi-lo)
		clear(w.lanes[k])
	}
	s, e, m = w.lanes[0], w.lanes[1], w.lanes[2]
	axpy := axpy2
	if superacc.Assembly() {
		axpy = axpy2Fast
	}
	column := num.Vec{Arr: w.m.Arr, Inc: w.m.RS, N: w.m.Rows}
	for j, x := range w.xf {
		if j%lookColumns == 0 && w.stopped() {
			break
		}
		column.Off = w.m.At(0, j)
		axpy(floatsOf(column, lo, hi, w.gathered), x, s, e, m)
	}
	return s, e, m
}

// laneFloat stores row i if its compensated sum decides the rounding. The products sum to s + e up
// to a bound that depends on the sum m of magnitudes.
func (w *gemvWorker) laneFloat(i int, s, e, m float64) bool {
	if !(m < 0x1p1000) {
		return false
	}
	bound := sumError(w.m.Cols, m)
	if f := &w.floatFactors; f.ok && superacc.IsFloat(w.z.Arr.Format) && (f.beta == 0 || superacc.IsFloat(w.y.Arr.Format)) {
		y := 0.0
		if f.beta != 0 {
			y = superacc.FloatAt(w.y.Arr, w.y.At(i))
		}
		if m == 0 && w.zeroProducts(i) {
			if f.beta == 0 || y == 0 {
				w.zeroRow(i, y)
				return true
			}
			bound = 0
		}
		if lo, hi, ok := f.enclose(s, e, bound, y); ok {
			return setEnclosed(w.z.Arr, w.z.At(i), lo, hi)
		}
	}
	f := &w.floats
	f.acc.Reset()
	f.addFloat(s)
	f.addFloat(e)
	return f.acc.Finite() && w.roundFloat(i, bound)
}

// simpleFloat is laneFloat for alpha = 1, beta = 0 and results in binary64. It does nothing for
// sums near an end of the range. The enclosure is floatFactors.enclose without terms that are 0.
func (w *gemvWorker) simpleFloat(i int, s, e, m float64) bool {
	r := s + e
	l := (s - r) + e
	err := sumError(w.m.Cols, m) + float64(0x1p-50*math.Abs(l)) + 0x1p-1070
	z := r + (l - err)
	if a := math.Abs(r); z != r+(l+err) || !(m < 0x1p900) || !(a > 0x1p-800) || !(math.Abs(e) <= math.Abs(s)) {
		return false
	}
	w.z.Arr.F64[0][w.z.At(i)] = z
	return true
}

// sumError bounds the error of a compensated sum of n products whose magnitudes sum to m. It is the
// bound of floatSum.add, which holds for plain numbers as well.
func sumError(n int, m float64) float64 {
	k := float64(n + 2)
	return float64(0x1.02p-105*k*k*m) + float64(k*0x1p-1072)
}

// zeroProducts reports whether every product of row i is zero.
func (w *gemvWorker) zeroProducts(i int) bool {
	row := w.m.Row(i)
	for j, x := range w.xf {
		if x != 0 && superacc.FloatAt(row.Arr, row.At(j)) != 0 {
			return false
		}
	}
	return true
}

// zeroRow stores row i when all its addends are zeros. The addends are the products and, unless
// beta is 0, beta y. The sum is -0 if all of them are -0.
func (w *gemvWorker) zeroRow(i int, y float64) {
	f, row := &w.floatFactors, w.m.Row(i)
	negative := f.beta == 0 || math.Signbit(f.beta) != math.Signbit(y)
	for j, x := range w.xf {
		product := math.Signbit(x) != math.Signbit(superacc.FloatAt(row.Arr, row.At(j)))
		negative = negative && product != math.Signbit(f.alpha)
	}
	w.z.Arr.Set(w.z.At(i), num.Real{Neg: negative})
}

// floatFactors holds alpha and beta as binary64 numbers. They are valid if ok is set.
type floatFactors struct {
	alpha, beta float64
	ok          bool
}

func newFloatFactors(alpha, beta num.Real) (f floatFactors) {
	var okAlpha, okBeta bool
	f.alpha, okAlpha = FloatFactor(alpha)
	if f.beta, okBeta = FloatFactor(beta); beta.Class == num.Zero {
		okBeta = true
	}
	f.ok = okAlpha && okBeta
	return f
}

// FloatFactor returns x as a binary64 number. It succeeds if x is one, is not 0 and is not near an
// end of the range.
func FloatFactor(x num.Real) (float64, bool) {
	if x.Class != num.Finite {
		return 0, false
	}
	n := num.TrailingZeros(x.Mag)
	e := x.Exp + int64(n)
	if num.BitLen(x.Mag)-n > 53 || e <= -1000 || e >= 900 {
		return 0, false
	}
	f := math.Ldexp(float64(num.WordAt(x.Mag, int64(n))), int(e))
	if x.Neg {
		f = -f
	}
	return f, true
}

// enclose returns numbers lo and hi next to alpha S + beta y, lo below and hi above, for every S
// that differs from s + e by at most bound. It reports false where products are near an end of the
// range.
//
// Let r + l = s + e, p + q = alpha r, b + g = beta y and P + h = p + b, all without error. Then the
// value is P + q + alpha l + g + h up to |alpha| bound. The product alpha l, the three additions
// that sum the last four terms, and the product with err cost less than 5 2^-53 (1 + 2^-50) times
// the magnitudes of these terms.
func (f *floatFactors) enclose(s, e, bound, y float64) (lo, hi float64, ok bool) {
	const least, most = 0x1p-900, 0x1p1000 // here the errors of products are numbers
	inside := func(x float64) bool { return math.Abs(x) > least && math.Abs(x) < most || x == 0 }
	r := s + e
	l := (s - r) + e
	p := float64(f.alpha * r)
	if !(math.Abs(e) <= math.Abs(s)) || !inside(p) || p == 0 && bound != 0 {
		return 0, 0, false
	}
	q := math.FMA(f.alpha, r, -p)
	l = float64(f.alpha * l)
	rest, size := q+l, math.Abs(q)+math.Abs(l)
	if f.beta != 0 {
		b := float64(f.beta * y)
		if !inside(b) || b == 0 && y != 0 {
			return 0, 0, false
		}
		g := math.FMA(f.beta, y, -b)
		var h float64
		p, h = twoSum(p, b)
		rest = rest + g + h
		size += math.Abs(g) + math.Abs(h)
	}
	err := float64(math.Abs(f.alpha)*bound) + float64(0x1p-50*size) + 0x1p-1070
	return p + (rest - err), p + (rest + err), true
}

// setEnclosed stores a value as number i of z, which is binary64 or binary32. It needs binary64
// numbers next to the value, lo below and hi above, and succeeds if these decide the rounding.
func setEnclosed(z *num.Array, i int, lo, hi float64) bool {
	if z.Kind == num.F64 {
		if a := math.Abs(lo); lo != hi || !(a > 0x1p-1000 && a < 0x1p1000) {
			return false
		}
		z.F64[0][i] = lo
		return true
	}
	// For binary32, a tie at either end may be an effect of rounding to binary64.
	const rest, tie = 1<<29 - 1, 1 << 28
	v := float32(lo)
	if v != float32(hi) || math.Float64bits(lo)&rest == tie || math.Float64bits(hi)&rest == tie ||
		!(v > 0x1p-120 && v < 0x1p120 || v < -0x1p-120 && v > -0x1p120) {
		return false
	}
	z.F32[i] = v
	return true
}

// FloatQuotient stores (alpha b - Σ s_h x_h) / d, rounded, in number i of z, if compensated
// arithmetic decides the rounding. All numbers are binary64 or binary32.
//
// As in floatFactors.enclose, the sum is r + l up to bound. Without errors, r = q d + rest. The
// correction c = (rest + l) / d to q has two roundings, and there is one more in lo and hi.
func FloatQuotient(z *num.Array, i int, alpha, b float64, s, x num.Vec, d float64) bool {
	const least, most = 0x1p-900, 0x1p900 // here errors are numbers
	sum, e := twoProduct(alpha, b)
	m := math.Abs(sum)
	for h := range x.N {
		p, q := twoProduct(superacc.FloatAt(s.Arr, s.At(h)), -superacc.FloatAt(x.Arr, x.At(h)))
		var t float64
		sum, t = twoSum(sum, p)
		e += t + q
		m += math.Abs(p)
	}
	r := sum + e
	q := r / d
	inside := func(x float64) bool { return math.Abs(x) > least && math.Abs(x) < most }
	if !inside(r) || !inside(q) || !inside(d) || !(m < most) || math.Abs(e) > math.Abs(sum) {
		return false
	}
	l := (sum - r) + e
	c := (math.FMA(-q, d, r) + l) / d
	err := sumError(x.N+1, m)/math.Abs(d) + float64(0x1p-51*math.Abs(c)) + 0x1p-1070
	return setEnclosed(z, i, q+(c-err), q+(c+err))
}

package direct

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Entries that are one product, a product and a number, or two products. Their exact value is
// computed in a few adjacent words, because the pages of an Acc would cost several times as much as
// everything else.

// A factor is a number that multiplies many numbers.
type factor struct {
	num.Real
	float   float64 // the number, if isFloat
	isFloat bool
	pair    [2]float64 // the number as a double-double, if isPair
	isPair  bool
}

// newFactor returns x y. Zero words at the end of its significand are dropped.
func newFactor(x, y num.Real) (t factor) {
	var z []uint64
	t.Real = superacc.Product(&z, x, y)
	if t.Class != num.Finite {
		return t
	}
	pair := num.New(num.DDouble, 1)
	if pair.Set(0, t.Real); pair.Class(0) == num.Finite {
		var buf [num.MaxValueWords]uint64
		t.pair = [2]float64{pair.F64[0][0], pair.F64[1][0]}
		t.isPair = Compare(pair.Value(0, buf[:]), t.Real) == 0
	}
	n := num.TrailingZeros(t.Mag)
	if num.BitLen(t.Mag)-n > 53 {
		t.Mag = t.Mag[n/64:]
		t.Exp += int64(n &^ 63)
		return t
	}
	t.Mag = []uint64{num.WordAt(t.Mag, int64(n))}
	t.Exp += int64(n)
	t.float, t.isFloat = FloatFactor(t.Real)
	return t
}

// normal reports whether rounding to binary64 gave a normal number without raising a flag. The
// smallest normal number is excluded, because rounding may have brought a subnormal value there.
func normal(x float64) bool {
	a := math.Abs(x)
	return a > 0x1p-1022 && a <= math.MaxFloat64
}

// combineFloat returns RN(a x + b y) if compensated sums decide the rounding.
//
// Let e and g be the errors of the products, s the sum of the rounded products and h the error of
// s. Then s + e + g + h is the exact value. The two roundings of t = e + g + h and the rounding of
// t -+ err cost less than 1.5 2^-52 (|e| + |g| + |h|) (1 + 2^-50).
func combineFloat(a, x, b, y float64) (r float64, ok bool) {
	p, q := float64(a*x), float64(b*y)
	const least, most = 0x1p-900, 0x1p1000 // here the errors of products are numbers
	if u, v := math.Abs(p), math.Abs(q); !(min(u, v) > least && max(u, v) < most) {
		return 0, false
	}
	e, g := math.FMA(a, x, -p), math.FMA(b, y, -q)
	s, h := twoSum(p, q)
	t := e + g + h
	err := float64(0x1p-51 * (math.Abs(e) + math.Abs(g) + math.Abs(h)))
	r = s + (t - err)
	return r, r == s+(t+err) && normal(r)
}

// pairs computes a x + b y for double-doubles. All operands must be double-doubles.
type pairs struct {
	a, b    [2]float64
	x, y, z *num.Array
}

// newPairs returns nil if some operand is not a double-double. If y is nil, there is no second
// term.
func newPairs(a factor, x *num.Array, b factor, y, z *num.Array) *pairs {
	if !a.isPair || z.Kind != num.DD || x.Kind != num.DD || y != nil && (!b.isPair || y.Kind != num.DD) {
		return nil
	}
	return &pairs{a.pair, b.pair, x, y, z}
}

// set stores a x_i + b y_j in number k if it can decide the rounding.
func (c *pairs) set(k, i, j int) bool {
	if c == nil {
		return false
	}
	y := [2]float64{}
	if c.y != nil {
		y = [2]float64{c.y.F64[0][j], c.y.F64[1][j]}
	}
	h, l, ok := combinePairs(c.a, [2]float64{c.x.F64[0][i], c.x.F64[1][i]}, c.b, y)
	if ok {
		c.z.F64[0][k], c.z.F64[1][k] = h, l
	}
	return ok
}

// combinePairs returns the double-double h + l nearest to a x + b y, if sums of the products decide
// the rounding. The products are computed with their errors.
//
// The 7 larger addends below the first two are summed, which leaves 6 errors. These errors and the
// 6 smaller products are 12 addends. Their sum costs 11 roundings, and two of them cost one more
// each. All these roundings together are less than 13 2^-53 (1 + 2^-48) < 2^-49 times the sum of
// the addends' magnitudes. Everything else is exact: the sum is h + w + m up to err, and m is at
// most half an ulp of w. The rounding of h is decided if |w| + |m| + err is less than half an ulp
// of h, because |l| is then less than that too. The rounding of l is decided if both ends of the
// rest agree. Since m is an error of adding that sum and is not larger than it, 2 err has room for
// the rounding of m -+ 2 err.
func combinePairs(a, x, b, y [2]float64) (h, l float64, ok bool) {
	const least, most = 0x1p-900, 0x1p1000 // here the errors of products are numbers
	s, r0, small0, ok0 := pairProduct(a, x)
	t, r1, small1, ok1 := pairProduct(b, y)
	if !ok0 || !ok1 || !(math.Abs(s) < most && math.Abs(t) < most) {
		return 0, 0, false
	}
	s, r := twoSum(s, t)
	low, sum := 0.0, 0.0
	add := func(v float64) {
		low += v
		sum += math.Abs(v)
	}
	for _, v := range [...]float64{r0[0], r0[1], r0[2], r1[0], r1[1], r1[2]} {
		var e float64
		r, e = twoSum(r, v)
		add(e)
	}
	for k := range small0 {
		add(small0[k])
		add(small1[k])
	}
	err := float64(0x1p-49 * sum)
	u, v := twoSum(s, r)
	v, m := twoSum(v, low)
	h, w := twoSum(u, v)
	w, m = twoSum(w, m)
	far := float64(1.0001*math.Abs(w)) + 2*err
	if h+far != h || h-far != h || !(math.Abs(h) > least) {
		return 0, 0, false
	}
	if l = w; err != 0 {
		if l = w + (m - 2*err); l != w+(m+2*err) {
			return 0, 0, false
		}
	}
	if !(math.Abs(l) > least) && (l != 0 || err != 0) {
		return 0, 0, false
	}
	return h, l + 0, true // no -0
}

// pairProduct returns the product of two double-doubles in three parts: the leading product, three
// addends about 2^-53 times as large, and three about 2^-106 times as large, the last of which is
// rounded. The result ok says that the errors of products are numbers.
func pairProduct(a, x [2]float64) (p float64, r, small [3]float64, ok bool) {
	const least = 0x1p-900
	p, r[0] = twoProduct(a[0], x[0])
	r[1], small[0] = twoProduct(a[0], x[1])
	r[2], small[1] = twoProduct(a[1], x[0])
	small[2] = float64(a[1] * x[1])
	for i, v := range [...]float64{p, r[1], r[2], small[2]} {
		if !(math.Abs(v) > least) && a[i>>1] != 0 && x[i&1] != 0 {
			return 0, r, small, false
		}
	}
	return p, r, small, true
}

// twoProduct returns p = RN(a b) and its error.
func twoProduct(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

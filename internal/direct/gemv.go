package direct

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/tiles"
)

// A matrix-vector product is first computed from the leading digits of its products. Row i has a
// reference P_i, the largest exponent of its products. Let a = A 2^e, 1/2 <= A < 1, be an entry,
// and let x_j = X 2^f. The first K = 4 groups digits of A 2^-d, d = P_i - e - f, and of X are used.
// Of their product, the columns c < K of digits are kept, and column c has the weight B^-(c+2), B =
// 2^digitBits. In units of 2^P_i the error of a product is less than
//
//	B^-K (digits of A cut) + B^-K (digits of X cut) + K B^-K / (1 - 1/B) (columns cut),
//
// because each column from K on holds at most K products, and each of these is less than B^2. In
// total this is less than (K + 3) B^-K. Rows whose rounding remains undecided take the exact sum.

const (
	// rowBlock is the largest number of rows whose sums a worker keeps at a time. With long blocks
	// the memory streams down the columns. Their sums fit the second-level cache.
	rowBlock = 1024
	rowTile  = 8 // number of rows whose digits a worker keeps at a time
)

// groupsFor returns the number of digit groups that is enough to round nearly all sums of n
// products to p bits, or 0 if there is none. For data of similar size the sum has about 2^P sqrt(n)
// units. The extra 10 bits make failures rarer than 1 in 2^9.
func groupsFor(p, n int) int {
	need := p + bits.Len(uint(n))/2 + 10
	for g := 1; g <= maxGroups; g++ {
		if 4*digitBits*g >= need+bits.Len(uint(4*g+3)) {
			return g
		}
	}
	return 0
}

// sumBound bounds the error of a sum of n products from K = 4 groups digits, in units of the last
// column, B^-(K+1). The bound is n (K+3) B. It reports false from 2^62 on, where the bound could
// reach a quarter of the last place of a number to be rounded. Below that limit the sums of the
// columns stay far from the ends of int64, because a product adds less than K B^2 to a column and
// less than K B to the second number of its pair.
func sumBound(n, groups int) (bound uint64, ok bool) {
	hi, bound := bits.Mul64(uint64(n), uint64(4*groups+3)<<digitBits)
	return bound, hi == 0 && bound < 1<<62
}

// maxProducts returns the number of products of digits that convolve may add. The digits of x are
// at most 2^27, except that the first may reach 2^28. The digits of a are less than 2^28.
func maxProducts(groups int) int { return 255 / (4*groups + 1) }

// digitVector is a vector cut into balanced digits.
type digitVector struct {
	groups  int
	digits  []int64 // for each entry, 4 zeros and 4 groups digits
	scale   []int64 // exponents
	special bool    // whether there is an infinity or NaN
}

func newDigitVector(x num.Vec, groups int) *digitVector {
	k := 4 * groups
	v := &digitVector{groups: groups, digits: make([]int64, x.N*(k+4)), scale: make([]int64, x.N)}
	buf := make([]uint64, num.MaxValueWords)
	for j := range x.N {
		r := x.Arr.Value(x.At(j), buf)
		switch {
		case r.Class > num.Finite:
			v.special = true
			return v
		case r.Class == num.Zero:
			v.scale[j] = superacc.NoScale
			continue
		}
		n := int64(num.BitLen(r.Mag))
		v.scale[j] = r.Exp + n
		d := v.digits[j*(k+4)+4 : (j+1)*(k+4)]
		carry := int64(0)
		for s := k - 1; s >= 0; s-- {
			t := int64(num.WordAt(r.Mag, n-int64(digitBits*(s+1)))&digitMask) + carry
			carry = 0
			if s > 0 && t > 1<<(digitBits-1) {
				t -= 1 << digitBits
				carry = 1
			}
			d[s] = t
		}
		if r.Neg {
			for s := range d {
				d[s] = -d[s]
			}
		}
	}
	return v
}

// gemv holds what the workers share in products of one matrix with vectors.
type gemv struct {
	alpha, beta num.Real
	m           num.Mat
	count       func(num.Flags)
	stopped     func() bool // whether the context is cancelled
	sums        sums
	block       int  // number of rows at a time
	byRows      bool // vertical digits belong to numbers of the same row
	// For alpha = (-1)^negative 2^shift and beta = 0, the sum alone decides the rounding.
	plain    bool
	shift    int64
	negative bool
	floatFactors
}

// sums selects the methods that are tried before the exact sum: compensated sums, sums in fixed
// point from the highest words, or leading digits. The digits are vertical if a vector unit
// supports them.
type sums struct {
	floats   bool
	tiles    tiles.Plan // used if it has blocks; vertical where tiles would be slow
	vertical lanes.Plan // used if it has digits
	top      topPlan    // used if it has words
	groups   int        // number of groups of digits, used if not 0
	bound    uint64     // for the sums of digits, in units of their last column
}

// floatSums reports whether sums of n products of numbers of formats m and x are compensated sums
// in binary64, for results of format z.
func floatSums(m, x, z num.Format, n int) bool {
	return superacc.IsFloat(m) && superacc.IsFloat(x) && (superacc.IsFloat(z) && n > 1 || z.Bits() <= floatBits && n >= superacc.FewFloats)
}

// sumsFor returns how to sum the products of the rows of a rows x cols matrix of format m with
// vectors of format x, for results of format z. The flag inLine means that the rows or the columns
// are contiguous.
func sumsFor(rows, cols int, m, x, z num.Format, inLine bool) (s sums) {
	if floatSums(m, x, z, cols) {
		s.floats = true
		return s
	}
	if cols < 4 || rows < 2 && cols < fewProducts {
		return s
	}
	if t, ok := lanes.PlanSum(z.Bits(), cols*max(1, m.Terms())); ok && rows*cols > t.Unit.Few && (inLine || m.Kind != num.MP) {
		t.Terms = max(1, m.Terms())
		s.vertical = t
		if t, ok := tiles.PlanRows(m, z.Bits(), rows, cols); ok {
			s.tiles = t
		}
	} else if t, ok := planTop(m, z.Bits(), cols); ok && t.fits(x) && inLine {
		s.top = t
	} else {
		k := groupsFor(z.Bits(), cols)
		if bound, ok := sumBound(cols, k); ok {
			s.groups, s.bound = k, bound
		}
	}
	return s
}

// A column is one vector that the matrix multiplies: z = alpha M x + beta y.
type column struct {
	x, y, z num.Vec
	xf      []float64    // x, if compensated sums are used
	xTop    *num.Array   // x in the form that top needs, if top is used
	dx      *digitVector // x, if its leading digits are used
	scale   []int64      // exponents of x, if digits or top are used
	// The vector x in vertical digits, if these are used.
	xVertical *lanes.Vector
	xTiles    *tiles.Vector // x in digits for tiles, if these are used
}

// column prepares x. If x has infinities or NaN, only exact sums are used.
func (g *gemv) column(x, y, z num.Vec) column {
	c := column{x: x, y: y, z: z}
	switch {
	case g.sums.floats:
		c.xf = make([]float64, x.N)
		copy(c.xf, floatsOf(x, 0, x.N, c.xf))
	case g.sums.vertical.Digits != 0:
		if g.sums.tiles.Blocks != 0 {
			v, scale, ok := g.sums.tiles.Vector(x)
			if !ok {
				break
			}
			if g.sums.tiles.Near(g.m, scale) {
				c.xTiles, c.scale = v, scale
				break
			}
			v.Free()
		}
		if v, ok := g.sums.vertical.Vector(x, g.byRows); ok {
			c.xVertical, c.scale = v, v.Scale[:x.N]
		}
	case g.sums.top.words != 0:
		c.xTop, c.scale = g.sums.top.vector(x)
	case g.sums.groups != 0:
		if dx := newDigitVector(x, g.sums.groups); !dx.special {
			c.dx, c.scale = dx, dx.scale
		}
	}
	return c
}

// free gives back the memory of x.
func (c *column) free() {
	if c.xTiles != nil {
		c.xTiles.Free()
	}
}

// newGemv prepares products of m with vectors of format x for results of format z.
func newGemv(stopped func() bool, alpha num.Real, m num.Mat, beta num.Real, x, z num.Format, count func(num.Flags)) *gemv {
	g := &gemv{alpha: alpha, beta: beta, m: m, count: count, stopped: stopped}
	if alpha.Class == num.Finite {
		g.sums = sumsFor(m.Rows, m.Cols, m.Arr.Format, x, z, m.RS == 1 || m.CS == 1)
		g.byRows = m.Arr.Kind == num.MP && m.CS == 1 && (m.RS != 1 || m.Rows < 4)
		e, ok := superacc.PowerOfTwo(alpha.Mag)
		g.plain = ok && beta.Class == num.Zero
		g.shift, g.negative = alpha.Exp+e, alpha.Neg
		if g.sums.floats {
			g.floatFactors = newFloatFactors(alpha, beta)
		}
	}
	return g
}

// gemvWorker holds the memory of one worker.
type gemvWorker struct {
	*gemv
	column
	acc      superacc.Acc
	tmp      *num.Array
	split    *splitter
	ref      []int64
	special  []bool
	columns  []int64
	words    []uint64
	topRows  [rowTile]*topRows // for top where there is no assembly
	floats   floatSum
	lanes    [3][]float64 // sums, errors and magnitudes of a block of rows
	gathered []float64
	vector   []float64 // memory for xf in Small
	digits   []int64
	mag      []uint64
	products int
	ahead    int        // bytes from one tile to the next
	cut      *num.Array // entries in MP, if the matrix is not
	vertical *lanes.Rows
	tiles    *tiles.Sums
}

func newGemvWorker(g *gemv, z num.Format) *gemvWorker {
	w := &gemvWorker{gemv: g, tmp: num.New(z, 1)}
	w.acc.Stopped = g.stopped
	if g.sums.vertical.Digits == 0 && g.sums.top.words == 0 && g.sums.groups == 0 {
		return w
	}
	w.ref = make([]int64, g.block+sumLanes)
	w.special = make([]bool, g.block)
	if t := g.sums.vertical; t.Digits != 0 {
		if g.m.Arr.Kind != num.MP {
			w.cut = num.New(num.Format{Kind: num.MP, Prec: 64}, g.block*min(g.m.Cols, t.Numbers))
			w.gathered = make([]float64, g.block)
		}
		w.mag = make([]uint64, max(t.MagWords(), g.sums.tiles.MagWords()))
		return w
	}
	if g.sums.top.words != 0 {
		w.words = make([]uint64, g.sums.top.sum*g.block)
		for i := range w.topRows {
			w.topRows[i] = g.sums.top.plainRows()
		}
		return w
	}
	k := 4 * g.sums.groups
	w.products = maxProducts(g.sums.groups)
	limbs := g.m.Arr.Limbs()
	if g.m.Arr.Kind != num.MP {
		limbs = (digitBits*k + 63) / 64
		w.cut = num.New(num.Format{Kind: num.MP, Prec: uint32(64 * limbs)}, g.block*min(g.m.Cols, w.products))
	}
	w.split = newSplitter(g.sums.groups, limbs, max(rowTile, w.products))
	w.columns = make([]int64, g.block*2*k)
	w.digits = make([]int64, rowTile*w.products*k)
	w.mag = make([]uint64, (digitBits*(k+1)+63)/64+2)
	return w
}

// rows computes the rows lo <= i < hi and returns the number of rows that took the exact sum. If
// the context is cancelled, it stops, and the rows have no meaning.
func (w *gemvWorker) rows(lo, hi int) (exact int64) {
	if w.xf != nil {
		return w.rowsFloat(lo, hi)
	}
	if w.scale == nil {
		for i := lo; i < hi && !w.stopped(); i++ {
			w.exactRow(i)
		}
		return 0
	}
	w.references(lo, hi)
	switch {
	case w.xTiles != nil:
		return w.rowsTiles(lo, hi)
	case w.xVertical != nil:
		return w.rowsVertical(lo, hi)
	case w.xTop != nil:
		return w.rowsTop(lo, hi)
	}
	clear(w.columns)
	for j := 0; j < w.m.Cols && !w.stopped(); j += w.products {
		n := min(w.products, w.m.Cols-j)
		a, at := w.m, w.m.At(lo, j)
		if w.cut != nil {
			a, at = w.load(lo, hi, j, n), 0
		}
		for r := 0; r < hi-lo; r += rowTile {
			next := rowTile * a.RS
			if r+rowTile >= hi-lo {
				next = n*a.CS - r*a.RS
			}
			w.ahead = 8 * next * a.Arr.Limbs()
			w.tile(a, at+r*a.RS, r, min(rowTile, hi-lo-r), j, n)
		}
	}
	for r := range hi - lo {
		if w.stopped() {
			return exact
		}
		if w.special[r] || !w.round(lo+r, w.ref[r], w.columns[r*8*w.sums.groups:(r+1)*8*w.sums.groups]) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// references finds, for every row, the largest exponent of a product and whether an entry is
// infinite or NaN.
func (w *gemvWorker) references(lo, hi int) {
	ref, special := w.ref[:hi-lo], w.special[:hi-lo]
	for r := range ref {
		ref[r], special[r] = math.MinInt64, false
	}
	switch {
	case w.m.Arr.Kind == num.MP && w.m.RS == 1:
		w.referencesByColumns(lo, hi)
	case w.m.Arr.Kind == num.MP && w.m.CS == 1:
		w.referencesByRows(lo, hi)
	case w.m.Arr.Terms() >= 1: // the first terms of expansions decide; load checks whether they do
		x := w.m.Arr.F64[0]
		for j, f := range w.scale {
			for r := range ref {
				e := int64(math.Float64bits(x[w.m.At(lo+r, j)])>>52) & 0x7ff
				if e == 0 || e == 0x7ff { // zeros, subnormal or special numbers
					c, top, _ := w.m.Arr.Span(w.m.At(lo+r, j))
					w.refer(r, c, top, f)
				} else {
					w.refer(r, num.Finite, e-1022, f)
				}
			}
		}
	default:
		for j, f := range w.scale {
			for r := range ref {
				c, e, _ := w.m.Arr.Span(w.m.At(lo+r, j))
				w.refer(r, c, e, f)
			}
		}
	}
	for r := range ref {
		if ref[r] == math.MinInt64 { // all are zeros
			ref[r], special[r] = 0, true
		}
	}
}

// refer updates the reference of row r for an entry with the given class and exponent and the
// exponent of its factor.
func (w *gemvWorker) refer(r int, c num.Class, e, f int64) {
	if c == num.Finite {
		if f != superacc.NoScale {
			w.ref[r] = max(w.ref[r], e+f)
		}
	} else if c > num.Finite {
		w.special[r] = true
	}
}

// allFinite reports whether all numbers are finite and not 0.
func allFinite(c []num.Cls) bool {
	const finite, class = 0x0202020202020202, 0xfefefefefefefefe
	all := true
	for ; len(c) >= 8; c = c[8:] {
		all = all && *(*uint64)(unsafe.Pointer(&c[0]))&class == finite
	}
	for _, x := range c {
		all = all && x.Class() == num.Finite
	}
	return all
}

func (w *gemvWorker) referencesByColumns(lo, hi int) {
	ref := w.ref[:hi-lo]
	for j, f := range w.scale {
		at := w.m.At(lo, j)
		exp, cls := w.m.Arr.Exp[at:at+len(ref)], w.m.Arr.Cls[at:at+len(ref)]
		if f != superacc.NoScale {
			k, special := referColumnFast(ref, exp, cls, f)
			if !referColumn(ref[k:], exp[k:], cls[k:], f) && !special {
				continue
			}
		}
		for r, c := range cls {
			w.refer(r, c.Class(), int64(exp[r]), f)
		}
	}
}

// referColumn raises the references of rows to at least the exponents of a column plus the exponent
// of its factor. It reports whether an entry is infinite or NaN. In that case the reference of its
// row has no meaning.
func referColumn(ref []int64, exp []int32, cls []num.Cls, f int64) (special bool) {
	exp = exp[:len(ref)]
	if allFinite(cls) {
		for r := range ref {
			ref[r] = max(ref[r], int64(exp[r])+f)
		}
		return false
	}
	for r, c := range cls {
		if c&2 != 0 {
			ref[r] = max(ref[r], int64(exp[r])+f)
		}
		special = special || c.Class() > num.Finite
	}
	return special
}

func (w *gemvWorker) referencesByRows(lo, hi int) {
	for r := range hi - lo {
		at := w.m.At(lo+r, 0)
		exp, cls := w.m.Arr.Exp[at:at+w.m.Cols], w.m.Arr.Cls[at:at+w.m.Cols]
		k, top, special := referRowFast(exp, cls, w.scale)
		rest, more := referRow(exp[k:], cls[k:], w.scale[k:])
		w.special[r] = special || more
		// The exponent of a zero of x is far below all others.
		if top = max(top, rest); top > superacc.NoScale/2 {
			w.ref[r] = top
		}
	}
}

// referRow returns the largest exponent of a row, each exponent added to the exponent of its
// factor. It reports whether an entry is infinite or NaN. In that case the exponent has no meaning.
func referRow(exp []int32, cls []num.Cls, scale []int64) (top int64, special bool) {
	scale = scale[:len(exp)]
	m := [4]int64{math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64}
	j := 0
	if allFinite(cls) {
		for ; j+4 <= len(exp); j += 4 {
			e, f := (*[4]int32)(exp[j:]), (*[4]int64)(scale[j:])
			m[0] = max(m[0], int64(e[0])+f[0])
			m[1] = max(m[1], int64(e[1])+f[1])
			m[2] = max(m[2], int64(e[2])+f[2])
			m[3] = max(m[3], int64(e[3])+f[3])
		}
	}
	for ; j < len(exp); j++ {
		if cls[j]&2 != 0 {
			m[0] = max(m[0], int64(exp[j])+scale[j])
		}
		special = special || cls[j].Class() > num.Finite
	}
	return max(m[0], m[1], m[2], m[3]), special
}

// load returns rows lo <= i < hi of columns j <= h < j+n as MP numbers, cut to the digits that
// matter.
func (w *gemvWorker) load(lo, hi, j, n int) num.Mat {
	b, k := w.cut, 0
	var buf [num.MaxValueWords]uint64
	for h := range n {
		for i := lo; i < hi; i++ {
			loadNumber(b, k, w.m.Arr, w.m.At(i, j+h), buf[:])
			switch c := b.Cls[k].Class(); {
			case c > num.Finite, c == num.Finite && int64(b.Exp[k])+w.scale[j+h] > w.ref[i-lo]:
				w.special[i-lo] = true // or terms of an expansion that overlap
			}
			k++
		}
	}
	return num.Mat{Arr: b, RS: 1, CS: hi - lo}
}

// loadNumber cuts number i of a to the words of b and stores it in number k of b, which is in MP.
func loadNumber(b *num.Array, k int, a *num.Array, i int, buf []uint64) {
	l := b.Limbs()
	z := b.Sig[k*l : (k+1)*l]
	switch {
	case superacc.IsFloat(a.Format):
		clear(z[:l-1])
		b.Cls[k], b.Exp[k] = superacc.FloatWord(&z[l-1], superacc.FloatAt(a, i))
		return
	case a.Terms() > 1:
		if top, ok := loadTerms(z, a, i); ok {
			b.Cls[k], b.Exp[k] = num.MakeCls(a.F64[0][i] < 0, num.Finite), int32(top)
			return
		}
	}
	v := a.Value(i, buf)
	b.Cls[k] = num.MakeCls(v.Neg, v.Class)
	if v.Class != num.Finite {
		return
	}
	top := int64(num.BitLen(v.Mag))
	b.Exp[k] = int32(v.Exp + top)
	for s := range z {
		z[s] = num.WordAt(v.Mag, top-int64(64*(l-s)))
	}
}

// loadTerms stores the magnitude of number i of a in z, with the leading bit on top. It succeeds if
// the number is an expansion of normal numbers that fits, and if its leading bit is the leading bit
// of its first term. Nearly all expansions meet this. The magnitude lies in [2^(top-1), 2^top).
func loadTerms(z []uint64, a *num.Array, i int) (top int64, ok bool) {
	if a.Terms() < 2 {
		return 0, false
	}
	const fraction, hidden = 1<<52 - 1, 1 << 52
	lead := math.Float64bits(a.F64[0][i])
	e := int(lead >> 52 & 0x7ff)
	if e == 0 || e == 0x7ff {
		return 0, false
	}
	clear(z)
	n := len(z)
	z[n-1] = (lead&fraction | hidden) << 11
	last := e
	for t := 1; t < a.Terms(); t++ {
		x := math.Float64bits(a.F64[t][i])
		if x == 0 {
			continue
		}
		f := int(x >> 52 & 0x7ff)
		pos := 64*n - 53 - (e - f)
		if f == 0 || last-f < 53 || pos < 0 {
			return 0, false
		}
		last = f
		m, s, k := x&fraction|hidden, uint(pos)&63, pos>>6
		hi := m >> 1 >> (63 - s)
		m <<= s
		var c uint64
		if int64(x^lead) >= 0 {
			z[k], c = bits.Add64(z[k], m, 0)
			for k++; k < n && hi|c != 0; k++ {
				z[k], c = bits.Add64(z[k], hi, c)
				hi = 0
			}
		} else {
			z[k], c = bits.Sub64(z[k], m, 0)
			for k++; k < n && hi|c != 0; k++ {
				z[k], c = bits.Sub64(z[k], hi, c)
				hi = 0
			}
		}
		if c != 0 {
			return 0, false
		}
	}
	return int64(e) - 1022, z[n-1]>>63 != 0
}

var zeroScale = make([]int64, 1)

// tile adds the products of rows r <= i < r+rows of the block and columns j <= h < j+n. Number at
// of a is entry (r, j).
func (w *gemvWorker) tile(a num.Mat, at, r, rows, j, n int) {
	k := 4 * w.sums.groups
	job := w.split.job()
	pitch := 8 * k * n
	byColumns := a.RS == 1 || n < rows && a.CS != 1
	outer, inner := n, rows
	if !byColumns {
		outer, inner = rows, n
	}
	job.n, job.ahead = inner, w.ahead
	for o := range outer {
		first, step := at+o*a.CS, a.RS
		if !byColumns {
			first, step = at+o*a.RS, a.CS
		}
		w.split.significands(&job, a.Arr.Sig, first, step)
		job.exp, job.expPitch = unsafe.Pointer(&a.Arr.Exp[first]), 4*step
		job.cls, job.clsPitch = unsafe.Pointer(&a.Arr.Cls[first]), step
		if byColumns {
			job.dst, job.dstPitch = unsafe.Pointer(&w.digits[k*o]), pitch
			job.ref, job.refPitch = unsafe.Pointer(&w.ref[r]), 8
			job.scale, job.scalePitch = unsafe.Pointer(&w.dx.scale[j+o]), 0
		} else {
			job.dst, job.dstPitch = unsafe.Pointer(&w.digits[k*n*o]), 8*k
			job.ref, job.refPitch = unsafe.Pointer(&w.ref[r+o]), 0
			job.scale, job.scalePitch = unsafe.Pointer(&w.dx.scale[j]), 8
		}
		splitInto(&job)
	}
	x := unsafe.Pointer(&w.dx.digits[j*(k+4)])
	for i := 0; i < rows; i += 2 {
		addConvolution(min(2, rows-i), w.sums.groups, unsafe.Pointer(&w.columns[2*k*(r+i)]), 16*k, unsafe.Pointer(&w.digits[k*n*i]), pitch, x, n)
	}
}

func splitInto(j *digitJob) {
	if superacc.Assembly() {
		splitDigitsFast(j)
		return
	}
	splitDigits(j)
}

func addConvolution(rows, groups int, acc unsafe.Pointer, accPitch int, a unsafe.Pointer, aPitch int, x unsafe.Pointer, n int) {
	if superacc.Assembly() {
		convolveFast(rows, groups, acc, accPitch, a, aPitch, x, n)
		return
	}
	convolve(rows, groups, acc, accPitch, a, aPitch, x, n)
}

// columnSum returns the number that the pairs of columns stand for, in units of the last column. It
// uses the memory of mag.
func columnSum(mag []uint64, columns []int64) (m []uint64, neg bool) {
	clear(mag)
	n := len(columns) / 2
	at := func(c int) int { return 8*(c>>2) + c&3 }
	p := superacc.Packer{Mag: mag}
	carry := int64(0)
	for c := n - 1; c >= 0; c-- {
		t := columns[at(c)] + carry
		if c < n-1 {
			t += columns[at(c+1)+4]
		}
		p.Put(uint64(t)&digitMask, digitBits)
		carry = t >> digitBits
	}
	return p.Finish(carry + columns[4]) // hi of column 0 weighs B^-1 like the carry
}

// round stores row i if the kept digits decide its rounding.
func (w *gemvWorker) round(i int, ref int64, columns []int64) bool {
	k := 4 * w.sums.groups
	m, neg := columnSum(w.mag, columns)
	if len(m) == 0 {
		return false
	}
	v := num.Real{Class: num.Finite, Neg: neg, Exp: ref - int64(digitBits*(k+1)), Mag: m}
	return w.roundSum(i, v, w.sums.bound)
}

// roundSum stores row i if its sum of products v, known to within bound units, decides the
// rounding.
func (w *gemvWorker) roundSum(i int, v num.Real, bound uint64) bool {
	if w.plain {
		v.Exp += w.shift
		v.Neg = v.Neg != w.negative
		return w.roundPlain(i, v, bound)
	}
	w.acc.Reset()
	w.acc.AddProduct(w.alpha, v)
	return w.roundRest(i, num.Real{Class: num.Finite, Exp: v.Exp, Mag: []uint64{bound}})
}

// roundRest adds beta y_i to w.acc, which holds alpha times a sum known up to bound. It stores row
// i if the result decides the rounding.
func (w *gemvWorker) roundRest(i int, bound num.Real) bool {
	a := &w.acc
	if w.beta.Class != num.Zero {
		a.AddProduct(w.beta, w.y.Arr.Value(w.y.At(i), a.Buffer(2)))
	}
	bound.Mag = superacc.Multiply(nil, bound.Mag, w.alpha.Mag)
	bound.Exp += w.alpha.Exp
	return a.Finite() && w.enclosed(i, bound)
}

// roundPlain stores v, known to within bound units, if rounding cannot depend on the error.
func (w *gemvWorker) roundPlain(i int, v num.Real, bound uint64) bool {
	n := int64(num.BitLen(v.Mag))
	top := v.Exp + n
	p := int64(w.z.Arr.Prec)
	switch {
	case n <= p, w.z.Arr.Terms() > 1,
		w.z.Arr.Kind == num.F64 && (top < -1000 || top > 1000),
		w.z.Arr.Kind == num.F32 && (top < -120 || top > 120),
		w.z.Arr.Kind == num.MP && (top < math.MinInt32+8 || top > math.MaxInt32-8):
		a := &w.acc
		a.Reset()
		a.Add(v)
		return w.enclosed(i, num.Real{Class: num.Finite, Exp: v.Exp, Mag: []uint64{bound}})
	}
	// The 64 bits behind the last kept bit, as a distance from the tie. The error must stay below a
	// quarter of the last place kept, because below a power of two the places are half as wide.
	t := int64(num.WordAt(v.Mag, n-p-64) ^ 1<<63)
	if t < 0 {
		t = -t
	}
	err := uint64(1) << 62
	if n >= p+64 {
		err = bound>>uint(min(63, n-p-64)) + 2
	} else if up := p + 64 - n; int64(bits.Len64(bound))+up <= 62 {
		err = bound << uint(up)
	}
	if err >= 1<<62 || uint64(t) <= err {
		return false
	}
	w.tally(w.z.Arr.Set(w.z.At(i), v))
	return true
}

func (w *gemvWorker) tally(f num.Flags) {
	if f != 0 {
		w.count(f)
	}
}

// enclosed stores the sum in w.acc, known up to bound, as row i. It does so if both ends of the
// enclosure round to the same number.
func (w *gemvWorker) enclosed(i int, bound num.Real) bool {
	f, ok := w.acc.RoundEnclosure(w.tmp, bound)
	if !ok {
		return false
	}
	w.z.Arr.CopyFrom(w.z.At(i), w.tmp, 0)
	w.tally(f)
	return true
}

// exactRow stores row i from its exact sum.
func (w *gemvWorker) exactRow(i int) {
	var old num.Real
	if w.beta.Class != num.Zero {
		old = w.y.Arr.Value(w.y.At(i), w.acc.Buffer(2))
	}
	w.tally(w.z.Arr.Set(w.z.At(i), w.acc.Entry(w.z.Arr.Format, w.alpha, w.m.Row(i), w.x, w.beta, old)))
}

package sym

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/symeig"
)

// A quick solver encloses the eigenvalues of a symmetric matrix A of small order, in integers. Its
// vectors x_j gain about 45 bits in each step:
//
//	w_j = A x_j - d_j x_j,  x_j <- x_j + Σ_k≠j v_k (v_kᵀ w_j) / (d_j - d_k),  d_j <- d_j + v_jᵀ w_j.
//
// The v_k are float64 eigenvectors, and float64 arithmetic computes the sum. A, x_j, A x_j, d_j and
// w_j are integers times powers of two and exact, whatever the corrections are worth. A step takes
// n³ products of a word and an entry of A.
//
// The enclosures need no other products. For a vector x and any d an eigenvalue of A differs from d
// by at most ‖A x - d x‖ / ‖x‖. If these n intervals are disjoint, each has exactly one eigenvalue.
// For the Rayleigh quotient ρ = d + xᵀ w / xᵀ x, and a lower bound of the distance from ρ to the
// other eigenvalues,
//
//	|λ - ρ| ≤ (‖A x - ρ x‖ / ‖x‖)² / distance
//
// (Kato, On the upper and lower bounds of eigenvalues, 1949; Parlett, The symmetric eigenvalue
// problem, theorem 11.7.1). ρ minimises ‖A x - ρ x‖, so ‖w‖ bounds it.
//
// Integers have 64-bit words in two's complement, the least significant one first.
type quick struct {
	s *call.Run
	n int
	// A is 2^top times a matrix B with entries between -1/2 and 1/2. a has the fractions of B +
	// 1/2, la words each, by rows, and sums their sums times 2^63, of la + 2 words.
	top     int64
	la      int
	a, sums []uint64
	// x, and d of B, have an integer part of one word after a fraction of lx - 1, y = B x has one
	// after ly - 1. All are stored by columns, as are v and w.
	lx, ly  int
	x, y, d []uint64
	v       []float64
	near    []float64 // d, rounded
	// w is B x - d x, where column j is divided by 2^scale[j]; norm bounds ‖w_j‖, and long is a
	// lower bound of ‖x_j‖.
	w          []float64
	scale      []int64
	norm, long []size
	rooms      []quickRoom

	// For orders from quickProduct on, corrections z_j 2^-at[j] are multiplied by matrix, which is
	// A, and image has the products. Else image has no array.
	matrix, z, image num.Mat
	at               []int64
}

// quickRoom is memory of one worker.
type quickRoom struct {
	part, shift     []float64
	words           []uint64
	w, product, sum []uint64
	squares         []uint64
	exponents       []int64
}

// quickWork bounds n times the words of an entry of A. Eigenvalues of 53, 106 and 424 bits took
// 0.7, 0.5 and 0.4 of the time of the rounds of [solver.run] for random float64 matrices of order
// 100 (2 words), and 0.8, 0.3 and 0.5 for order 200; singular values 0.9, 0.6 and 0.5 for order 100
// (3 words), and 1.1, 0.6 and 0.5 for order 200: bench/cmd/spectra. Tests change it.
var quickWork = 600

// quickProduct is the order from which a product of matrices takes less time than its words one by
// one: the same for order 50, and 0.4 to 0.6 of it for order 200. Tests change it.
var quickProduct = 48

// quickWords bounds the words of an entry of x, whose products take time proportional to the square
// of their words.
const quickWords = 16

func compareSizes(x, y size) int {
	switch {
	case x.less(y):
		return -1
	case y.less(x):
		return 1
	}
	return 0
}

// newQuick returns a solver whose vectors have fractions of the given words; nil if A takes too
// many words.
func newQuick(s *call.Run, a num.Mat, v []float64, words int) *quick {
	n := a.Rows
	top, low := int64(math.MinInt64), int64(math.MaxInt64)
	for j := range n {
		for i := range j + 1 {
			if c, t, l := a.Arr.Span(a.At(i, j)); c == num.Finite {
				top, low = max(top, t), min(low, l)
			}
		}
	}
	if low > top || top-low > int64(64*quickWork) || n*int((top-low)/64+1) > quickWork {
		return nil
	}
	q := &quick{s: s, n: n, top: top + 1, la: int((top-low)/64 + 1), lx: words + 1}
	q.ly = q.la + q.lx
	if s.Budget.Check(float64(8*n*n)*float64(q.la+q.lx+2*q.ly+4)) != nil {
		return nil
	}
	room := make([]uint64, n*(n*(q.la+q.lx+q.ly)+q.la+2+q.lx))
	take := func(k int) []uint64 {
		z := room[:k:k]
		room = room[k:]
		return z
	}
	q.a, q.sums = take(n*n*q.la), take(n*(q.la+2))
	q.x, q.y, q.d = take(n*n*q.lx), take(n*n*q.ly), take(n*q.lx)
	q.v, q.w, q.near = make([]float64, n*n), make([]float64, n*n), make([]float64, n)
	q.scale, q.norm, q.long = make([]int64, n), make([]size, n), make([]size, n)
	fraction := max(q.la, q.lx-1) + q.lx - 1
	q.rooms = make([]quickRoom, max(1, s.Threads))
	for i := range q.rooms {
		q.rooms[i] = quickRoom{
			part: make([]float64, n), shift: make([]float64, n), words: make([]uint64, n), exponents: make([]int64, n),
			w: make([]uint64, fraction+2), product: make([]uint64, 2*q.lx), sum: make([]uint64, fraction+2+q.lx+1), squares: make([]uint64, 2*q.lx+1),
		}
	}
	for i := range n {
		for j := range n {
			q.v[i+j*n] = v[i*n+j]
		}
	}
	if n >= quickProduct {
		q.matrix, q.z, q.at = a, num.NewMat(num.Float64, n, n), make([]int64, n)
		q.image = num.NewMat(call.MP(int(top-low)+64+bits.Len(uint(n))), n, n) // for all bits
		return q
	}
	buf := make([]uint64, num.ValueWords(a.Format()))
	for i := range n {
		for j := range i + 1 {
			z := q.a[(i*n+j)*q.la:][:q.la]
			q.put(z, a.Arr.Value(a.At(i, j), buf))
			copy(q.a[(j*n+i)*q.la:][:q.la], z)
		}
	}
	for i := range n {
		for k := range n {
			addShifted(q.sums[i*(q.la+2):][:q.la+2], q.a[(i*n+k)*q.la:][:q.la], 63, false)
		}
	}
	return q
}

// put stores an entry of A, divided by 2^top, plus 1/2.
func (q *quick) put(z []uint64, x num.Real) {
	if x.Class == num.Finite {
		addReal(z, x, 64*int64(q.la)-q.top)
	}
	z[q.la-1] += 1 << 63
}

// negate sets z = -z.
func negate(z []uint64) {
	carry := uint64(1)
	for i, v := range z {
		z[i], carry = bits.Add64(^v, 0, carry)
	}
}

// addShifted adds x 2^shift to z, with the sign of x if signed is set. Words beyond the last of z
// are left out.
func addShifted(z, x []uint64, shift uint, signed bool) {
	i, by := int(shift/64), shift%64
	if i >= len(z) {
		return
	}
	extension := uint64(0)
	if signed {
		extension = uint64(int64(x[len(x)-1]) >> 63)
	}
	carry, below := uint64(0), uint64(0)
	z = z[i:]
	k := min(len(x), len(z))
	for i, v := range x[:k] {
		z[i], carry = bits.Add64(z[i], v<<by|below>>(64-by), carry)
		below = v
	}
	if k < len(z) {
		z[k], carry = bits.Add64(z[k], extension<<by|below>>(64-by), carry)
		k++
	}
	// An extension of -1 and a carry change nothing.
	for ; k < len(z) && extension+carry != 0; k++ {
		z[k], carry = bits.Add64(z[k], extension, carry)
	}
}

// columns calls f for all columns.
func (q *quick) columns(f func(r *quickRoom, j int)) error {
	return par.For(q.s.Ctx, len(q.rooms), q.n, func(w, j int) { f(&q.rooms[w], j) })
}

// start sets x to the float64 eigenvectors, and d to their Rayleigh quotients, rounded. It is not
// ok if they are no eigenvectors, or if eigenvalues are close to each other.
func (q *quick) start() (ok bool, err error) {
	n := q.n
	for _, v := range q.v {
		if !(math.Abs(v) < 1.5) {
			return false, nil
		}
	}
	if err := q.columns(func(r *quickRoom, j int) {
		copy(r.shift, q.v[j*n:][:n])
		q.move(r, j, 0)
	}); err != nil {
		return false, err
	}
	if err := q.multiply(); err != nil {
		return false, err
	}
	if err := q.columns(func(_ *quickRoom, j int) {
		sum, norm := 0.0, 0.0
		for i, v := range q.v[j*n:][:n] {
			m, e := leadingOf(q.y[(i+j*n)*q.ly:][:q.ly], q.ly-1)
			sum += math.Ldexp(m, int(max(e, -1000))) * v // may fuse: an estimate
			norm += v * v                                // may fuse: an estimate
		}
		q.near[j] = sum / norm
		addFloat(q.d[j*q.lx:][:q.lx], q.near[j], 0)
	}); err != nil {
		return false, err
	}
	sorted := slices.Sorted(slices.Values(q.near))
	most := max(math.Abs(sorted[0]), math.Abs(sorted[n-1]))
	for i := 1; i < n; i++ {
		if !(sorted[i]-sorted[i-1] > most*0x1p-28) {
			return false, nil
		}
	}
	return true, nil
}

// addFloat adds v 2^scale to z, cut to its fraction of len(z) - 1 words.
func addFloat(z []uint64, v float64, scale int64) {
	m, e := math.Frexp(v)
	by := int64(e) + scale - 63 + 64*int64(len(z)-1)
	x := int64(m * 0x1p63)
	if by < 0 {
		x, by = x>>min(-by, 63), 0
	}
	addShifted(z, []uint64{uint64(x)}, uint(by), true)
}

// move adds the vector in r.shift, times 2^scale, to x_j, cut to the bits that x has. It updates
// y, or leaves that to multiply.
func (q *quick) move(r *quickRoom, j int, scale int64) {
	n, fraction := q.n, 64*int64(q.lx-1)
	most := 0.0
	for _, v := range r.shift {
		most = max(most, math.Abs(v))
	}
	_, e := math.Frexp(most)
	// Units of 2^-at; the integers are below 2^62.
	at := min(62-int64(e)-scale, fraction)
	factor, shift := math.Ldexp(1, int(max(at+scale, -1000))), uint(fraction-at)
	var low, high, carry uint64 // low and high are the sum of the integers
	for k, v := range r.shift {
		z := int64(v * factor)
		low, carry = bits.Add64(low, uint64(z), 0)
		high += uint64(z>>63) + carry
		addShifted(q.x[(k+j*n)*q.lx:][:q.lx], []uint64{uint64(z)}, shift, true)
		r.words[k] = uint64(z) ^ 1<<63 // z + 2^63
		if q.image.Arr != nil {
			q.z.SetFloat64(k, j, float64(z)) // z has the bits of v
		}
	}
	if q.image.Arr != nil {
		q.at[j] = at
		return
	}
	la := q.la
	sum := r.sum[:la+2]
	for i := range n {
		// B z = (B + 1/2) (z + 2^63) - 2^63 (sums of B + 1/2) - (sum of z)/2.
		clear(sum)
		accumulate(sum, q.a[i*n*la:][:n*la], la, r.words)
		subtract(sum, q.sums[i*(la+2):][:la+2])
		subtract(sum[la-1:], []uint64{low << 63, low>>1 | high<<63, uint64(int64(high) >> 1)})
		addShifted(q.y[(i+j*n)*q.ly:][:q.ly], sum, shift, true)
	}
}

// multiply adds the products of A and the corrections to y.
func (q *quick) multiply() error {
	if q.image.Arr == nil {
		return nil
	}
	if err := q.s.Gemm(1, q.matrix, q.z, 0, num.Mat{}, q.image); err != nil {
		return err
	}
	return q.columns(func(r *quickRoom, j int) {
		for i := range q.n {
			x := q.image.Arr.Value(q.image.At(i, j), nil)
			if x.Class == num.Finite {
				addReal(q.y[(i+j*q.n)*q.ly:][:q.ly], x, 64*int64(q.ly-1)-q.top-q.at[j])
			}
		}
	})
}

// addReal adds x 2^exp, an integer, to z.
func addReal(z []uint64, x num.Real, exp int64) {
	at := x.Exp + exp // of the lowest bit, which may be 0
	i, by := int(at>>6), uint(at&63)
	below, carry := uint64(0), uint64(0)
	for k := range len(z) - min(i, len(z)) { // carries may reach the last word
		v := below >> (64 - by)
		if below = 0; k < len(x.Mag) {
			below = x.Mag[k]
			v |= below << by
		} else if k > len(x.Mag) && carry == 0 {
			return
		}
		switch {
		case i+k < 0: // 0
		case x.Neg:
			z[i+k], carry = bits.Sub64(z[i+k], v, carry)
		default:
			z[i+k], carry = bits.Add64(z[i+k], v, carry)
		}
	}
}

// accumulate adds to z the sum of x_k y_k for numbers x_k of l words.
func accumulate(z, x []uint64, l int, y []uint64) {
	for w := range l {
		var s0, s1, s2, carry uint64
		at := w
		for _, v := range y {
			high, low := bits.Mul64(x[at], v)
			s0, carry = bits.Add64(s0, low, 0)
			s1, carry = bits.Add64(s1, high, carry)
			s2, _ = bits.Add64(s2, 0, carry)
			at += l
		}
		sum := [...]uint64{s0, s1, s2}
		addShifted(z[w:], sum[:], 0, false)
	}
}

// addProduct adds x v to z, of the same words, and returns the carry.
func addProduct(z, x []uint64, v uint64) (carry uint64) {
	z = z[:len(x)]
	for i, m := range x {
		h, l := bits.Mul64(m, v)
		l, c := bits.Add64(l, carry, 0)
		h, _ = bits.Add64(h, 0, c)
		z[i], c = bits.Add64(z[i], l, 0)
		carry, _ = bits.Add64(h, 0, c)
	}
	return carry
}

// subtract sets z -= x, for the words of x that z has; x has no fewer words, or the ones of z
// beyond are left out.
func subtract(z, x []uint64) {
	borrow := uint64(0)
	for i := range min(len(z), len(x)) {
		z[i], borrow = bits.Sub64(z[i], x[i], borrow)
	}
}

// multiply sets z = x y, signed; z has the words of both.
func multiply(z, x, y []uint64) {
	clear(z)
	low := 0 // words that are 0
	for low < len(x)-1 && x[low] == 0 {
		low++
	}
	for i, v := range y {
		if v != 0 {
			z[i+len(x)] = addProduct(z[i+low:i+len(x)], x[low:], v)
		}
	}
	if int64(x[len(x)-1]) < 0 {
		subtract(z[len(x):], y)
	}
	if int64(y[len(y)-1]) < 0 {
		subtract(z[len(y):], x)
	}
}

// leadingOf returns m 2^e near a number z with a fraction of the given words, 1/2 ≤ |m| < 1 or 0:
// |z| - |m| 2^e is not negative, and at most 2^-52 |z| and a unit of the last place of z.
func leadingOf(z []uint64, fraction int) (m float64, e int64) {
	negative, sign := int64(z[len(z)-1]) < 0, uint64(0)
	if negative {
		sign = math.MaxUint64
	}
	k := len(z) - 1
	for k >= 0 && z[k] == sign {
		k--
	}
	if k < 0 {
		if negative { // the last bit is 1
			return -0.5, 1 - 64*int64(fraction)
		}
		return 0, 0
	}
	// ^z = -z - 1 for a negative z.
	x, below := z[k]^sign, uint64(0)
	if k > 0 {
		below = z[k-1] ^ sign
	}
	by := uint(bits.LeadingZeros64(x))
	x = x<<by | below>>(64-by)
	m, e = float64(x>>11)*0x1p-53, 64*int64(k+1-fraction)-int64(by)
	if negative {
		m = -m
	}
	return m, e
}

// difference sets r.w to entry i of w_j: the words of a fraction of len(r.w) - 2 words, and an
// integer part of two.
func (q *quick) difference(r *quickRoom, i, j int) {
	x, y := q.x[(i+j*q.n)*q.lx:][:q.lx], q.y[(i+j*q.n)*q.ly:][:q.ly]
	multiply(r.product, x, q.d[j*q.lx:][:q.lx])
	w, fraction := r.w, len(r.w)-2
	at := fraction - (q.ly - 1) // of the lowest word of y
	clear(w[:at])
	copy(w[at:], y)
	w[fraction+1] = uint64(int64(y[q.ly-1]) >> 63)
	subtract(w[fraction-2*(q.lx-1):], r.product) // whose highest word has the place of w's
}

// residuals computes w and its bounds.
//
// Entry i of w_j is in error by 2^-52 of itself and by a unit of the words of difference. The
// squares, of numbers divided by 2^most, and their sum have relative errors below 2^-40. Squares
// below 2^-1022 may be 0.
func (q *quick) residuals() error {
	n := q.n
	return q.columns(func(r *quickRoom, j int) {
		most, long := int64(math.MinInt64), 0.0
		w, x, unit := q.w[j*n:][:n], q.x[j*n*q.lx:][:n*q.lx], power(int64(-64*(len(r.w)-2)))
		for i := range n {
			q.difference(r, i, j)
			m, e := leadingOf(r.w, len(r.w)-2)
			if w[i], r.exponents[i] = m, e; m != 0 {
				most = max(most, e)
			}
			// An entry of x is in error by 2^-51.
			v := float64(int64(x[i*q.lx+q.lx-1])) + float64(float64(x[i*q.lx+q.lx-2])*0x1p-64)
			long += float64(v * v)
		}
		q.scale[j], q.norm[j] = most, size{}
		if most > math.MinInt64 {
			sum := 0.0
			for i, e := range r.exponents {
				w[i] = float64(w[i] * math.Float64frombits(uint64(1023+max(e-most, -1000))<<52))
				sum += float64(w[i] * w[i])
			}
			q.norm[j] = normal(float64(sum*(1+0x1p-30))+0x1p-900, 0).sqrt().shifted(most).add(unit.times(float64(n)))
		}
		// Errors of entries add less than 2^-48 (n + sum), and roundings n 2^-52 sum.
		q.long[j] = size{}
		if long > 0x1p-4 && n < 1<<12 {
			q.long[j] = normal(float64(math.Sqrt(long)*(1-0x1p-30)), 0)
		}
	})
}

// improve corrects x and d. It is not ok, and the solver is of no use afterwards, if a correction
// is not small.
func (q *quick) improve() (ok bool, err error) {
	n := q.n
	var failed atomic.Bool
	err = q.columns(func(r *quickRoom, j int) {
		if q.norm[j].zero() {
			if q.image.Arr != nil {
				q.z.Slice(0, n, j, j+1).CopyFrom(num.NewMat(num.Float64, n, 1))
			}
			return
		}
		symeig.Products(q.v, n, q.w[j*n:][:n], r.part)
		unit := math.Ldexp(1, int(max(q.scale[j], -1000)))
		if !(math.Abs(r.part[j])*unit < 1) {
			failed.Store(true)
			return
		}
		addFloat(q.d[j*q.lx:][:q.lx], r.part[j], q.scale[j])
		for k := range r.part {
			if k != j {
				r.part[k] /= q.near[j] - q.near[k]
			}
		}
		r.part[j] = 0
		clear(r.shift)
		symeig.AddProduct(q.v, n, r.shift, r.part)
		for _, v := range r.shift {
			if !(math.Abs(v)*unit < 1.0/8) { // so that the integer parts suffice
				failed.Store(true)
				return
			}
		}
		q.move(r, j, q.scale[j])
	})
	if failed.Load() || err != nil {
		return false, err
	}
	return true, q.multiply()
}

// radii bounds the distances of the eigenvalues of B from the Rayleigh quotients of the vectors;
// nil if it is not proved that there is one eigenvalue beside each. It is enough if they are at
// most 2^-valueBits of the quotients, or 64 bits less.
func (q *quick) radii(valueBits int) (radii []size, enough bool) {
	n := q.n
	order := call.All(n)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(q.near[i], q.near[j]) })
	own, apart := make([]size, n), make([]size, n+1) // apart[p] is for p-1 and p
	for j := range n {
		if q.long[j].zero() {
			return nil, false
		}
		own[j] = q.norm[j].over(q.long[j])
	}
	z := make([]uint64, q.lx)
	for p := 1; p < n; p++ {
		i, j := order[p-1], order[p]
		copy(z, q.d[j*q.lx:])
		subtract(z, q.d[i*q.lx:][:q.lx])
		m, e := leadingOf(z, q.lx-1)
		if m <= 0 {
			return nil, false
		}
		apart[p] = normal(float64(m*down), e).lower(own[i].add(own[j]))
		if apart[p].zero() {
			return nil, false
		}
	}
	radii, enough = make([]size, n), true
	for p, j := range order {
		radii[j] = own[j].shifted(1) // both the eigenvalue and ρ are near d
		if n > 1 {
			g := apart[max(p, 1)]
			if next := apart[min(p+1, n-1)]; next.less(g) {
				g = next
			}
			if v := own[j].mul(own[j]).over(g); v.less(radii[j]) {
				radii[j] = v
			}
		}
		limit := int64(-64)
		if _, e := math.Frexp(q.near[j]); q.near[j] != 0 {
			limit = max(limit, int64(e)-1)
		}
		limit -= int64(valueBits)
		enough = enough && !radii[j].above(limit)
	}
	return radii, enough
}

// enclosures returns the centers of enclosures of the eigenvalues of A, in ascending order, and
// their radii, for the radii of B.
func (q *quick) enclosures(radii []size) (centers []*big.Float, wide []size, err error) {
	order := call.All(q.n)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(q.near[i], q.near[j]) })
	place := make([]int, q.n)
	for p, j := range order {
		place[j] = p
	}
	centers, wide = make([]*big.Float, q.n), make([]size, q.n)
	return centers, wide, q.columns(func(r *quickRoom, j int) {
		center, lost := q.quotient(r, j)
		p := place[j]
		centers[p], wide[p] = center.SetMantExp(center, int(q.top)), radii[j].add(lost).shifted(q.top)
	})
}

// quotient returns the Rayleigh quotient of x_j, x_jᵀ y_j / x_jᵀ x_j, and a bound of its error.
func (q *quick) quotient(r *quickRoom, j int) (*big.Float, size) {
	x, y := q.x[j*q.n*q.lx:][:q.n*q.lx], q.y[j*q.n*q.ly:][:q.n*q.ly]
	product, squares := r.sum[:q.lx+q.ly], r.squares[:2*q.lx]
	inner(product, x, q.lx, y, q.ly)
	inner(squares, x, q.lx, x, q.lx)
	p := uint(64 * (2*q.lx + 2))
	z := bigOf(product, q.lx+q.ly-2)
	z.SetPrec(p).Quo(z, bigOf(squares, 2*q.lx-2))
	// Two roundings, each with a relative error of 2^-p at most.
	return z, sizeOfBig(z).shifted(2 - int64(p))
}

// inner sets z to the sum of x_k y_k for signed numbers x_k of lx words and y_k of ly words. z has
// lx + ly words, which the sum must fit.
func inner(z, x []uint64, lx int, y []uint64, ly int) {
	clear(z)
	// The words as numbers without signs.
	for a := range lx {
		for b := range ly {
			var s0, s1, s2, carry uint64
			for i, j := a, b; i < len(x) && j < len(y); i, j = i+lx, j+ly {
				high, low := bits.Mul64(x[i], y[j])
				s0, carry = bits.Add64(s0, low, 0)
				s1, carry = bits.Add64(s1, high, carry)
				s2 += carry
			}
			sum := [...]uint64{s0, s1, s2}
			addShifted(z[a+b:], sum[:], 0, false)
		}
	}
	// A negative x_k was taken as x_k + 2^(64 lx), and y_k likewise. What is left of the product of
	// both powers lies beyond z.
	for i, j := 0, 0; i < len(x); i, j = i+lx, j+ly {
		if int64(x[i+lx-1]) < 0 {
			subtract(z[lx:], y[j:j+ly])
		}
		if int64(y[j+ly-1]) < 0 {
			subtract(z[ly:], x[i:i+lx])
		}
	}
}

// bigOf returns z, which has a fraction of the given words, exactly.
func bigOf(z []uint64, fraction int) *big.Float {
	z = slices.Clone(z)
	negative := int64(z[len(z)-1]) < 0
	if negative {
		negate(z)
	}
	x := new(big.Float).SetInt(num.ToInt(z))
	if negative {
		x.Neg(x)
	}
	return x.SetMantExp(x, -64*fraction)
}

package sym

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/dgemm"
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
	// A is 2^top times a matrix B with entries between -1/2 and 1/2, whose fractions have la words.
	// Its entries are multiples of 2^low: slices has the digits of their multiples.
	top, low int64
	la       int
	sliced   sliced
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
	strip      int // the columns that a worker corrects at a time

	words  []uint64  // the memory of x, y and d
	floats []float64 // the memory of the matrices of float64 numbers

	// For orders from quickProduct on there are no slices: corrections z_j 2^-at[j] are multiplied
	// by matrix, which is A, and image has the products. Else image has no array.
	matrix, z, image num.Mat
	at               []int64
}

// quickRoom is memory of one worker.
type quickRoom struct {
	part, shift  []float64
	digits, sums []float64 // of the corrections of a strip, and their products with slices
	w, d, sum    []uint64
	squares      []uint64
	exponents    []int64
}

// quickWork bounds n times the words of an entry of A. Of random float64 matrices, those of order
// 200 have 2 words, and 3 for singular values: see bench/cmd/spectra. Tests change it.
var quickWork = 600

// quickProduct is the order from which a product of matrices takes less time than slices: see
// bench/cmd/spectra. Tests change it.
var quickProduct = 100

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
	q := &quick{s: s, n: n, top: top + 1, low: low, la: int((top-low)/64 + 1), lx: words + 1, sliced: slicedFor(n, top-low)}
	q.ly = q.la + q.lx
	m := &q.sliced
	workers := max(1, s.Threads)
	byProducts, beside := n >= quickProduct, 0
	if byProducts {
		m.count, m.bits = 0, fullBits
		beside = n * n * (q.la + 4)
	}
	// Products of a strip should fit the second-level cache.
	q.strip = max(24, min(64, 1<<14/max(1, m.count*n)))
	q.strip = min(q.strip, (n+workers-1)/workers)
	numbers := n * (n*(m.count+2) + 1 + workers*(2+2*q.strip*(1+m.count)))
	words = n * (n*(q.lx+q.ly) + q.lx)
	if s.Budget.Check(8*float64(numbers+words+beside)) != nil {
		return nil
	}
	q.words, q.floats = bufpool.Slice(&wordRoom, words), bufpool.Slice(&floatRoom, numbers)
	clear(q.words)
	rest, room := q.words, q.floats
	take := func(k int) []uint64 {
		z := rest[:k:k]
		rest = rest[k:]
		return z
	}
	some := func(k int) []float64 {
		z := room[:k:k]
		room = room[k:]
		return z
	}
	q.x, q.y, q.d = take(n*n*q.lx), take(n*n*q.ly), take(n*q.lx)
	m.negative, q.v, q.w, q.near = some(n*n*m.count), some(n*n), some(n*n), some(n)
	q.scale, q.at, q.norm, q.long = make([]int64, n), make([]int64, n), make([]size, n), make([]size, n)
	fraction := max(q.la, q.lx-1) + q.lx - 1
	q.rooms = make([]quickRoom, workers)
	for i := range q.rooms {
		q.rooms[i] = quickRoom{
			part: some(n), shift: some(n), digits: some(2 * n * q.strip), sums: some(2 * n * q.strip * m.count),
			exponents: make([]int64, n),
			w:         make([]uint64, fraction+2), d: make([]uint64, q.lx), sum: make([]uint64, q.lx+q.ly), squares: make([]uint64, 2*q.lx),
		}
	}
	for i := range n {
		for j := range n {
			q.v[i+j*n] = v[i*n+j]
		}
	}
	if byProducts {
		q.matrix, q.z = a, num.NewMat(num.Float64, n, n)
		q.image = num.NewMat(call.MP(int(top-low)+64+bits.Len(uint(n))), n, n) // for all bits
		return q
	}
	buf, integer := make([]uint64, num.ValueWords(a.Format())), make([]uint64, q.la+1)
	for j := range n {
		for i := range j + 1 {
			m.set(i, j, a.Arr.Value(a.At(i, j), buf), low, integer)
		}
	}
	return q
}

// wordRoom keeps the memory of quick solvers between calls, as floatRoom does.
var wordRoom bufpool.Shelf[[]uint64]

// release gives back the memory of the solver.
func (q *quick) release() {
	bufpool.Return(&wordRoom, q.words)
	bufpool.Return(&floatRoom, q.floats)
}

// columns calls f for all columns.
func (q *quick) columns(f func(r *quickRoom, j int)) error {
	return par.For(q.s.Ctx, len(q.rooms), q.n, func(w, j int) { f(&q.rooms[w], j) })
}

// strips calls f for strips of columns, from j0 to j1 - 1.
func (q *quick) strips(f func(r *quickRoom, j0, j1 int)) error {
	return par.For(q.s.Ctx, len(q.rooms), (q.n+q.strip-1)/q.strip, func(w, part int) {
		j0 := part * q.strip
		f(&q.rooms[w], j0, min(q.n, j0+q.strip))
	})
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
	if err := q.strips(func(r *quickRoom, j0, j1 int) {
		for j := j0; j < j1; j++ {
			copy(r.shift, q.v[j*n:][:n])
			q.move(r, j, j-j0, 0)
		}
		q.multiply(r, j0, j1)
	}); err != nil {
		return false, err
	}
	if err := q.products(); err != nil {
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

// move adds the vector in r.shift, times 2^scale, to x_j, cut to the bits that x and slices have.
// It is column k of a strip, and multiply adds its product with A to y_j.
func (q *quick) move(r *quickRoom, j, k int, scale int64) {
	n, fraction := q.n, 64*int64(q.lx-1)
	most := 0.0
	for _, v := range r.shift {
		most = max(most, math.Abs(v))
	}
	_, e := math.Frexp(most)
	// Units of 2^-at.
	at := min(int64(q.sliced.bits)-int64(e)-scale, fraction)
	factor, shift := math.Ldexp(1, int(max(at+scale, -1000))), uint(fraction-at)
	q.at[j] = at
	first, second := q.digits(r, k)
	x := q.x[j*n*q.lx:][:n*q.lx]
	for i, v := range r.shift {
		z := int64(v * factor)
		addShifted(x[i*q.lx:][:q.lx], []uint64{uint64(z)}, shift, true)
		if q.image.Arr != nil {
			q.z.SetFloat64(i, j, float64(z)) // z has the bits of v
			continue
		}
		first[i], second[i] = q.sliced.cut(z)
	}
}

// stay says that there is no correction of x_j, which is column k of a strip.
func (q *quick) stay(r *quickRoom, j, k int) {
	first, second := q.digits(r, k)
	clear(first)
	clear(second)
	if q.image.Arr != nil {
		q.z.Slice(0, q.n, j, j+1).CopyFrom(num.NewMat(num.Float64, q.n, 1))
	}
}

// digits returns the digits of the correction of column k of a strip.
func (q *quick) digits(r *quickRoom, k int) (first, second []float64) {
	return r.digits[2*k*q.n:][:q.n], r.digits[(2*k+1)*q.n:][:q.n]
}

// multiply adds the products of A and the corrections of a strip of columns to y, or leaves that to
// products.
func (q *quick) multiply(r *quickRoom, j0, j1 int) {
	if q.image.Arr != nil {
		return
	}
	n, m := q.n, &q.sliced
	rows := m.count * n
	sums := r.sums[:2*(j1-j0)*rows]
	clear(sums)
	if dgemm.SubtractSame(q.s.Ctx, 1, rows, 2*(j1-j0), n, sums, rows, m.negative, rows, r.digits, n) != nil {
		return // the context is done, which the caller finds
	}
	for j := j0; j < j1; j++ {
		// The unit of a product is 2^(low - top - at).
		shift := uint(64*int64(q.ly-1) + q.low - q.top - q.at[j])
		first, second := sums[2*(j-j0)*rows:][:rows], sums[(2*(j-j0)+1)*rows:][:rows]
		y := q.y[j*n*q.ly:][:n*q.ly]
		for i := range n {
			m.add(y[i*q.ly:][:q.ly], i, first, second, shift)
		}
	}
}

// products adds the products of A and the corrections to y for orders from quickProduct on.
func (q *quick) products() error {
	if q.image.Arr == nil {
		return nil
	}
	if err := q.s.Gemm(1, q.matrix, q.z, 0, num.Mat{}, q.image); err != nil {
		return err
	}
	return q.columns(func(_ *quickRoom, j int) {
		for i := range q.n {
			x := q.image.Arr.Value(q.image.At(i, j), nil)
			if x.Class == num.Finite {
				addReal(q.y[(i+j*q.n)*q.ly:][:q.ly], x, 64*int64(q.ly-1)-q.top-q.at[j])
			}
		}
	})
}

// A factor is |d_j|. The words below word from are 0, and reversed has the others, the most
// significant one first.
type factor struct {
	reversed []uint64
	from     int
	negative bool
}

// factorOf returns the factor of column j.
func (q *quick) factorOf(r *quickRoom, j int) (d factor) {
	z := r.d
	copy(z, q.d[j*q.lx:][:q.lx])
	if d.negative = int64(z[len(z)-1]) < 0; d.negative {
		negate(z)
	}
	for d.from < len(z) && z[d.from] == 0 {
		d.from++
	}
	last := len(z)
	for last > d.from && z[last-1] == 0 {
		last--
	}
	d.reversed = z[d.from:last]
	slices.Reverse(d.reversed)
	return d
}

// difference sets r.w to entry i of w_j: the words of a fraction of len(r.w) - 2 words, and an
// integer part of two.
func (q *quick) difference(r *quickRoom, i, j int, d factor) {
	x, y := q.x[(i+j*q.n)*q.lx:][:q.lx], q.y[(i+j*q.n)*q.ly:][:q.ly]
	w, fraction := r.w, len(r.w)-2
	at := fraction - (q.ly - 1) // of the lowest word of y
	clear(w[:at])
	copy(w[at:], y)
	w[fraction+1] = uint64(int64(y[q.ly-1]) >> 63)
	at = fraction - 2*(q.lx-1) + d.from // of the lowest word of a product
	if d.negative {                     // y - x d = -((-y - 1) - x |d|) - 1
		invert(w)
	}
	subtractProduct(w[at:], x, d.reversed)
	if d.negative {
		invert(w)
	}
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
		d := q.factorOf(r, j)
		for i := range n {
			q.difference(r, i, j, d)
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
	var failed atomic.Bool
	err = q.strips(func(r *quickRoom, j0, j1 int) {
		for j := j0; j < j1; j++ {
			if !q.correct(r, j, j-j0) {
				failed.Store(true)
				return
			}
		}
		q.multiply(r, j0, j1)
	})
	if failed.Load() || err != nil {
		return false, err
	}
	return true, q.products()
}

// correct corrects x_j and d_j, where j is column k of a strip.
func (q *quick) correct(r *quickRoom, j, k int) (ok bool) {
	n := q.n
	if q.norm[j].zero() {
		q.stay(r, j, k)
		return true
	}
	symeig.Products(q.v, n, q.w[j*n:][:n], r.part)
	unit := math.Ldexp(1, int(max(q.scale[j], -1000)))
	if !(math.Abs(r.part[j])*unit < 1) {
		return false
	}
	addFloat(q.d[j*q.lx:][:q.lx], r.part[j], q.scale[j])
	for i := range r.part {
		if i != j {
			r.part[i] /= q.near[j] - q.near[i]
		}
	}
	r.part[j] = 0
	clear(r.shift)
	symeig.AddProduct(q.v, n, r.shift, r.part)
	for _, v := range r.shift {
		if !(math.Abs(v)*unit < 1.0/8) { // so that the integer parts suffice
			return false
		}
	}
	q.move(r, j, k, q.scale[j])
	return true
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
	product, squares := r.sum, r.squares
	inner(product, x, q.lx, y, q.ly)
	inner(squares, x, q.lx, nil, 0)
	p := uint(64 * (2*q.lx + 2))
	z := bigOf(product, q.lx+q.ly-2)
	z.SetPrec(p).Quo(z, bigOf(squares, 2*q.lx-2))
	// Two roundings, each with a relative error of 2^-p at most.
	return z, sizeOfBig(z).shifted(2 - int64(p))
}

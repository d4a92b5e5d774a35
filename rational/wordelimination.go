package rational

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Eliminations without fractions of matrices whose minors are below 2^127, in integers of one word
// as long as the minors are below 2^63, and then of two words. See eliminate.
//
// The quotients are exact, so that the numerators are needed modulo a power of two only: x / d is
// x 2^-z times the inverse of d 2^-z modulo 2^128, for an odd d 2^-z (Jebelean, An algorithm for
// exact division, 1993).

// mostWords is the number of bits of minors of two words.
const mostWords = 127

// wordOrder is the order up to which these eliminations are faster than eliminations modulo primes:
// see BenchmarkThresholds.
var wordOrder = 16

// wide is an integer of two words: hi 2^64 + lo modulo 2^128, between -2^127 and 2^127.
type wide struct{ hi, lo uint64 }

func (x wide) isZero() bool { return x.hi|x.lo == 0 }

// negated returns -x if negative is 2^64 - 1, and x if it is 0.
func (x wide) negated(negative uint64) wide {
	lo, borrow := bits.Sub64(x.lo^negative, negative, 0)
	hi, _ := bits.Sub64(x.hi^negative, negative, borrow)
	return wide{hi, lo}
}

// sign returns 2^64 - 1 for x < 0, else 0.
func (x wide) sign() uint64 { return uint64(int64(x.hi) >> 63) }

// reciprocal is an integer by which others are divided.
type reciprocal struct {
	zeros   int  // trailing zero bits
	inverse wide // of the integer without them, modulo 2^128
}

func newReciprocal(d wide) reciprocal {
	z := reciprocal{zeros: num.TrailingZeros([]uint64{d.lo, d.hi})}
	odd := d
	if z.zeros >= 64 {
		odd = wide{uint64(int64(d.hi) >> 63), d.hi}
	}
	odd = odd.shifted(uint(z.zeros & 63))
	v := odd.lo // correct to 3 bits
	for range 5 {
		v *= 2 - odd.lo*v
	}
	// v (2 - odd v) modulo 2^128
	x := odd.times(wide{0, v})
	l, borrow := bits.Sub64(2, x.lo, 0)
	h, _ := bits.Sub64(0, x.hi, borrow)
	z.inverse = wide{h, l}.times(wide{0, v})
	return z
}

// shifted returns x / 2^n for n < 64, rounded down.
func (x wide) shifted(n uint) wide {
	return wide{uint64(int64(x.hi) >> n), x.lo>>n | x.hi<<1<<(63-n)}
}

// times returns x y modulo 2^128.
func (x wide) times(y wide) wide {
	hi, lo := bits.Mul64(x.lo, y.lo)
	return wide{hi + x.hi*y.lo + x.lo*y.hi, lo}
}

// step returns (p x - b y) / d, an integer, for d with at most 64 trailing zero bits.
func (d *reciprocal) step(p, x, b, y wide) wide {
	// The difference modulo 2^192.
	x0, x1, x2 := product(p, x)
	y0, y1, y2 := product(b, y)
	var c uint64
	x0, c = bits.Sub64(x0, y0, 0)
	x1, c = bits.Sub64(x1, y1, c)
	x2, _ = bits.Sub64(x2, y2, c)
	return d.quotient(x0, x1, x2)
}

// quotient returns the quotient of an integer, given modulo 2^192.
func (d *reciprocal) quotient(x0, x1, x2 uint64) wide {
	n := uint(d.zeros)
	if n == 64 {
		x0, x1, x2, n = x1, x2, 0, 0
	}
	t := wide{x1>>n | x2<<1<<(63-n), x0>>n | x1<<1<<(63-n)}
	return t.times(d.inverse)
}

// product returns the words of x y modulo 2^192.
func product(x, y wide) (z0, z1, z2 uint64) {
	var c uint64
	z1, z0 = bits.Mul64(x.lo, y.lo)
	h, l := bits.Mul64(x.hi, y.lo)
	z1, c = bits.Add64(z1, l, 0)
	z2 = h + c
	h, l = bits.Mul64(x.lo, y.hi)
	z1, c = bits.Add64(z1, l, 0)
	z2 += h + c + x.hi*y.hi
	// As negative factors are 2^128 more than their values:
	z2 -= y.lo&x.sign() + x.lo&y.sign()
	return z0, z1, z2
}

// shortStep is step for integers of one word, and at most 63 trailing zero bits.
func (d *reciprocal) shortStep(p, x, b, y int64) int64 {
	h, l := bits.Mul64(uint64(p), uint64(x))
	h -= uint64(p>>63&x + x>>63&p)
	h1, l1 := bits.Mul64(uint64(b), uint64(y))
	h1 -= uint64(b>>63&y + y>>63&b)
	l, c := bits.Sub64(l, l1, 0)
	h, _ = bits.Sub64(h, h1, c)
	n := uint(d.zeros)
	return int64((l>>n | h<<1<<(63-n)) * d.inverse.lo)
}

// wordElimination is an elimination without fractions.
type wordElimination struct {
	rows, cols int
	isShort    bool
	short      []int64 // row by row, while minors have one word: isShort
	wide       []wide  // then
	order      []int
	odd        bool // order is an odd permutation
	pivots     []int
	divisors   []reciprocal // the pivots
	free       []int
	ranks      []int  // pivots before each free column
	last       wide   // the last pivot
	x          []wide // numerators of a column
}

// eliminate eliminates the rows below the leftmost pivots before column limit, in the matrix of w.
// bits[k] bounds the bits of minors of order k. It returns false if a pivot has more than 64
// trailing zero bits.
func (z *wordElimination) eliminate(w *words, limit int, bits []int) bool {
	z.load(w)
	for j := range limit {
		r := len(z.pivots)
		k := r
		for k < z.rows && z.at(k, j).isZero() {
			k++
		}
		if k == z.rows {
			z.free, z.ranks = append(z.free, j), append(z.ranks, r)
			continue
		}
		if k != r {
			z.exchange(k, r)
		}
		if z.isShort && bits[min(r+2, len(bits)-1)] > 63 { // minors of order r + 2 follow
			z.widen()
		}
		d := &reciprocal{inverse: wide{0, 1}}
		if r > 0 {
			d = &z.divisors[r-1]
		}
		if z.isShort {
			z.shortPivot(r, j, d)
		} else {
			z.widePivot(r, j, d)
		}
		z.last = z.at(r, j)
		z.pivots, z.divisors = append(z.pivots, j), append(z.divisors, newReciprocal(z.last))
		if z.divisors[r].zeros > 64 {
			return false
		}
	}
	for j := limit; j < z.cols; j++ {
		z.free, z.ranks = append(z.free, j), append(z.ranks, len(z.pivots))
	}
	return true
}

// column returns the multiples of the pivot columns whose sum is the last pivot times column
// free[k], valid until the next call: with the last pivot p and row i of the eliminated matrix,
//
//	x_i = (p a_ij - a_i,i+1 x_i+1 - ... - a_ir x_r) / a_ii.
//
// By Cramer's rule these are minors.
func (z *wordElimination) column(k int) []wide {
	j, r := z.free[k], len(z.pivots)
	if cap(z.x) < r {
		z.x = make([]wide, r)
	}
	x := z.x[:r]
	clear(x[z.ranks[k]:])
	for i := z.ranks[k] - 1; i >= 0; i-- {
		row := z.wide[i*z.cols : (i+1)*z.cols]
		s0, s1, s2 := product(z.last, row[j])
		for h := i + 1; h < z.ranks[k]; h++ {
			y0, y1, y2 := product(row[z.pivots[h]], x[h])
			var c uint64
			s0, c = bits.Sub64(s0, y0, 0)
			s1, c = bits.Sub64(s1, y1, c)
			s2, _ = bits.Sub64(s2, y2, c)
		}
		x[i] = z.divisors[i].quotient(s0, s1, s2)
	}
	return x
}

// load begins with the matrix of w.
func (z *wordElimination) load(w *words) {
	*z = wordElimination{
		rows: w.rows, cols: w.cols, short: z.short[:0], wide: z.wide[:0], order: z.order[:0],
		pivots: z.pivots[:0], divisors: z.divisors[:0], free: z.free[:0], ranks: z.ranks[:0],
		last: wide{0, 1}, x: z.x, isShort: w.bits <= 63,
	}
	for i := range w.rows {
		z.order = append(z.order, i)
	}
	for i, negative := range w.negative {
		x := w.of(i)
		if z.isShort {
			z.short = append(z.short, int64(x[0]^negative-negative))
			continue
		}
		y := wide{0, x[0]}
		if len(x) > 1 {
			y.hi = x[1]
		}
		z.wide = append(z.wide, y.negated(negative))
	}
}

// at returns entry (i, j).
func (z *wordElimination) at(i, j int) wide {
	if !z.isShort {
		return z.wide[i*z.cols+j]
	}
	x := z.short[i*z.cols+j]
	return wide{uint64(x >> 63), uint64(x)}
}

// exchange exchanges two rows.
func (z *wordElimination) exchange(i, k int) {
	z.order[i], z.order[k] = z.order[k], z.order[i]
	z.odd = !z.odd
	for j := range z.cols {
		if x, y := i*z.cols+j, k*z.cols+j; z.isShort {
			z.short[x], z.short[y] = z.short[y], z.short[x]
		} else {
			z.wide[x], z.wide[y] = z.wide[y], z.wide[x]
		}
	}
}

// widen goes on with integers of two words.
func (z *wordElimination) widen() {
	for _, x := range z.short {
		z.wide = append(z.wide, wide{uint64(x >> 63), uint64(x)})
	}
	z.isShort = false
}

// shortPivot eliminates column j below row r.
func (z *wordElimination) shortPivot(r, j int, d *reciprocal) {
	top := z.short[r*z.cols+j : (r+1)*z.cols]
	for i := r + 1; i < z.rows; i++ {
		row := z.short[i*z.cols+j : (i+1)*z.cols]
		row = row[:len(top)]
		for c := 1; c < len(top); c++ {
			row[c] = d.shortStep(top[0], row[c], row[0], top[c])
		}
	}
}

// widePivot is shortPivot for integers of two words.
func (z *wordElimination) widePivot(r, j int, d *reciprocal) {
	top := z.wide[r*z.cols+j : (r+1)*z.cols]
	for i := r + 1; i < z.rows; i++ {
		row := z.wide[i*z.cols+j : (i+1)*z.cols]
		row = row[:len(top)]
		for c := 1; c < len(top); c++ {
			row[c] = d.step(top[0], row[c], row[0], top[c])
		}
	}
}

// byWords returns the echelon of the room's matrix in integers of words; nil if it may need longer
// ones.
func (z *directRoom) byWords(limit int) *echelon {
	if !z.eliminate(limit) {
		return nil
	}
	w := &z.elimination
	if w.isShort {
		w.widen()
	}
	r := len(w.pivots)
	list := make([]int, 0, r+w.cols) // the rows, the pivots and the other columns
	list = append(append(append(list, w.order[:r]...), w.pivots...), w.free...)
	e := &echelon{rows: list[:r:r], pivots: list[r : 2*r : 2*r], free: list[2*r:]}
	free := len(e.free)
	e.outside = make([]bool, free)
	all := &z.integers
	all.resize(1+r*free, 2)
	sign := w.last.sign()
	all.setWide(0, w.last.negated(sign))
	for k, j := range e.free {
		for i := r; i < w.rows && j >= limit; i++ {
			e.outside[k] = e.outside[k] || !w.at(i, j).isZero()
		}
		for i, x := range w.column(k) {
			if e.outside[k] {
				x = wide{}
			}
			all.setWide(1+k*r+i, x.negated(sign))
		}
	}
	e.setIntegers(all.pack())
	return e
}

// setIntegers sets the denominators, which are the first integer, and the numerators of all free
// columns, which follow.
func (e *echelon) setIntegers(all []big.Int) {
	r, free := len(e.pivots), len(e.free)
	list, columns := make([]*big.Int, len(all)-1+free), make([][]*big.Int, free)
	x := list[free:]
	for i := range x {
		x[i] = &all[1+i]
	}
	e.x, e.d = columns, list[:free:free]
	for k := range columns {
		if e.d[k] = &all[0]; !e.outside[k] {
			columns[k] = x[k*r : (k+1)*r : (k+1)*r]
		}
	}
}

// setWide sets integer i.
func (z *integers) setWide(i int, x wide) {
	negative := x.sign()
	x = x.negated(negative)
	to := z.at(i)
	to[0], to[1], z.negative[i] = x.lo, x.hi, negative != 0
}

// eliminate eliminates the room's matrix in words. It returns false if it may need longer integers.
func (z *directRoom) eliminate(limit int) bool {
	w := &z.words
	if min(w.rows, limit) > wordOrder || w.bits > mostWords {
		return false
	}
	most := min(w.rows, w.cols)
	z.bits = append(z.bits[:0], 0)
	for k := 1; k <= most; k++ { // Hadamard's inequality for entries of the same length
		z.bits = append(z.bits, k*w.bits+(k*bits.Len(uint(k-1))+1)/2)
	}
	if z.bits[most] > mostWords {
		rows, cols := w.norms()
		descending(rows)
		descending(cols)
		byRows, byCols := 0.0, 0.0
		for k := range most {
			byRows, byCols = byRows+rows[k], byCols+cols[k]
			z.bits[k+1] = int(min(byRows, byCols)) + 1
		}
	}
	return z.bits[most] <= mostWords && z.elimination.eliminate(w, limit, z.bits)
}

// determinantByWords returns the determinant of the room's square matrix in integers of words; nil
// if it may need longer ones.
func (z *directRoom) determinantByWords() *big.Int {
	n := z.words.rows
	if !z.eliminate(n) {
		return nil
	}
	e, all := &z.elimination, &z.integers
	all.resize(1, 2)
	if all.setWide(0, e.last); len(e.pivots) < n {
		all.setWide(0, wide{})
	}
	all.negative[0] = all.negative[0] != e.odd
	return &all.pack()[0]
}

package superacc

import (
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// A page holds an integer of pageBits bits at a multiple of pageBits, so that
// addends of any exponents use memory only for the pages that they touch.
const (
	pageWords = 16
	pageShift = 10
	pageBits  = 1 << pageShift
)

// page is the integer w, in two's complement with one word of room for carries,
// times 2^(pageBits index). Every addition grows |w| by less than 2^pageBits.
type page struct {
	index int64
	w     [pageWords + 1]uint64
}

// Special values that an accumulator has added.
const (
	seenFinite = 1 << iota // a finite addend other than 0
	seenPosZero
	seenNegZero
	seenPosInf
	seenNegInf
	seenNaN
)

// Acc is the exact sum of its addends: numbers and products of numbers, of any
// exponents. The sum is kept as signed pages of bits that overlap in their
// carries only. The zero Acc is the empty sum. It is not for concurrent use.
type Acc struct {
	// Stopped, if not nil, is called between the parts of a long sum of AddEntry and Entry. If it
	// returns true, they stop, and the sum has no meaning.
	Stopped func() bool

	seen   uint
	cache  [8]*page // page of index i at i mod 8, or nil, or another one
	index  map[int64]*page
	pages  []*page // all pages, ascending after normalise
	sorted bool
	free   []*page

	shifted  []uint64
	product  []uint64
	product3 []uint64
	scratch  []uint64
	mag      []uint64
	values   [3][num.MaxValueWords]uint64
	window   []uint64
	rows     []uint64 // zeros
	columns  *[sumWords]uint64
	terms    *num.Array
	scaled   *Acc
}

// Buffer returns memory for the words of a number, one of three, which methods of a may overwrite.
func (a *Acc) Buffer(k int) []uint64 { return a.values[k][:] }

// Scratch returns n words with unspecified contents. They are valid until the next call.
func (a *Acc) Scratch(n int) []uint64 {
	if cap(a.scratch) < n {
		a.scratch = make([]uint64, n)
	}
	return a.scratch[:n]
}

// Reset makes a the empty sum and keeps its memory.
func (a *Acc) Reset() {
	if a.seen == 0 {
		return
	}
	a.seen = 0
	if len(a.index) != 0 {
		clear(a.index)
	}
	clear(a.cache[:])
	const keep = 1 << 12
	for _, p := range a.pages {
		if len(a.free) < keep {
			a.free = append(a.free, p)
		}
	}
	if len(a.pages) > keep {
		a.pages = nil
	}
	a.pages = a.pages[:0]
	a.sorted = true
}

// page returns the page of the given index.
func (a *Acc) page(index int64) *page {
	if p := a.cache[index&7]; p != nil && p.index == index {
		return p
	}
	p := a.find(index)
	if p == nil {
		p = a.newPage(index)
	}
	a.cache[index&7] = p
	return p
}

// find returns the page of the given index, or nil.
func (a *Acc) find(index int64) *page {
	if len(a.index) != 0 {
		return a.index[index]
	}
	for _, p := range a.pages {
		if p.index == index {
			return p
		}
	}
	return nil
}

// manyPages is the number of pages from which a map finds them.
const manyPages = 16

func (a *Acc) newPage(index int64) *page {
	var p *page
	if n := len(a.free); n > 0 {
		p = a.free[n-1]
		a.free = a.free[:n-1]
		p.w = [pageWords + 1]uint64{}
	} else {
		p = new(page)
	}
	p.index = index
	n := len(a.pages)
	a.sorted = n == 0 || a.sorted && a.pages[n-1].index < index
	a.pages = append(a.pages, p)
	switch {
	case n < manyPages:
	case n == manyPages:
		if a.index == nil {
			a.index = make(map[int64]*page)
		}
		for _, q := range a.pages {
			a.index[q.index] = q
		}
	default:
		a.index[index] = p
	}
	return p
}

// Add adds r, which must not be sticky.
func (a *Acc) Add(r num.Real) {
	if r.Class == num.Finite {
		a.AddMag(r.Neg, r.Exp, r.Mag)
		return
	}
	a.AddSpecial(r.Class, r.Neg)
}

// AddSpecial adds a zero, an infinity or NaN.
func (a *Acc) AddSpecial(c num.Class, neg bool) {
	switch {
	case c == num.NaN:
		a.seen |= seenNaN
	case c == num.Inf && neg:
		a.seen |= seenNegInf
	case c == num.Inf:
		a.seen |= seenPosInf
	case neg:
		a.seen |= seenNegZero
	default:
		a.seen |= seenPosZero
	}
}

// AddMag adds (-1)^neg mag 2^exp, mag not zero.
func (a *Acc) AddMag(neg bool, exp int64, mag []uint64) {
	a.seen |= seenFinite
	for len(mag) > 0 && mag[len(mag)-1] == 0 {
		mag = mag[:len(mag)-1]
	}
	index := exp >> pageShift
	off := uint(exp & (pageBits - 1))
	w, s := int(off>>6), off&63
	if s != 0 {
		n := len(mag)
		if cap(a.shifted) < n+1 {
			a.shifted = make([]uint64, 2*n+8)
		}
		t := a.shifted[:n+1]
		var low uint64
		for i, x := range mag {
			t[i] = x<<s | low
			low = x >> (64 - s)
		}
		t[n] = low
		if low == 0 {
			t = t[:n]
		}
		mag = t
	}
	for len(mag) > 0 {
		n := min(len(mag), pageWords-w)
		p := a.page(index)
		if neg {
			num.SubShifted(p.w[w:], mag[:n])
		} else {
			num.AddShifted(p.w[w:], mag[:n])
		}
		mag = mag[n:]
		w = 0
		index++
	}
}

// AddProduct adds x y.
func (a *Acc) AddProduct(x, y num.Real) {
	if x.Class != num.Finite || y.Class != num.Finite {
		c, neg := productClass(x, y)
		a.AddSpecial(c, neg)
		return
	}
	a.product = Multiply(a.product, x.Mag, y.Mag)
	a.AddMag(x.Neg != y.Neg, x.Exp+y.Exp, a.product)
}

// AddProduct3 adds x y z.
func (a *Acc) AddProduct3(x, y, z num.Real) {
	if x.Class != num.Finite || y.Class != num.Finite || z.Class != num.Finite {
		var t num.Real
		t.Class, t.Neg = productClass(x, y)
		c, neg := productClass(t, z)
		a.AddSpecial(c, neg)
		return
	}
	a.product = Multiply(a.product, x.Mag, y.Mag)
	a.product3 = Multiply(a.product3, a.product, z.Mag)
	a.AddMag((x.Neg != y.Neg) != z.Neg, x.Exp+y.Exp+z.Exp, a.product3)
}

// productClass returns class and sign of x y, IEEE 754: zero times infinity is
// NaN.
func productClass(x, y num.Real) (c num.Class, neg bool) {
	lo, hi := min(x.Class, y.Class), max(x.Class, y.Class)
	neg = x.Neg != y.Neg
	switch {
	case hi == num.NaN, hi == num.Inf && lo == num.Zero:
		return num.NaN, false
	case hi == num.Inf:
		return num.Inf, neg
	case lo == num.Zero:
		return num.Zero, neg
	}
	return num.Finite, neg
}

// addScaled adds s b, that is, every addend of b times s, for a finite s other than 0.
// b may contain infinities and NaN. It normalises b.
func (a *Acc) addScaled(b *Acc, s num.Real) {
	pos, neg := b.seen&seenPosZero, b.seen&seenNegZero
	posInf, negInf := b.seen&seenPosInf, b.seen&seenNegInf
	a.seen |= b.seen & (seenNaN | seenFinite)
	if s.Neg {
		pos, neg = neg>>1, pos<<1
		posInf, negInf = negInf>>1, posInf<<1
	}
	a.seen |= pos | neg | posInf | negInf
	b.normalise()
	var t [pageWords + 1]uint64
	for _, p := range b.pages {
		if num.IsZero(p.w[:]) {
			continue
		}
		t = p.w
		minus := int64(t[pageWords]) < 0
		if minus {
			num.Negate(t[:])
		}
		a.product3 = Multiply(a.product3, t[:], s.Mag)
		a.AddMag(minus != s.Neg, p.index<<pageShift+s.Exp, a.product3)
	}
}

// normalise carries from page to page until every page holds a number in
// [-2^(pageBits-1), 2^(pageBits-1)), and sorts the pages. Then the sum has the sign
// of its topmost page other than 0, and the pages below a page sum to less than
// the unit of that page.
func (a *Acc) normalise() {
	a.sort()
	created := false
	for i := 0; i < len(a.pages); i++ {
		p := a.pages[i]
		for {
			c := int64(p.w[pageWords])
			top := p.w[pageWords-1] >> 63
			p.w[pageWords] = -top
			c += int64(top)
			if c == 0 {
				break
			}
			var q *page
			isNew := false
			if i+1 < len(a.pages) && a.pages[i+1].index == p.index+1 {
				q = a.pages[i+1]
			} else if q = a.find(p.index + 1); q == nil {
				q = a.newPage(p.index + 1)
				created, isNew = true, true
			}
			if c < 0 {
				num.SubShifted(q.w[:], []uint64{uint64(-c)})
			} else {
				num.AddShifted(q.w[:], []uint64{uint64(c)})
			}
			if !isNew {
				break
			}
			p = q // a new page lies out of order: carry on from it at once
		}
	}
	if created {
		a.sort()
	}
}

func (a *Acc) sort() {
	if !a.sorted {
		slices.SortFunc(a.pages, func(p, q *page) int {
			if p.index < q.index {
				return -1
			}
			return 1
		})
		a.sorted = true
	}
}

// Value returns the sum for rounding to format f: exact, or sticky if bits lie so far
// below the leading bit that only their sign matters. Its Mag lies in a and is valid
// until a changes.
func (a *Acc) Value(f num.Format) num.Real {
	if f.Terms() > 1 {
		return a.real(128, -1300)
	}
	return a.real(int64(f.Prec)+64, math.MaxInt64)
}

// Leading returns the sum like Value with at least the given number of leading
// bits exact.
func (a *Acc) Leading(bits int64) num.Real { return a.real(bits, math.MaxInt64) }

// Exact returns the exact sum, without a sticky bit. It may need much memory.
func (a *Acc) Exact() num.Real { return a.real(math.MaxInt64/2, math.MinInt64/2) }

// real returns the sum with at least n leading bits, and down to 2^floor at least
// unless that lies more than 2^14 bits below the leading bit, where no
// expansion of binary64 reaches without overflow.
func (a *Acc) real(n, floor int64) num.Real {
	if r, ok := a.special(); ok {
		return r
	}
	a.normalise()
	top := len(a.pages) - 1
	for top >= 0 && num.IsZero(a.pages[top].w[:]) {
		top--
	}
	if top < 0 {
		return num.Real{}
	}
	high := a.pages[top].index
	topBit := high<<pageShift + int64(signedBitLen(a.pages[top].w[:])) - 3
	stop := topBit - n // bits at and above stop are wanted
	if topBit < 4096 {
		stop = min(stop, floor)
	}
	lowPage := stop >> pageShift
	low := top
	for low > 0 && a.pages[low-1].index >= lowPage {
		low--
	}
	for low < top && num.IsZero(a.pages[low].w[:]) {
		low++
	}
	sign := 0 // of what lies below
	for i := low - 1; i >= 0 && sign == 0; i-- {
		w := a.pages[i].w[:]
		switch {
		case int64(w[pageWords]) < 0:
			sign = -1
		case !num.IsZero(w):
			sign = 1
		}
	}
	base := a.pages[low].index
	if sign != 0 && lowPage < base { // zeros between: the sticky bit goes below them
		base = lowPage
	}
	words := int(high-base+1)*pageWords + 1
	if cap(a.mag) < words {
		a.mag = make([]uint64, words+words/2)
	}
	m := a.mag[:words]
	clear(m)
	for i := low; i <= top; i++ {
		p := a.pages[i]
		at := m[int(p.index-base)*pageWords:]
		num.AddShifted(at, p.w[:min(len(at), pageWords)])
		if int64(p.w[pageWords]) < 0 {
			num.SubShifted(at[pageWords:], unitWord[:])
		}
	}
	r := num.Real{Class: num.Finite, Exp: base << pageShift}
	if int64(m[words-1]) < 0 {
		num.Negate(m)
		r.Neg = true
		sign = -sign
	}
	if sign < 0 {
		num.SubShifted(m, unitWord[:])
	}
	r.Sticky = sign != 0
	for len(m) > 0 && m[len(m)-1] == 0 {
		m = m[:len(m)-1]
	}
	if !r.Sticky {
		for len(m) > 0 && m[0] == 0 {
			m = m[1:]
			r.Exp += 64
		}
	}
	r.Mag = m
	return r
}

var unitWord = [1]uint64{1}

// special returns the sum if the special values that a has added determine it.
func (a *Acc) special() (num.Real, bool) {
	inf := a.seen & (seenPosInf | seenNegInf)
	switch {
	case a.seen&seenNaN != 0, inf == seenPosInf|seenNegInf:
		return num.Real{Class: num.NaN}, true
	case inf != 0:
		return num.Real{Class: num.Inf, Neg: inf == seenNegInf}, true
	case a.seen&seenFinite == 0:
		return num.Real{Neg: a.seen == seenNegZero}, true
	}
	return num.Real{}, false
}

// signedBitLen returns the number of bits of |w| for a normalised two's complement w.
func signedBitLen(w []uint64) int {
	flip := uint64(int64(w[len(w)-1]) >> 63)
	for i := len(w) - 1; i >= 0; i-- {
		if x := w[i] ^ flip; x != 0 {
			return 64*i + bits.Len64(x)
		}
	}
	return 1
}

package direct

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Small products, on one thread, for which nothing is allocated. Products of MP numbers copy the
// rows of A and the columns of B once, with as many words each as the sums need, and every entry is
// a sum of products from their highest words (topPlan). Products of binary32 and binary64 numbers
// take compensated sums (gemvfloat.go).

// A Small multiplies matrices of one set of formats and one number of columns of A.
type Small struct {
	floats  bool    // compensated sums
	top     topPlan // otherwise
	two     bool    // twoWords come before top
	a, b, c num.Format
	cost    float64 // of a product, in ns
}

// smallBytes bounds the copies of A and B, which should stay in the first-level cache or near it.
const smallBytes = 1 << 18

// PlanSmall returns how to multiply small matrices of formats a and b, where A has k columns, for
// results of format c. It returns false if the numbers or the results have too many words, or if
// there is no assembly for sums of few words.
func PlanSmall(a, b, c num.Format, k int) (s Small, ok bool) {
	if k < 2 {
		return s, false
	}
	if floatSums(a, b, c, k) {
		return Small{floats: true, a: a, b: b, c: c}, true
	}
	words := 2
	for _, f := range [2]num.Format{a, b} {
		switch {
		case f.Kind == num.MP:
			words = max(words, f.Limbs())
		case f.Terms() > 1:
			return s, false
		}
	}
	if !superacc.Assembly() || c.Terms() > 1 {
		return s, false
	}
	for ; words <= maxSmallWords; words++ {
		t, fits := planTop(num.Format{Kind: num.MP, Prec: uint32(64 * words)}, c.Bits(), k)
		if fits {
			l := float64(words)
			// may fuse: an estimate
			s = Small{top: t, a: a, b: b, c: c, cost: 3 + 1.2*l + 0.22*l*l}
			if s.two = words == 2 && c.Kind == num.MP && c.Bits() <= mostTwoBits; s.two {
				s.cost = 3.5
			}
			return s, true
		}
	}
	return s, false
}

// manyFloatProducts bounds the products of binary64 numbers that Run computes.
const manyFloatProducts = 1 << 20

// maxSmallWords is the largest number of words for which there is assembly.
const maxSmallWords = 7

// Fits reports whether an m x k and a k x n matrix are small.
func (s *Small) Fits(m, n, k int) bool {
	if s.floats {
		return m <= rowBlock && n <= rowBlock && m*n <= manyFloatProducts/k
	}
	return max(m, n, k) <= 1<<12 && (m+n)*k*8*s.top.words <= smallBytes
}

// Estimate returns the approximate time of Run for MP numbers.
func (s *Small) Estimate(m, n, k int) time.Duration {
	entries, numbers := float64(m)*float64(n), float64(m+n)*float64(k)
	// may fuse: an estimate
	return smallStart + time.Duration(entries*(smallEntry+float64(k)*s.cost)+numbers*smallNumber)
}

const (
	smallStart  = 300 * time.Nanosecond
	smallEntry  = 60 // ns of an entry beyond its products
	smallNumber = 10 // ns of the copy of a number
)

// SmallRoom is the memory of one worker.
type SmallRoom struct {
	a, b   smallVectors
	u, v   twoWords
	gemv   gemv
	worker gemvWorker
	words  [maxSmallWords + 2]uint64
}

// NewSmallRoom returns memory that grows as products need it.
func NewSmallRoom() *SmallRoom { return new(SmallRoom) }

var smallRooms = sync.Pool{New: func() any { return NewSmallRoom() }}

// smallVectors are vectors of k numbers of a plan's words, one vector after the other. The exponent
// of a zero is far below all others.
type smallVectors struct {
	sig     []uint64
	exp     []int32
	cls     []uint8
	special []bool // whether a vector has infinities or NaN
}

// noExponent is the exponent of a zero.
const noExponent = math.MinInt32

// pack copies the rows of m.
func (p *smallVectors) pack(m num.Mat, words int) {
	n := m.Rows * m.Cols
	if cap(p.exp) < n || cap(p.sig) < n*words {
		p.sig, p.exp, p.cls = make([]uint64, n*words), make([]int32, n), make([]uint8, n)
	}
	p.sig, p.exp, p.cls = p.sig[:n*words], p.exp[:n], p.cls[:n]
	if cap(p.special) < m.Rows {
		p.special = make([]bool, m.Rows)
	}
	p.special = p.special[:m.Rows]
	clear(p.special)
	if m.Arr.Kind != num.MP {
		p.packFloats(m, words)
		return
	}
	l, at := m.Arr.Limbs(), 0
	for i := range m.Rows {
		from := m.At(i, 0)
		special := false
		for range m.Cols {
			c := m.Arr.Cls[from]
			e := m.Arr.Exp[from]
			z := p.sig[at*words : (at+1)*words]
			x := m.Arr.Sig[from*l : (from+1)*l]
			if l == words {
				copy(z, x)
			} else {
				clear(z)
				copy(z[words-l:], x)
			}
			if c.Class() != num.Finite {
				e = noExponent
				special = special || c.Class() > num.Finite
			}
			p.exp[at], p.cls[at] = e, uint8(c)
			at++
			from += m.CS
		}
		p.special[i] = special
	}
}

// packFloats is pack for binary64 and binary32 numbers.
func (p *smallVectors) packFloats(m num.Mat, words int) {
	clear(p.sig)
	at := 0
	for i := range m.Rows {
		for j := range m.Cols {
			c, e := superacc.FloatWord(&p.sig[(at+1)*words-1], superacc.FloatAt(m.Arr, m.At(i, j)))
			if c.Class() != num.Finite {
				e = noExponent
				p.special[i] = p.special[i] || c.Class() > num.Finite
			}
			p.exp[at], p.cls[at] = e, uint8(c)
			at++
		}
	}
}

// span returns the largest exponent of a product of two vectors; it is far below all exponents if
// every product is 0.
func span(x, y []int32) int64 {
	high := int64(2 * noExponent)
	y = y[:len(x)]
	for h, e := range x {
		high = max(high, int64(e)+int64(y[h]))
	}
	return high
}

// Run computes a product that Fits. It returns the number of entries that took the exact sum. C
// has meaningless entries if stopped returns true.
func (s *Small) Run(r *SmallRoom, stopped func() bool, p *Product, count func(num.Flags)) (exact int64) {
	if s.floats {
		return s.runFloats(r, stopped, p, count)
	}
	t, words, k := s.top, s.top.words, p.A.Cols
	r.a.pack(p.A, words)
	r.b.pack(p.B.T(), words)
	w := &r.worker
	sum := r.words[:t.sum]
	bound := uint64(k) * t.err
	e, plain := superacc.PowerOfTwo(p.Alpha.Mag)
	plain = plain && p.Beta.Class == num.Zero
	quick := plain && s.c.Kind == num.MP
	dot := dotTopFast
	two := quick && s.two
	if two {
		r.u.align(&r.a, k)
		r.v.align(&r.b, k)
	}
	var short [4]uint64
	for j := range p.C.Cols {
		b := j * k
		bs, be, bc := r.b.sig[b*words:(b+k)*words], r.b.exp[b:b+k], r.b.cls[b:b+k]
		lo, hi := p.rows(j, 0, p.C.Rows)
		column := false
		for i := lo; i < hi; i++ {
			a := i * k
			ae := r.a.exp[a : a+k]
			ref := span(ae, be)
			ok := !r.a.special[i] && !r.b.special[j] && ref > noExponent
			if ok && two {
				sumTwo(&short, &r.u, &r.v, i, j, k)
				exp := r.u.exp[i] + r.v.exp[j] - 126 - 64 + p.Alpha.Exp + e // of a unit of short
				if s.store(p.C.Arr, p.C.At(i, j), short[:], exp, p.Alpha.Neg, uint64(4*k+2), 64) {
					continue
				}
			}
			if ok {
				clear(sum)
				dot(words, sum, ref, r.a.sig[a*words:(a+k)*words], ae, r.a.cls[a:a+k], bs, be, bc)
				if quick && s.store(p.C.Arr, p.C.At(i, j), sum, ref-t.unit+p.Alpha.Exp+e, p.Alpha.Neg, bound, 0) {
					continue
				}
			}
			if !column {
				column = true
				if w.gemv == nil {
					r.begin(s, stopped, p, count)
				}
				w.column = columnOf(p, j)
			}
			if ok {
				if v := t.value(sum, ref); len(v.Mag) > 0 && w.roundSum(i, v, bound) {
					continue
				}
			}
			w.exactRow(i)
			exact++
		}
		if column && stopped() {
			break
		}
	}
	r.end()
	return exact
}

// runFloats is Run for binary32 and binary64 numbers.
func (s *Small) runFloats(r *SmallRoom, stopped func() bool, p *Product, count func(num.Flags)) (exact int64) {
	r.begin(s, stopped, p, count)
	w := &r.worker
	for j := range p.C.Cols {
		w.column = columnOf(p, j)
		w.vector = atLeast(w.vector, p.A.Cols)
		copy(w.vector, floatsOf(w.x, 0, w.x.N, w.vector))
		w.xf = w.vector
		if i0, i1 := p.rows(j, 0, p.C.Rows); i0 < i1 {
			exact += w.rowsFloat(i0, i1)
		}
	}
	r.end()
	return exact
}

// columnOf returns column j of a product as a matrix-vector product.
func columnOf(p *Product, j int) (c column) {
	c.x, c.z = p.B.Col(j), p.C.Col(j)
	if p.Beta.Class != num.Zero {
		c.y = p.Old.Col(j)
	}
	return c
}

// begin prepares the worker for entries that it rounds.
func (r *SmallRoom) begin(s *Small, stopped func() bool, p *Product, count func(num.Flags)) {
	e, ok := superacc.PowerOfTwo(p.Alpha.Mag)
	r.gemv = gemv{
		alpha: p.Alpha, beta: p.Beta, m: p.A, count: count, stopped: stopped,
		plain: ok && p.Beta.Class == num.Zero, shift: p.Alpha.Exp + e, negative: p.Alpha.Neg,
	}
	if s.floats {
		r.gemv.floatFactors = newFloatFactors(p.Alpha, p.Beta)
	}
	w := &r.worker
	w.gemv, w.acc.Stopped = &r.gemv, stopped
	if w.tmp == nil || w.tmp.Format != s.c {
		w.tmp = num.New(s.c, 1)
	}
}

// end drops the operands.
func (r *SmallRoom) end() {
	w := &r.worker
	if w.gemv != nil {
		w.gemv, w.column, w.acc.Stopped, r.gemv = nil, column{}, nil, gemv{}
	}
}

// store stores the two's complement number sum 2^exp, known to within bound 2^(exp+unit), in number
// i of z, which has format MP. It returns false, with sum unchanged, if the error might matter or
// if the exponent is near an end of the range.
//
// The number is decided if the 64 bits below the last bit kept are farther than the bound from a
// tie. The bound must be less than a quarter of the last bit kept, because the numbers below a
// power of two are twice as dense.
func (s *Small) store(z *num.Array, i int, sum []uint64, exp int64, negative bool, bound uint64, unit int) bool {
	n := len(sum)
	sign := uint64(int64(sum[n-1]) >> 63)
	var m [maxSmallWords + 2]uint64
	c := sign & 1
	for k, v := range sum {
		m[k], c = bits.Add64(v^sign, 0, c)
	}
	top := n - 1
	for top > 0 && m[top] == 0 {
		top--
	}
	l := len(z.Sig) / len(z.Exp)
	lead := bits.LeadingZeros64(m[top])
	// The word below the words kept, where the number has been shifted to the top of its words.
	if top < l || m[top] == 0 {
		return false
	}
	left, right := uint(lead), uint(63-lead) // x << lead | y >> (64 - lead)
	to := z.Sig[i*l : (i+1)*l]
	below := top - l
	next := m[below] // the first word that is not kept
	var rest uint64
	if below > 0 {
		rest = m[below-1]
	}
	word := next<<left | rest>>1>>right // 64 bits below the l words
	spare := uint(64*l) - uint(z.Prec)  // bits of the l words that are not kept
	low := m[below+1]<<left | next>>1>>right
	// t has the 64 bits behind the last one kept.
	t := word
	if spare > 0 {
		t = low<<(64-spare) | word>>spare
	}
	// One unit of the sum is 2^(lead - 64 below) units of word, and those are 2^spare units of t.
	shift := lead - 64*below - int(spare) + unit
	err := uint64(1) << 62
	if shift <= 0 {
		err = bound>>min(63, uint(-shift)) + 2
	} else if bits.Len64(bound)+shift <= 61 {
		err = bound<<uint(shift) + 2
	}
	tie := int64(t ^ 1<<63)
	if tie < 0 {
		tie = -tie
	}
	if err >= 1<<62 || uint64(tie) <= err {
		return false
	}
	e := exp + int64(64*(top+1)-lead)
	if e < math.MinInt32+8 || e > math.MaxInt32-8 {
		return false
	}
	carry := t >> 63 << spare
	mask := ^(uint64(1)<<spare - 1)
	to[0], c = bits.Add64(low&mask, carry, 0)
	for k := 1; k < l; k++ {
		to[k], c = bits.Add64(m[below+1+k]<<left|m[below+k]>>1>>right, 0, c)
	}
	if c != 0 {
		to[l-1] = 1 << 63
		e++
	}
	if negative {
		sign = ^sign
	}
	z.Exp[i], z.Cls[i] = int32(e), num.FiniteCls(sign&1)
	return true
}

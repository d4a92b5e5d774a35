package direct

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Small products, on one thread, for which nothing is allocated. Products of MP numbers make
// integers of one unit of each row of A and each column of B (superacc.OffsetVectors), and every
// entry is a sum of their highest words. Entries that this sum does not decide, and products with
// other factors and formats, copy rows and columns with as many words a number as the sums need,
// and sum the highest words of products with shifts (topPlan). Products of binary32 and binary64
// numbers take compensated sums (gemvfloat.go).

// A Small multiplies matrices of one set of formats and one number of columns of A.
type Small struct {
	floats  bool    // compensated sums
	top     topPlan // otherwise
	offset  int     // words of integers of one unit, whose sums come before top; 0 for none
	a, b, c num.Format
	cost    float64 // of a product, in ns
	entry   float64 // of an entry beyond its products, in ns
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
			s = Small{top: t, a: a, b: b, c: c, cost: 3 + 1.2*l + 0.22*l*l, entry: smallEntry}
			s.planOffsets(k)
			return s, true
		}
	}
	return s, false
}

// planOffsets selects the words of integers of one unit for results of format MP. For data of
// similar size, a sum has about 2^(64 words - 2) sqrt(k) units of its error bound,
// superacc.HighError.
func (s *Small) planOffsets(k int) {
	if s.c.Kind != num.MP || s.a.Kind != num.MP || s.b.Kind != num.MP {
		return
	}
	for w := 2; w <= maxSmallWords; w = superacc.OffsetWords(w + 1) {
		if s.c.Bits()+bits.Len(uint(k))/2+bits.Len64(superacc.HighError(w, 1))+10 <= 64*w {
			if w == 2 || superacc.HasDotHigh(w) {
				s.offset, s.cost = w, offsetCosts[w]
				if s.lanes(k) {
					s.cost, s.entry = laneCosts[s.c.Limbs()], laneEntry
				}
			}
			return
		}
	}
}

// offsetCosts are the times of a product of integers of that many words, in ns.
var offsetCosts = [maxSmallWords + 1]float64{2: 1.5, 3: 3, 4: 4.5, 7: 11}

// laneCosts are the same for rows of eight numbers side by side, by the words of a number.
var laneCosts = [maxSmallWords + 1]float64{2: 0.8, 7: 2.1}

// lanes reports whether rows of eight numbers side by side multiply matrices that are stored by
// columns.
func (s *Small) lanes(k int) bool {
	return superacc.HasLanes() && superacc.LanesApply(s.a, s.b, s.c, k)
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
	return smallStart + time.Duration(entries*(s.entry+float64(k)*s.cost)+numbers*smallNumber)
}

const (
	smallStart  = 300 * time.Nanosecond
	smallEntry  = 60 // ns of an entry beyond its products
	laneEntry   = 5  // with rows of eight numbers side by side
	smallNumber = 10 // ns of the copy of a number
)

// SmallRoom is the memory of one worker.
type SmallRoom struct {
	a, b   smallVectors
	u, v   superacc.OffsetVectors
	lanes  superacc.Lanes
	halves [2][]uint64 // of u and v
	sums   []uint64    // of a row
	open   []int       // entries left open, row by row
	gemv   gemv
	worker gemvWorker
	words  [maxSmallWords + 1]uint64
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
	e, plain := superacc.PowerOfTwo(p.Alpha.Mag)
	plain = plain && p.Beta.Class == num.Zero && s.c.Kind == num.MP
	if plain && s.offset != 0 {
		s.offsets(r, p, p.Alpha.Exp+e)
		if len(r.open) == 0 {
			return 0
		}
	} else {
		r.all(p)
	}
	t, words, k := s.top, s.top.words, p.A.Cols
	every := len(r.open) > (p.C.Rows+p.C.Cols)/2 // else rows and columns are copied one by one
	if every {
		r.a.pack(p.A, words)
		r.b.pack(p.B.T(), words)
	}
	w := &r.worker
	sum := r.words[:t.sum]
	bound := uint64(k) * t.err
	column := -1
	for _, at := range r.open {
		i, j := at/p.C.Cols, at%p.C.Cols
		row, col := i, j
		if !every {
			r.a.pack(p.A.Slice(i, i+1, 0, k), words)
			r.b.pack(p.B.Slice(0, k, j, j+1).T(), words)
			row, col = 0, 0
		}
		a, b := row*k, col*k
		ae, be := r.a.exp[a:a+k], r.b.exp[b:b+k]
		ref := span(ae, be)
		ok := !r.a.special[row] && !r.b.special[col] && ref > noExponent
		if ok {
			clear(sum)
			dotTopFast(words, sum, ref, r.a.sig[a*words:(a+k)*words], ae, r.a.cls[a:a+k], r.b.sig[b*words:(b+k)*words], be, r.b.cls[b:b+k])
			if plain && s.store(p.C.Arr, p.C.At(i, j), sum, ref-t.unit+p.Alpha.Exp+e, p.Alpha.Neg, bound) {
				continue
			}
		}
		if column != j {
			if w.gemv == nil {
				r.begin(s, stopped, p, count)
			}
			if column >= 0 && stopped() {
				break
			}
			column = j
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
	r.end()
	return exact
}

// all makes all entries of the product open, column by column.
func (r *SmallRoom) all(p *Product) {
	r.open = r.open[:0]
	for j := range p.C.Cols {
		lo, hi := p.rows(j, 0, p.C.Rows)
		for i := lo; i < hi; i++ {
			r.open = append(r.open, i*p.C.Cols+j)
		}
	}
}

// offsets computes alpha A B, alpha = ±2^e, by sums of integers of one unit a vector. It lists the
// entries that the sums leave open.
func (s *Small) offsets(r *SmallRoom, p *Product, e int64) {
	words, k := s.offset, p.A.Cols
	r.open = r.open[:0]
	if p.Triangle == 0 && s.lanes(k) {
		var ok bool
		if r.open, ok = r.lanes.Multiply(p.A, p.B, p.C, e, p.Alpha.Neg, r.open); ok {
			return
		}
	}
	u, v := &r.u, &r.v
	u.Set(p.A, words)
	v.Set(p.B.T(), words)
	r.halves[0], r.halves[1] = u.Halves(r.halves[0], 1), v.Halves(r.halves[1], 0)
	columns, size := p.C.Cols, words+2
	r.sums = atLeast(r.sums, columns*size)
	bound := superacc.HighError(words, k)
	flip := uint64(0)
	if p.Alpha.Neg {
		flip = 1
	}
	e -= int64(64*words - 2 + 64) // of a unit of the word below a sum
	for i := range p.C.Rows {
		special := u.Class[i] != num.Finite
		if !special {
			superacc.DotHigh(r.sums, u, i, r.halves[0], v, r.halves[1], columns)
		}
		at := p.C.At(i, 0)
		for j := range columns {
			if p.Triangle != 0 {
				if lo, hi := p.rows(j, i, i+1); lo >= hi {
					at += p.C.CS
					continue
				}
			}
			done := false
			if !special && v.Class[j] == num.Finite {
				sum := r.sums[j*size : (j+1)*size]
				sign := sum[0]&1 ^ flip
				sum[0] = 0
				done = p.C.Arr.SetNear(at, sum, u.Exp[i]+v.Exp[j]+e, sign, bound, 64)
			}
			if !done {
				r.open = append(r.open, i*columns+j)
			}
			at += p.C.CS
		}
	}
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

// store stores the two's complement number sum 2^exp, known to within bound 2^exp, in number i of
// z, which has format MP. It returns false, with sum unchanged, if the error might matter or if the
// exponent is near an end of the range.
func (s *Small) store(z *num.Array, i int, sum []uint64, exp int64, negative bool, bound uint64) bool {
	n := len(sum)
	sign := uint64(int64(sum[n-1]) >> 63)
	var m [maxSmallWords + 2]uint64
	c := sign & 1
	for k, v := range sum {
		m[k+1], c = bits.Add64(v^sign, 0, c)
	}
	if negative {
		sign = ^sign
	}
	return z.SetNear(i, m[:n+1], exp-64, sign&1, bound, 64)
}

package superacc

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Lanes multiplies small matrices with the rows of eight numbers side by side. A number a of a row
// or column becomes the integer a', a in units of 2^(top - 52 limbs + 1 + extra) cut off towards 0,
// where all numbers of the row or column are less than 2^top. u = a' + O is not negative, with O =
// 2^(52 limbs - 1), and is kept in limbs of 52 bits. For negative a, a' is one less, so that no
// carry is needed: its error is at most 1. A vector is eight such numbers, limb by limb.
type Lanes struct {
	u, v   []uint64
	cu, cv []uint64
	tu, tv []int64
	open   []uint8
	set    laneSet
	dot    laneDot
	plain  bool // no kernels
}

const (
	laneBits = 52
	laneMask = 1<<laneBits - 1
)

// laneLimbs returns the limbs of integers for numbers of this many words, or 0 if there are no
// kernels.
func laneLimbs(words int) int {
	switch words {
	case 2:
		return 3
	case 7:
		return 9
	}
	return 0
}

// maxLaneWords bounds the words of the vectors, which should stay near the first-level cache.
const maxLaneWords = 1 << 16

// maxLaneLength is the largest number of products of a sum.
const maxLaneLength = 256

// laneError bounds the error of a sum of k products in units of 2^(52 limbs). With L limbs, the
// parts of products left out are positive and less than 2 L together: the low halves of products of
// limbs i + j = L - 1 are less than L, and the products with i + j ≤ L - 2 less than (L - 1) (1 +
// 2^-50). Numbers cut off cost less than 2^(52 L - 1) + 2^(52 L - 1) + 1 for a product, less than 1
// + 2^-52 units. Both halves of the sums of a row and a column cost less than 1 each, and the
// magnitude of a negative sum 1.
func laneError(limbs, k int) uint64 { return uint64(2*limbs+2)*uint64(k) + 4 }

// LanesApply reports whether Lanes multiplies numbers of format a and b for results of format c, in
// sums of k products.
func LanesApply(a, b, c num.Format, k int) bool {
	words := c.Limbs()
	if a.Kind != num.MP || b.Kind != num.MP || c.Kind != num.MP || a.Limbs() != words || b.Limbs() != words || k < 2 || k > maxLaneLength {
		return false
	}
	limbs := laneLimbs(words)
	if limbs == 0 {
		return false
	}
	// The bound of an error must be less than a quarter of the last bit kept, see laneDot.
	spare := 64*words - int(c.Prec)
	return spare >= 4 && laneError(limbs, k)+2 < 1<<(spare-2)
}

// Multiply stores ±2^e A B in c, if all matrices are stored by columns, and if no exponents or
// classes are unusual. It returns false if it does not apply: entries of c are meaningless then.
// Otherwise it appends the entries left open to open, i c.Cols + j for entry (i, j).
func (p *Lanes) Multiply(a, b, c num.Mat, e int64, negative bool, open []int) (all []int, ok bool) {
	m, k, n := c.Rows, a.Cols, c.Cols
	four := m == 4 && k == 4 && n&1 == 0 && a.CS == 4 && b.CS == 4 && c.CS == 4
	if a.RS != 1 || b.RS != 1 || c.RS != 1 || m < 5 && !four || max(e, -e) > 1<<28 {
		return open, false
	}
	words := c.Arr.Limbs()
	limbs := laneLimbs(words)
	vector := 8 * limbs
	extra := bits.Len(uint(k-1)) - 1
	// The columns of B, whose numbers lie side by side.
	s := &p.set
	*s = laneSet{extra: 1, stride: 8, words: words, limbs: limbs, across: 1, within: 1, count: (k + 7) / 8, first: 255, last: 1<<((k-1)&7+1) - 1}
	columns := n
	if four {
		columns = n / 2
		s.across, s.count, s.last = 0, 1, 255
	}
	if (columns*(s.count+1)+k+1)*vector > maxLaneWords {
		return open, false
	}
	p.v = laneRoom(p.v, columns*s.count*vector)
	p.cv, p.tv = laneRoom(p.cv, columns*vector), laneRoom(p.tv, 8*columns)
	if len(p.open) < columns {
		p.open = make([]uint8, columns)
	}
	for j := range columns {
		at := b.Off + j*b.CS
		if four {
			at = b.Off + 8*j
		}
		if !s.run(p.plain, b.Arr, at, p.v[j*s.count*vector:], p.cv[j*vector:], p.tv[8*j:]) {
			return open, false
		}
	}
	d := &p.dot
	spare := uint(64*words) - uint(c.Arr.Prec)
	*d = laneDot{len: k, words: words, limbs: limbs, four: four, bound: laneError(limbs, k), half: 1 << (spare - 1), flip: uint64(num.FiniteCls(0))}
	d.spare = 2*d.half - 1
	d.base = e + int64(extra) + 2
	if negative {
		d.flip |= 1
	}
	p.cu, p.tu = laneRoom(p.cu, vector), laneRoom(p.tu, 8)
	s.extra, s.square, s.across, s.within = 1+extra, uint64(k)<<50, 0, 0
	s.stride, s.count = a.CS, k
	d.pitch = c.CS
	if four {
		s.across, s.stride, s.count, d.pitch = 1, 8, 2, 8
	}
	p.u = laneRoom(p.u, s.count*vector)
	from := len(open)
	for i := 0; i < m; i += 8 {
		lanes := uint64(1)<<min(8, m-i) - 1
		if four {
			lanes = 255
		}
		s.first, s.last = lanes, lanes
		if !s.run(p.plain, a.Arr, a.Off+i, p.u, p.cu, p.tu) {
			return open[:from], false
		}
		d.lanes, d.columns = lanes, columns
		d.run(p, c.Arr, c.Off+i)
		for j, o := range p.open[:columns] {
			for ; o != 0; o &= o - 1 {
				lane := bits.TrailingZeros8(o)
				if four {
					open = append(open, lane&3*n+2*j+lane>>2)
				} else {
					open = append(open, (i+lane)*n+j)
				}
			}
		}
	}
	return open, true
}

// laneRoom returns x with n entries, which may be meaningless.
func laneRoom[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// A laneSet makes vectors of integers. The kernels know the places of its fields.
type laneSet struct {
	dst    *uint64
	sums   *uint64 // a vector: -O Σ u + square 2^(52 (limbs - 1)), in units of 2^(52 limbs)
	tops   *int64  // of the lanes
	sig    *uint64
	exp    *int32
	cls    *num.Cls
	stride int    // numbers between two vectors
	count  int    // vectors
	first  uint64 // the lanes of all vectors but the last
	last   uint64 // the lanes of the last vector
	extra  int    // 1 + extra
	square uint64
	// Lanes four apart, or the four lanes of each half, belong to one row or column.
	across, within int64
	bad            uint64 // not 0: infinities, NaN, zero rows, or exponents too far apart

	words, limbs int
}

// run makes vectors of the numbers of a from number at on. It returns false if the kernels leave
// them to others.
func (s *laneSet) run(plain bool, a *num.Array, at int, dst, sums []uint64, tops []int64) bool {
	if f := laneSetOf(s.words); f != nil && !plain {
		s.dst, s.sums, s.tops, s.sig, s.exp, s.cls = &dst[0], &sums[0], &tops[0], &a.Sig[at*s.words], &a.Exp[at], &a.Cls[at]
		f(&s.dst)
		return s.bad == 0
	}
	return s.generic(a, at, dst, sums, tops)
}

// fold replaces the entries of v by op of the entries of the same row or column.
func fold[T any](s *laneSet, v *[8]T, op func(x, y T) T) {
	for _, d := range [3]int{4, 2, 1} {
		if d == 4 && s.across == 0 || d < 4 && s.within == 0 {
			continue
		}
		w := *v
		for i := range v {
			v[i] = op(w[i], w[i^d])
		}
	}
}

// generic is run in Go.
func (s *laneSet) generic(a *num.Array, at int, dst, sums []uint64, tops []int64) bool {
	bad := false
	var top [8]int64
	for i := range top {
		top[i] = math.MinInt64
	}
	each := func(f func(h, lane, at int, finite bool)) {
		for h := range s.count {
			lanes := s.first
			if h == s.count-1 {
				lanes = s.last
			}
			for lane := range 8 {
				if lanes>>lane&1 != 0 {
					k := at + h*s.stride + lane
					f(h, lane, k, a.Cls[k].Class() == num.Finite)
				}
			}
		}
	}
	each(func(h, lane, at int, finite bool) {
		bad = bad || a.Cls[at].Class() > num.Finite
		if finite {
			top[lane] = max(top[lane], int64(a.Exp[at]))
		}
	})
	fold(s, &top, func(x, y int64) int64 { return max(x, y) })
	for i := range top {
		if s.first>>i&1 == 0 {
			top[i] = 0
		}
		bad = bad || max(top[i], -top[i]) > 1<<29 || top[i] == math.MinInt64
	}
	copy(tops, top[:])
	var sum [maxLaneLimbs][8]uint64
	each(func(h, lane, at int, finite bool) {
		d, x := uint(0), a.Sig[at*s.words:(at+1)*s.words]
		if finite {
			d = uint(top[lane] + int64(s.extra) - int64(a.Exp[at]))
			bad = bad || d >= laneBits
		}
		sign := -a.Cls[at].Sign() & laneMask
		for q := range s.limbs {
			z := uint64(0)
			if finite {
				z = num.WordAt(x, int64(laneBits*q-(laneBits*s.limbs-64*s.words))+int64(d)) & laneMask
			}
			if z ^= sign; q == s.limbs-1 {
				z ^= 1 << (laneBits - 1)
			}
			dst[(h*s.limbs+q)*8+lane] = z
			sum[q][lane] += z
		}
	})
	for q := range s.limbs {
		fold(s, &sum[q], func(x, y uint64) uint64 { return x + y })
	}
	for q := range s.limbs {
		for lane := range 8 {
			h := -(sum[q][lane] >> 1)
			if q+1 < s.limbs {
				h -= sum[q+1][lane] & 1 << (laneBits - 1)
			} else {
				h += s.square
			}
			sums[q*8+lane] = h
		}
	}
	return !bad
}

// maxLaneLimbs is the largest number of limbs.
const maxLaneLimbs = 9

// A laneDot computes entries of products. The kernels know the places of its fields.
type laneDot struct {
	u, v    *uint64 // vectors
	cu, cv  *uint64 // sums of rows and columns
	tu, tv  *int64
	sig     *uint64 // results
	exp     *int32
	cls     *num.Cls
	open    *uint8 // lanes left open, for each column
	len     int    // products of a sum
	columns int    // or pairs of columns of matrices of order 4
	pitch   int    // numbers between results
	lanes   uint64
	bound   uint64
	base    int64
	flip    uint64     // the class of positive results
	half    uint64     // half a unit of the last bit kept, in the lowest word
	spare   uint64     // bits of the lowest word that are not kept
	_       [7]uintptr // for the kernels

	words, limbs int
	four         bool
}

// run computes the entries of eight rows of c from number at on, or of matrices of order 4.
func (d *laneDot) run(p *Lanes, c *num.Array, at int) {
	if f := laneDotOf(d.words, d.four); f != nil && !p.plain {
		d.u, d.v, d.cu, d.cv, d.tu, d.tv, d.open = &p.u[0], &p.v[0], &p.cu[0], &p.cv[0], &p.tu[0], &p.tv[0], &p.open[0]
		d.sig, d.exp, d.cls = &c.Sig[at*d.words], &c.Exp[at], &c.Cls[at]
		f(&d.u)
		return
	}
	vector := 8 * d.limbs
	blocks := (d.len + 7) / 8
	for j := range d.columns {
		p.open[j] = 0
		for lane := range 8 {
			if d.lanes>>lane&1 == 0 {
				continue
			}
			// number returns the first limbs of factor h of the row and of the column.
			number := func(h int) (x, y []uint64) {
				if d.four {
					return p.u[h/2*vector+4*(h&1)+lane&3:], p.v[j*vector+lane&4+h:]
				}
				return p.u[h*vector+lane:], p.v[(j*blocks+h/8)*vector+h&7:]
			}
			var r [maxLaneLimbs]uint64
			for q := range d.limbs {
				r[q] = p.cu[8*q+lane] + p.cv[j*vector+8*q+lane]
			}
			for h := range d.len {
				x, y := number(h)
				for i := range d.limbs {
					for k := d.limbs - 1 - i; k < d.limbs; k++ {
						hi, lo := bits.Mul64(x[8*i], y[8*k])
						if q := i + k - d.limbs; q >= 0 {
							r[q] += lo & laneMask
						}
						r[i+k+1-d.limbs] += hi<<(64-laneBits) | lo>>laneBits
					}
				}
			}
			if !d.round(c, at+j*d.pitch+lane, r[:d.limbs], p.tu[lane]+p.tv[8*j+lane]+d.base) {
				p.open[j] |= 1 << lane
			}
		}
	}
}

// round rounds the number of these limbs, the highest of which is signed, in units of 2^(exp - 52
// limbs). It returns false if the error might matter, and stores a meaningless number then.
//
// The words hold the number from its highest bit on, cut off. One unit of the lowest limb is
// 2^(left - gap) units of the lowest word, gap = 52 limbs - 64 words.
func (d *laneDot) round(c *num.Array, at int, r []uint64, exp int64) bool {
	for q := 1; q < len(r); q++ {
		r[q] += uint64(int64(r[q-1]) >> laneBits)
		r[q-1] &= laneMask
	}
	last := len(r) - 1
	sign := uint64(int64(r[last]) >> 63)
	r[last] ^= sign
	for q := range last {
		r[q] ^= sign & laneMask
	}
	gap := laneBits*len(r) - 64*d.words
	left := bits.LeadingZeros64(r[last]) - (64 - laneBits)
	if left < 0 || left > gap {
		return false
	}
	to := c.Sig[at*d.words : (at+1)*d.words]
	for h := range to {
		to[h] = 0
		for q, x := range r {
			// Bit 0 of limb q has this place in the word.
			switch s := laneBits*q + left - gap - 64*h; {
			case s >= 0:
				to[h] |= x << uint(s)
			case s > -laneBits:
				to[h] |= x >> uint(-s)
			}
		}
	}
	tie := int64(to[0]&d.spare - d.half)
	if uint64(max(tie, -tie)) <= d.bound>>uint(gap-left)+2 {
		return false
	}
	var carry uint64
	to[0], carry = bits.Add64(to[0], d.half, 0)
	to[0] &^= d.spare
	if to[1] += carry; carry != 0 && to[1] == 0 {
		return false
	}
	c.Exp[at], c.Cls[at] = int32(exp-int64(left)), num.Cls(sign&1^d.flip)
	return true
}

// A laneKernel takes the first field of a laneSet or laneDot.
type laneKernel = func(s **uint64)

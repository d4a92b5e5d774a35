// Package minors solves small systems of linear equations exactly, by elimination without
// fractions: every number on the way is a minor of the matrix, an integer of a length that is known
// beforehand (Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination,
// Math. Comp. 22, 1968).
package minors

import (
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
)

// MaxOrder is the largest number of unknowns, and of columns of B.
const MaxOrder = 24

// System is a matrix [A B] of integers with n rows, and its solution.
type System struct {
	n, cols int
	size    [MaxOrder + 1]int // size[k] bounds the bits of the magnitude of minors of order k
	words   int               // of an integer: its sign and some zeros at the end of a divisor too
	x       []uint64          // integers in little-endian words, in two's complement
	row     [MaxOrder]int     // row i, after exchanges, is row row[i] of x
	column  [2 * MaxOrder]int64
	acc     []uint64
	pivots  [MaxOrder]divisor
	det     []uint64 // magnitude of the determinant
	negDet  bool
	room    []uint64 // for quotients
}

// Set makes s the system of A, square, and B, both finite and of at most MaxOrder columns. It
// returns false if integers of more than most words may occur.
//
// Entry (i, j) of [A B] is integer (i, j) times 2^(row[i] + column[j]); unknown i of column j of B
// is a quotient of integers times 2^(column[n+j] - column[i]).
func (s *System) Set(a, b num.Mat, most int) bool {
	n, cols := a.Rows, a.Cols+b.Cols
	s.n, s.cols = n, cols
	var row [MaxOrder]int64
	var width [MaxOrder]int
	for j := range cols {
		s.column[j] = math.MaxInt64
		for i := range n {
			if c, _, low := span(a, b, i, j); c == num.Finite {
				s.column[j] = min(s.column[j], low)
			}
		}
	}
	for i := range n {
		row[i] = math.MaxInt64
		most := int64(math.MinInt64)
		for j := range cols {
			if c, top, low := span(a, b, i, j); c == num.Finite {
				row[i] = min(row[i], low-s.column[j])
				most = max(most, top-s.column[j])
			}
		}
		if most != math.MinInt64 {
			width[i] = int(min(most-row[i], math.MaxInt32))
		}
	}
	slices.Sort(width[:n])
	for k := 1; k <= n; k++ {
		// Hadamard's inequality: at most the product of the 2-norms of k rows of k integers.
		s.size[k] = s.size[k-1] + width[n-k]
		if s.size[k] > 64*most {
			return false
		}
	}
	for k := 1; k <= n; k++ {
		s.size[k] += (k*bits.Len(uint(k)) + 1) / 2
	}
	s.words = s.size[n]/64 + 2
	if s.words > most {
		return false
	}
	room := make([]uint64, (n*cols+n+2)*s.words)
	s.x, room = room[:n*cols*s.words], room[n*cols*s.words:]
	s.acc, room = room[:s.words], room[s.words:]
	s.det, room = room[:s.words], room[s.words:]
	for k := range n {
		s.row[k] = k
		s.pivots[k].odd = room[k*s.words:][:s.words]
	}
	var buf [num.MaxValueWords]uint64
	for i := range n {
		for j := range cols {
			m, k := &a, j
			if j >= a.Cols {
				m, k = &b, j-a.Cols
			}
			v := m.Arr.Value(m.At(i, k), buf[:])
			if v.Class != num.Finite {
				continue // 0
			}
			z := s.at(i, j)
			for k := range z {
				z[k] = num.WordAt(v.Mag, int64(64*k)-(v.Exp-row[i]-s.column[j]))
			}
			if v.Neg {
				num.Negate(z)
			}
		}
	}
	return true
}

// span returns num.Array.Span for entry (i, j) of [A B].
func span(a, b num.Mat, i, j int) (c num.Class, top, low int64) {
	if j < a.Cols {
		return a.Arr.Span(a.At(i, j))
	}
	return b.Arr.Span(b.At(i, j-a.Cols))
}

// at returns integer (i, j), after exchanges of rows.
func (s *System) at(i, j int) []uint64 {
	k := (s.row[i]*s.cols + j) * s.words
	return s.x[k : k+s.words : k+s.words]
}

// A divisor is 2^zeros odd, where inverse odd = 1 modulo 2^64.
type divisor struct {
	odd     []uint64
	zeros   int
	inverse uint64
}

// set makes x, not 0, the divisor.
func (d *divisor) set(x []uint64) {
	d.zeros = num.TrailingZeros(x)
	shiftRight(d.odd, x, d.zeros)
	v := d.odd[0] // correct modulo 2^3
	for range 5 {
		v *= 2 - d.odd[0]*v
	}
	d.inverse = v
}

// divide replaces z, a multiple of the divisor modulo 2^(64 len(z)), by the quotient.
func (d *divisor) divide(z []uint64) {
	for i := range z {
		q := z[i] * d.inverse
		if q != 0 {
			subtractProduct(z[i:], q, d.odd)
		}
		z[i] = q
	}
	if d.zeros > 0 {
		shiftRight(z, z, d.zeros)
	}
}

// shiftRight stores x 2^-shift, rounded down, in z. Both are signed; z may be x.
func shiftRight(z, x []uint64, shift int) {
	sign := uint64(int64(x[len(x)-1]) >> 63)
	skip, by := shift/64, uint(shift%64)
	for k := range z {
		low, high := sign, sign
		if k+skip < len(x) {
			low = x[k+skip]
		}
		if k+skip+1 < len(x) {
			high = x[k+skip+1]
		}
		z[k] = low>>by | high<<1<<(63-by)
	}
}

// addProduct adds q y to z modulo 2^(64 len(z)); y has no fewer words.
func addProduct(z []uint64, q uint64, y []uint64) {
	y = y[:len(z)]
	var carry, c uint64
	for k, v := range y {
		hi, lo := bits.Mul64(q, v)
		lo, c = bits.Add64(lo, carry, 0)
		hi += c
		z[k], c = bits.Add64(z[k], lo, 0)
		carry = hi + c
	}
}

// subtractProduct subtracts q y from z modulo 2^(64 len(z)); y has no fewer words.
func subtractProduct(z []uint64, q uint64, y []uint64) {
	y = y[:len(z)]
	var carry, c uint64
	for k, v := range y {
		hi, lo := bits.Mul64(q, v)
		lo, c = bits.Add64(lo, carry, 0)
		hi += c
		z[k], c = bits.Sub64(z[k], lo, 0)
		carry = hi + c
	}
}

// cross adds x y - u v to the accumulator of this many words, which it returns. Words of products
// beyond are lost.
func (s *System) cross(z, x, y, u, v []uint64) {
	for i := range z {
		if w := x[i]; w != 0 {
			addProduct(z[i:], w, y)
		}
		if w := u[i]; w != 0 {
			subtractProduct(z[i:], w, v)
		}
	}
}

// accumulator returns a cleared accumulator for a minor of order k times 2^zeros and its sign; nil
// if integers of the system are shorter.
func (s *System) accumulator(k, zeros int) []uint64 {
	words := (s.size[k]+zeros)/64 + 1
	if words > s.words {
		return nil
	}
	z := s.acc[:words]
	clear(z)
	return z
}

// store stores z, signed, in x, which is longer.
func store(x, z []uint64) {
	copy(x, z)
	sign := uint64(int64(z[len(z)-1]) >> 63)
	for k := len(z); k < len(x); k++ {
		x[k] = sign
	}
}

// Solve computes the determinants of Cramer's rule: afterwards, unknown i of column j of B is a
// quotient of two integers. It returns false if A is singular, or if a divisor ends with more zeros
// than there is room for.
func (s *System) Solve() bool {
	for k := range s.n {
		if !s.choose(k) {
			return false
		}
		pivot := s.at(k, k)
		s.pivots[k].set(pivot)
		for i := k + 1; i < s.n; i++ {
			left := s.at(i, k)
			for j := k + 1; j < s.cols; j++ {
				zeros := 0
				if k > 0 {
					zeros = s.pivots[k-1].zeros
				}
				z := s.accumulator(k+2, zeros)
				if z == nil {
					return false
				}
				x := s.at(i, j)
				s.cross(z, pivot, x, left, s.at(k, j))
				if k > 0 {
					s.pivots[k-1].divide(z)
				}
				store(x, z)
			}
		}
	}
	// The unknowns times the determinant, from the last one up.
	det := s.at(s.n-1, s.n-1)
	s.negDet = magnitude(s.det, det)
	for i := s.n - 2; i >= 0; i-- {
		for c := s.n; c < s.cols; c++ {
			z := s.accumulator(s.n, s.pivots[i].zeros)
			if z == nil {
				return false
			}
			x := s.at(i, c)
			s.cross(z, det, x, s.at(i, i+1), s.at(i+1, c))
			for j := i + 2; j < s.n; j++ {
				for k, w := range s.at(i, j)[:len(z)] {
					if w != 0 {
						subtractProduct(z[k:], w, s.at(j, c))
					}
				}
			}
			s.pivots[i].divide(z)
			store(x, z)
		}
	}
	return true
}

// choose exchanges rows so that entry (k, k) has as few zeros at its end as any below it. It
// returns false if all are 0.
func (s *System) choose(k int) bool {
	best, fewest := -1, math.MaxInt
	for i := k; i < s.n; i++ {
		if x := s.at(i, k); !num.IsZero(x) {
			if z := num.TrailingZeros(x); z < fewest {
				best, fewest = i, z
			}
		}
	}
	if best < 0 {
		return false
	}
	s.row[k], s.row[best] = s.row[best], s.row[k]
	return true
}

// Quotient returns unknown i of column j of B, cut off to at least the given number of significant
// bits.
func (s *System) Quotient(i, j, bits int) num.Real {
	x := s.acc
	neg := s.negDet != magnitude(x, s.at(i, s.n+j))
	length := num.BitLen(x)
	if length == 0 {
		return num.Real{Class: num.Zero}
	}
	shift := max(0, bits+1+num.BitLen(s.det)-length)
	d := s.det[:(num.BitLen(s.det)+63)/64]
	need := len(d) + 2*((length+shift)/64+2)
	if len(s.room) < need {
		s.room = make([]uint64, need)
	}
	v := num.Real{Class: num.Finite, Neg: neg, Exp: s.column[s.n+j] - s.column[i] - int64(shift)}
	v.Mag, v.Sticky = divide(x, d, shift, s.room)
	return v
}

// magnitude stores the magnitude of x in z and reports whether x is negative.
func magnitude(z, x []uint64) bool {
	copy(z, x)
	if int64(x[len(x)-1]) < 0 {
		num.Negate(z)
		return true
	}
	return false
}

// divide returns the quotient of x 2^shift and d, rounded down, and whether there is a remainder.
// The last word of d is not 0. The words of the quotient lie in room. (Knuth, The art of computer
// programming, volume 2, 4.3.1, algorithm D.)
func divide(x, d []uint64, shift int, room []uint64) (q []uint64, rest bool) {
	n := len(d)
	by := bits.LeadingZeros64(d[n-1])
	v, room := room[:n], room[n:]
	for k := range v {
		v[k] = num.WordAt(d, int64(64*k-by))
	}
	length := max((num.BitLen(x)+shift+by)/64+1, n+1)
	u, room := room[:length], room[length:]
	for k := range u {
		u[k] = num.WordAt(x, int64(64*k-by-shift))
	}
	q = room[:length-n]
	top := v[n-1]
	for k := len(q) - 1; k >= 0; k-- {
		digit := uint64(math.MaxUint64) // u[k+n] ≤ top
		if u[k+n] < top {
			var r uint64
			digit, r = bits.Div64(u[k+n], u[k+n-1], top)
			if n > 1 {
				for hi, lo := bits.Mul64(digit, v[n-2]); hi > r || hi == r && lo > u[k+n-2]; hi, lo = bits.Mul64(digit, v[n-2]) {
					digit--
					if r += top; r < top {
						break
					}
				}
			}
		}
		var carry, c uint64
		for j, w := range v {
			hi, lo := bits.Mul64(digit, w)
			lo, c = bits.Add64(lo, carry, 0)
			hi += c
			u[k+j], c = bits.Sub64(u[k+j], lo, 0)
			carry = hi + c
		}
		u[k+n], c = bits.Sub64(u[k+n], carry, 0)
		for c != 0 {
			digit--
			var more uint64
			for j, w := range v {
				u[k+j], more = bits.Add64(u[k+j], w, more)
			}
			u[k+n], more = bits.Add64(u[k+n], 0, more)
			c -= more
		}
		q[k] = digit
	}
	return q, !num.IsZero(u[:n])
}

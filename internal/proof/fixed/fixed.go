package fixed

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Matrix is a scaled matrix F, |f_ij| < 1, in fixed point. It is multiplied exactly by vectors of
// 62-bit integers.
//
// Entry (i, j) is f = Σ_l w_l 2^(1-64(l+1)) - 1 with word w_l in plane l, cut off towards 0 after
// the last plane. The first w planes alone differ from f by less than 2^(2-64w). Words are
// unsigned, and the integers of vectors are shifted to be unsigned, so that the product of a row
// and a vector is one sum of products of words for each plane.
type Matrix struct {
	rows, cols int
	Planes     int
	Words      [][]uint64  // words of row i in plane l, at index i Planes + l
	sums       [][2]uint64 // sums of these words
	// few[i] has the nonzero words of row i of the second plane, if most words of this row are 0;
	// Words then has no such row. few[i] is nil for other rows. few is nil unless F consists of
	// float64 numbers in two planes.
	few [][]placed
}

// placed is a word in column j.
type placed struct {
	j    int
	word uint64
}

// rowsAtOnce is the number of rows that one parallel task processes; their words are adjacent in
// memory.
const rowsAtOnce = 16

// Shifted is added to the integers of vectors, whose magnitudes are smaller.
const Shifted = 1 << 62

// New returns F = diag(2^rows) A diag(2^cols) in the given number of planes. Its words belong to c
// and are released with the call.
func New(c *call.Call, a num.Mat, by scale.Scaling, planes int) (*Matrix, error) {
	m, n := a.Rows, a.Cols
	f := &Matrix{rows: m, cols: n, Planes: planes, sums: make([][2]uint64, m*planes)}
	some, tile := rowsAtOnce, 32 // columns, few enough for the processor's cached page addresses
	floats := a.Arr.Kind == num.F64 && planes <= 2
	if floats {
		some, tile = floatRows, floatCols
		room := c.Words(m * n)
		for i := range m {
			f.Words = append(f.Words, room[i*n:(i+1)*n:(i+1)*n])
			if planes == 2 { // see many
				f.Words = append(f.Words, nil)
			}
		}
		if planes == 2 {
			f.few = make([][]placed, m)
			for i := range f.few {
				f.few[i] = make([]placed, 0, 4)
			}
		}
	} else {
		for i := 0; i < m; i += rowsAtOnce {
			room := c.Words(min(rowsAtOnce, m-i) * planes * n)
			for range min(rowsAtOnce, m-i) * planes {
				f.Words = append(f.Words, room[:n:n])
				room = room[n:]
			}
		}
	}
	return f, par.For(c.Ctx, c.Threads, (m+some-1)/some, func(_, part int) {
		first, last := part*some, min(m, (part+1)*some)
		var buf [num.MaxValueWords]uint64
		for j0 := 0; j0 < n; j0 += tile {
			if floats {
				f.setFloats(a, by, first, last, j0, min(n, j0+tile))
				continue
			}
			for i := first; i < last; i++ {
				for j := j0; j < min(n, j0+tile); j++ {
					e, at := by.Rows[i]+by.Cols[j], a.At(i, j)
					switch a.Arr.Kind { // these cases are much faster, and usual
					case num.MP:
						c, l := a.Arr.Cls[at], a.Arr.Limbs()
						f.set(i, j, c.Class() != num.Finite, c.Neg(), a.Arr.Sig[at*l:(at+1)*l], e+int64(a.Arr.Exp[at])-int64(64*l))
					case num.F64:
						x := a.Arr.F64[0][at]
						m, exp := num.Decompose(x)
						buf[0] = m
						f.set(i, j, x == 0, x < 0, buf[:1], e+exp)
					default:
						x := a.Arr.Value(at, buf[:])
						f.set(i, j, x.Class != num.Finite, x.Neg, x.Mag, e+x.Exp)
					}
				}
			}
		}
		for at := first * planes; at < last*planes; at++ {
			if f.isFew(at/planes, at%planes) {
				continue
			}
			var s0, s1, carry uint64
			for _, w := range f.Words[at] {
				s0, carry = bits.Add64(s0, w, 0)
				s1 += carry
			}
			f.sums[at] = [2]uint64{s0, s1}
		}
	})
}

// floatRows x floatCols numbers are a tile of setFloats: each of its columns is read from adjacent
// cache lines, and each of its rows is stored in one cache line of words.
const (
	floatRows = 64
	floatCols = 8
)

// setFloats is set for rows i0 ≤ i < i1 and columns j0 ≤ j < j1 of float64 numbers, in one or two
// planes. Most scaled numbers are multiples of 2^-63, and their words in the second plane are 0. A
// matrix of order 1000 takes 3 ms, and 20 ms with set.
func (f *Matrix) setFloats(a num.Mat, by scale.Scaling, i0, i1, j0, j1 int) {
	var tile [floatCols][floatRows]float64
	for j := j0; j < j1; j++ {
		to, at := tile[j-j0][:i1-i0], a.At(i0, j)
		if from := a.Arr.F64[0][at:]; a.RS == 1 {
			copy(to, from)
		} else {
			for i := range to {
				to[i] = from[i*a.RS]
			}
		}
	}
	var scales [floatCols]float64
	for j, e := range by.Cols[j0:j1] {
		scales[j] = scale.NearPower(e)
	}
	for i := i0; i < i1; i++ {
		words := f.Words[i*f.Planes][j0:j1]
		var second []uint64
		if f.Planes == 2 && !f.isFew(i, 1) {
			second = f.Words[2*i+1][j0:j1]
			clear(second)
		}
		scale := scale.NearPower(by.Rows[i]) * 0x1p63
		for j := range words {
			x := tile[j&(floatCols-1)][(i-i0)&(floatRows-1)]
			// |y| < 2^63. y is exact unless it is far below 2^-64, or NaN, which differs from every
			// number.
			y := x * scales[j&(floatCols-1)] * scale
			v := int64(y)
			if words[j] = uint64(v) ^ 1<<63; float64(v) != y {
				f.setFloat(i, j0+j, x, by.Rows[i]+by.Cols[j0+j])
			}
		}
	}
}

// setFloat is setFloats for one number x 2^e = m 2^(shift-127), with m below 2^53.
func (f *Matrix) setFloat(i, j int, x float64, e int64) {
	m, exp := num.Decompose(x)
	shift := exp + e + 127 // at most 74, as |x| 2^e < 1
	neg := uint64(int64(math.Float64bits(x)) >> 63)
	hi, lo := m>>uint64(64-shift), uint64(0) // 0 by 64 bits or more
	if shift >= 64 {
		hi = m << uint64(shift-64)
	} else if f.Planes == 2 {
		lo = m<<uint64(shift) | m>>uint64(-shift)
	}
	lo, carry := bits.Add64(lo^neg, neg&1, 0)
	f.Words[i*f.Planes][j] = (hi ^ neg) + carry ^ 1<<63
	switch {
	case f.Planes == 2 && !f.isFew(i, 1):
		f.Words[2*i+1][j] = lo
	case lo != 0:
		f.few[i] = append(f.few[i], placed{j, lo})
		if len(f.few[i]) > f.cols/16 {
			f.many(i)
		}
	}
}

// isFew reports whether row i of a plane is stored in f.few.
func (f *Matrix) isFew(i, plane int) bool { return plane == 1 && f.few != nil && f.few[i] != nil }

// many moves row i of the second plane from f.few to a new row of f.Words.
func (f *Matrix) many(i int) {
	second := make([]uint64, f.cols)
	f.Words[2*i+1] = second
	for _, p := range f.few[i] {
		second[p.j] = p.word
	}
	f.few[i] = nil
}

// set sets the words of entry (i, j) to 1 + x for x = ± mag 2^e, |x| < 1, where x is cut off
// towards 0.
func (f *Matrix) set(i, j int, zero, neg bool, mag []uint64, e int64) {
	words := f.Words[i*f.Planes : (i+1)*f.Planes]
	at := len(words) - 1
	var sign, carry uint64
	if neg {
		sign, carry = math.MaxUint64, 1
	}
	// Word k of x 2^(64 planes - 1) is mag[k-up] 2^off plus the bits shifted in from the word
	// below.
	shift := e + int64(64*len(words)-1)
	up, off := int(max(shift>>6, math.MinInt32)), uint(shift&63)
	var before uint64
	switch {
	case zero || up < -len(mag):
		mag = nil
	case up < 0:
		before, mag = mag[-up-1], mag[-up:]
	}
	for ; up > 0 && at >= 0; up-- {
		words[at][j] = 0 // ^0 + 1 is 0 and carries as well
		at--
	}
	for _, word := range mag[:min(len(mag), at+1)] {
		v := (word<<off | before>>(64-off)) ^ sign // for off = 0 no bits are shifted in
		before = word
		v, carry = bits.Add64(v, 0, carry)
		words[at][j] = v
		at--
	}
	for ; at >= 0; at-- {
		v := before>>(64-off) ^ sign
		before = 0
		v, carry = bits.Add64(v, 0, carry)
		words[at][j] = v
	}
	words[0][j] ^= 1 << 63
}

// Magnitude stores mag 2^shift in z, which must be large enough. Bits below 1 are cut off.
func Magnitude(z, mag []uint64, shift int64) {
	clear(z)
	// z[k] = mag[k-up] 2^off, plus the bits shifted in from the word below
	up, off := shift>>6, uint(shift&63)
	first, last := max(0, up), min(int64(len(z)), int64(len(mag))+up+1)
	for k := first; k < last; k++ {
		at := k - up
		var v uint64
		if at < int64(len(mag)) {
			v = mag[at] << off
		}
		if at > 0 {
			v |= mag[at-1] >> (64 - off) // 0 for off = 0
		}
		z[k] = v
	}
}

// Vector is a vector of integers below 2^62 in magnitude, stored with [Shifted] added.
type Vector struct {
	moved []uint64 // the integers plus Shifted
	x     *superacc.WordVector
	sum   [2]uint64 // sum of the integers, in two's complement
}

// NewVector returns the vector of these integers.
func NewVector(c []int64) *Vector {
	v, x := new(Vector), make([]uint64, len(c))
	for j, c := range c {
		x[j] = uint64(c + Shifted)
		var carry uint64
		v.sum[0], carry = bits.Add64(v.sum[0], uint64(c), 0)
		v.sum[1], _ = bits.Add64(v.sum[1], uint64(c>>63), carry)
	}
	v.moved, v.x = x, superacc.NewWordVector(x)
	return v
}

// Row stores 2^(64w-1) Σ_j f_ij c_j in z, with F cut off after w planes. z has at least w + 2 words
// and is in two's complement.
//
// With words u of plane l and integers c + 2^62, each plane contributes Σ u (c + 2^62) - 2^62 Σ u.
// From the total 2^(64w-1) Σ c is subtracted. A sum of n products stays below 2^(64+63) n < 2^192.
func (f *Matrix) Row(z []uint64, i int, c *Vector, w int) {
	clear(z)
	for l := range w {
		p0, p1, p2 := f.rowSum(i, l, c)
		at := w - 1 - l
		var b uint64
		z[at], b = bits.Add64(z[at], p0, 0)
		z[at+1], b = bits.Add64(z[at+1], p1, b)
		z[at+2], b = bits.Add64(z[at+2], p2, b)
		sign := uint64(int64(p2) >> 63)
		for k := at + 3; k < len(z); k++ {
			z[k], b = bits.Add64(z[k], sign, b)
		}
	}
}

// rowSum returns Σ_j u_j c_j for the words u of row i in plane l, in two's complement. In the first
// plane it subtracts the 1 of 1 + f from the words, that is 2^63 Σ_j c_j.
func (f *Matrix) rowSum(i, l int, c *Vector) (p0, p1, p2 uint64) {
	var b uint64
	if f.isFew(i, l) {
		for _, u := range f.few[i] {
			x := int64(c.moved[u.j] - Shifted)
			hi, lo := bits.Mul64(u.word, uint64(x))
			hi -= u.word & uint64(x>>63)
			p0, b = bits.Add64(p0, lo, 0)
			p1, b = bits.Add64(p1, hi, b)
			p2, _ = bits.Add64(p2, uint64(int64(hi)>>63), b)
		}
		return p0, p1, p2
	}
	at := i*f.Planes + l
	p0, p1, p2 = c.x.Dot(f.Words[at])
	sum := f.sums[at]
	p0, b = bits.Sub64(p0, sum[0]<<62, 0)
	p1, b = bits.Sub64(p1, sum[0]>>2|sum[1]<<62, b)
	p2, _ = bits.Sub64(p2, sum[1]>>2, b)
	if l == 0 {
		p0, b = bits.Sub64(p0, c.sum[0]<<63, 0)
		p1, b = bits.Sub64(p1, c.sum[0]>>1|c.sum[1]<<63, b)
		p2, _ = bits.Sub64(p2, uint64(int64(c.sum[1])>>1), b)
	}
	return p0, p1, p2
}

// Times returns -F r, one sum for each row in two's complement and in units of 2^-unit, for r = Σ_m
// v_m 2^(-61 (m+1)) and |F r| < 2^60. Piece m is multiplied by the first planes(m) planes of F. A
// nil piece is 0.
func (f *Matrix) Times(c *call.Call, v []*Vector, planes func(m int) int) (sums [][]uint64, unit int, err error) {
	words := f.Planes + 2
	unit = 64 * (words - 1)
	sums = make([][]uint64, f.rows)
	room := make([]uint64, f.rows*(words+1))
	for i := range sums {
		sums[i], room = room[:words+1], room[words+1:]
	}
	return sums, unit, par.For(c.Ctx, c.Threads, (f.rows+rowsAtOnce-1)/rowsAtOnce, func(_, part int) {
		x := make([]uint64, words)
		for i := part * rowsAtOnce; i < min(f.rows, (part+1)*rowsAtOnce); i++ {
			for m, v := range v {
				if v == nil {
					continue
				}
				w := min(planes(m), f.Planes)
				f.Row(x[:w+2], i, v, w)
				// x is in units of 2^(1-64 w) 2^(-61 (m+1)).
				SubtractShifted(sums[i], x[:w+2], unit-64*w+1-PieceBits*(m+1))
			}
		}
	})
}

// SubtractShifted subtracts x 2^shift from r, both in two's complement, modulo 2^(64 len(r)). Bits
// of x 2^shift below the last bit of r are cut off, which increases the difference by less than one
// unit of that bit.
func SubtractShifted(r, x []uint64, shift int) {
	sign := uint64(int64(x[len(x)-1]) >> 63)
	from, off := -(shift >> 6), uint(shift&63)
	word := func(at int) uint64 {
		switch {
		case at < 0:
			return 0
		case at >= len(x):
			return sign
		}
		return x[at]
	}
	var borrow uint64
	for k := range r {
		v := word(from+k) << off
		if off > 0 {
			v |= word(from+k-1) >> (64 - off)
		}
		r[k], borrow = bits.Sub64(r[k], v, borrow)
	}
}

// Leading returns f for x = f 2^e in two's complement, |f| ≤ 1. The error of f 2^e is below 2^-52
// |f| 2^e + 2^(e-62).
func Leading(x []uint64, e int) float64 {
	// The 64 bits from bit e downwards; e < 64 len(x).
	v := topBits(x, e)
	return float64(v) * 0x1p-62
}

// topBits returns x 2^(62-e), rounded down, for |x| ≤ 2^e.
func topBits(x []uint64, e int) int64 {
	if low := e - 62; low >= 0 {
		return int64(wordAt(x, low))
	}
	return int64(x[0]) << uint(62-e) // the value fits in one word
}

// wordAt returns the 64 bits of x in two's complement from bit low on.
func wordAt(x []uint64, low int) uint64 {
	sign := uint64(int64(x[len(x)-1]) >> 63)
	k, off := low/64, uint(low%64)
	if k >= len(x) {
		return sign
	}
	v := x[k] >> off
	if off > 0 {
		next := sign
		if k+1 < len(x) {
			next = x[k+1]
		}
		v |= next << (64 - off)
	}
	return v
}

// BitLen returns an e with |x| ≤ 2^e, for x in two's complement.
func BitLen(x []uint64) int {
	sign := uint64(int64(x[len(x)-1]) >> 63)
	for k := len(x) - 1; k >= 0; k-- {
		if v := x[k] ^ sign; v != 0 {
			return 64*k + bits.Len64(v)
		}
	}
	return 0
}

// TopOf returns an e with |x| ≤ 2^e for all x, in two's complement.
func TopOf(x [][]uint64) (e int) {
	for _, x := range x {
		e = max(e, BitLen(x))
	}
	return e
}

// BitsAt returns count bits of x in two's complement, from bit low on. Bits below bit 0 of x are 0.
func BitsAt(x []uint64, low, count int) uint64 {
	var v uint64
	switch {
	case low >= 0:
		v = wordAt(x, low)
	case low > -64:
		v = x[0] << uint(-low)
	}
	return v << uint(64-count) >> uint(64-count)
}

// PieceBits is the number of bits of a piece.
const PieceBits = 61

// Piece returns piece m of x in two's complement, |x| ≤ 2^top. x 2^-top, rounded down, is the sum
// of piece m times 2^(-61 (m+1)). All pieces except the first are nonnegative.
func Piece(x []uint64, top, m int) int64 {
	low := top - PieceBits*(m+1) // position of the piece's last bit
	v := uint64(0)
	switch {
	case low <= -64:
	case low < 0:
		v = x[0] << uint(-low)
	default:
		v = wordAt(x, low)
	}
	if m == 0 {
		return int64(v)
	}
	return int64(v & (1<<PieceBits - 1))
}

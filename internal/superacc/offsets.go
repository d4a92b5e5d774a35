package superacc

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// OffsetVectors holds vectors of numbers as integers of one unit a vector, so that products of
// words need no shifts and no signs. A number a of vector i becomes the integer a', a in units of
// 2^(Exp[i] - 64 Words + 1) cut off towards 0. Then |a'| < O = 2^(64 Words - 1), and u = a' + O is
// not negative.
type OffsetVectors struct {
	Words int
	Len   int      // numbers of a vector
	U     []uint64 // Words a number, vector by vector
	Sums  []uint64 // Words + 1 a vector: Σ u
	Exp   []int64  // all numbers of vector i are less than 2^Exp[i]
	Low   []int64  // of the numbers of vector i that are not 0, the least have this exponent
	Class []num.Class
	room  [MaxOffsetWords]uint64
	add   rowKernel // or nil
}

// MaxOffsetWords is the largest number of words of an integer.
const MaxOffsetWords = 8

// OffsetWords returns the least number of words, n at least, for which there is assembly.
func OffsetWords(n int) int {
	switch n = max(2, n); n {
	case 5, 6:
		return 7
	}
	return n
}

// Set makes the rows of m, which has numbers of kind MP, F64 or F32, the vectors, in integers of 2
// to MaxOffsetWords words. Class[i] is the largest class of a number of row i; the integers are
// meaningless unless it is num.Finite.
func (a *OffsetVectors) Set(m num.Mat, words int) {
	a.Words, a.Len = words, m.Cols
	n := m.Rows * m.Cols * words
	if cap(a.U) < n {
		a.U = make([]uint64, n)
	}
	if cap(a.Sums) < m.Rows*(words+1) {
		a.Sums = make([]uint64, m.Rows*(words+1))
	}
	if cap(a.Exp) < m.Rows {
		a.Exp, a.Low, a.Class = make([]int64, m.Rows), make([]int64, m.Rows), make([]num.Class, m.Rows)
	}
	a.U, a.Sums, a.Exp, a.Low, a.Class = a.U[:n], a.Sums[:m.Rows*(words+1)], a.Exp[:m.Rows], a.Low[:m.Rows], a.Class[:m.Rows]
	a.add = rowKernelOf(words)
	clear(a.Sums)
	for i := range m.Rows {
		if m.Arr.Kind == num.MP {
			a.row(m, i)
		} else {
			a.floats(m, i)
		}
	}
}

// row is Set for row i of MP numbers.
func (a *OffsetVectors) row(m num.Mat, i int) {
	l, words := m.Arr.Limbs(), a.Words
	top, low, class := int32(math.MinInt32), int32(math.MaxInt32), num.Zero
	from := m.At(i, 0)
	exp, cls := m.Arr.Exp, m.Arr.Cls
	for range m.Cols {
		c := cls[from].Class()
		if class = max(class, c); c == num.Finite {
			top, low = max(top, exp[from]), min(low, exp[from])
		}
		from += m.CS
	}
	a.Exp[i], a.Low[i], a.Class[i] = int64(top), int64(low), class
	if class != num.Finite {
		return
	}
	from = m.At(i, 0)
	to := a.U[i*m.Cols*words:][:m.Cols*words]
	sum := a.Sums[i*(words+1):][:words+1]
	if l == 2 && words == 2 {
		a.two(m, from, to, sum, int64(top))
		return
	}
	offset := offsetWordsOf(words)
	for ; len(to) > 0; to = to[words:] {
		x := m.Arr.Sig[from*l:][:l]
		d := uint64(int64(top)-int64(exp[from])) + 1
		if cls[from].Class() != num.Finite {
			d = uint64(64 * words)
		}
		if d < 64 && l == words && offset != nil {
			offset(&to[0], &x[0], d, -uint64(cls[from]&1), &sum[0])
		} else {
			a.shifted(to[:words:words], x, d, -uint64(cls[from]&1), sum)
		}
		from += m.CS
	}
}

// two is row for numbers and integers of two words.
func (a *OffsetVectors) two(m num.Mat, from int, to, sum []uint64, top int64) {
	var s0, s1, s2, c uint64
	for h := 1; h < len(to); h += 2 {
		cls := m.Arr.Cls[from]
		x := m.Arr.Sig[2*from:][:2]
		x0, x1 := x[0], x[1]
		d := uint64(top-int64(m.Arr.Exp[from])) + 1
		switch {
		case d < 64 && cls.Class() == num.Finite:
			x0, x1 = x0>>(d&63)|x1<<((64-d)&63), x1>>(d&63)
		case d < 128 && cls.Class() == num.Finite:
			x0, x1 = x1>>((d-64)&63), 0
		default:
			x0, x1 = 0, 0
		}
		sign := -uint64(cls & 1)
		x0, c = bits.Add64(x0^sign, sign&1, 0)
		x1, _ = bits.Add64(x1^sign, 1<<63, c)
		to[h-1], to[h] = x0, x1
		s0, c = bits.Add64(s0, x0, 0)
		s1, c = bits.Add64(s1, x1, c)
		s2 += c
		from += m.CS
	}
	sum[0], sum[1], sum[2] = s0, s1, s2
}

// shifted is offsetWords for a number 0.x of at most as many words as dst, and for any shift.
func (a *OffsetVectors) shifted(dst, x []uint64, d, sign uint64, sum []uint64) {
	y := a.room[:len(dst)]
	clear(y)
	down := int(min(d/64, uint64(len(dst)))) + len(x) - len(dst)
	for k := max(0, down); k < len(x); k++ {
		y[k-down] = x[k]
	}
	offsetWords(dst, y, d%64, sign, sum)
}

// floats is Set for row i of numbers of kind F64 or F32.
func (a *OffsetVectors) floats(m num.Mat, i int) {
	words := a.Words
	top, low, class := int32(math.MinInt32), int32(math.MaxInt32), num.Zero
	for j := range m.Cols {
		var x uint64
		c, e := FloatWord(&x, FloatAt(m.Arr, m.At(i, j)))
		if class = max(class, c.Class()); c.Class() == num.Finite {
			top, low = max(top, e), min(low, e)
		}
	}
	a.Exp[i], a.Low[i], a.Class[i] = int64(top), int64(low), class
	if class != num.Finite {
		return
	}
	to := a.U[i*m.Cols*words:][:m.Cols*words]
	sum := a.Sums[i*(words+1):][:words+1]
	for j := range m.Cols {
		var x [1]uint64
		c, e := FloatWord(&x[0], FloatAt(m.Arr, m.At(i, j)))
		a.shifted(to[j*words:(j+1)*words:(j+1)*words], x[:], uint64(int64(top)-int64(e))+1, -uint64(c&1), sum)
	}
}

// An offsetKernel is the loop of offsetWords.
type offsetKernel = func(dst, src *uint64, d, sign uint64, sum *uint64)

// offsetWords stores u = ±x 2^-d + O in dst, cut off towards 0, for a number x of at most 64 words
// - 1 bits after the shift, and adds u to sum, which has one word more. sign is 0 or 2^64 - 1, and
// d < 64.
func offsetWords(dst, x []uint64, d, sign uint64, sum []uint64) {
	n := len(dst)
	x, sum = x[:n], sum[:n+1]
	c, carry := sign&1, uint64(0)
	for k := range dst {
		w := x[k] >> (d & 63)
		if k+1 < n {
			w |= x[k+1] << 1 << ((63 - d) & 63)
		}
		w, c = bits.Add64(w^sign, 0, c)
		if k+1 == n {
			w ^= 1 << 63
		}
		dst[k] = w
		sum[k], carry = bits.Add64(sum[k], w, carry)
	}
	sum[n] += carry
}

// DotHigh stores, for every vector j < columns of v, the sum Σ a'b' of the products of the numbers
// of vector i of u with those of vector j, in words + 2 words of out: 2^64 - 1 or 0 for the sign,
// and the magnitude in units of W = 2^(64 words). The error is less than (2 words Len + 2) W, the
// error of the cut-off integers included. uc and vc have room for words + 1 words for a vector, of
// all vectors, from [OffsetVectors.Halves].
//
// With a' = u - O and b' = v - O,
//
//	Σ a' b' = Σ u v - O (Σ u + Σ v) + Len O².
//
// Of Σ u v, products of words i and j with i + j ≥ words are added, and the high words of those
// with i + j = words - 1. All parts left out are positive: the low words of the latter are less
// than words W together, and the products with i + j < words - 1 less than (words - 1) W. Halves
// cut off less than W of both sums. The numbers cut off cost less than 2^(64 words - 1) + 2^(64
// words - 1) + 1 a product.
func DotHigh(out []uint64, u *OffsetVectors, i int, uc []uint64, v *OffsetVectors, vc []uint64, columns int) {
	w, k := u.Words, u.Len
	dotHighFast(w, out[:columns*(w+2)], u.U[i*k*w:(i+1)*k*w], uc[i*(w+1):(i+1)*(w+1)], v.U[:columns*k*w], vc[:columns*(w+1)])
}

// HighError bounds the errors of DotHigh, in units of W.
func HighError(words, k int) uint64 { return 2*uint64(words)*uint64(k) + 2 }

// Halves stores, in words + 1 words for each vector, -O Σ u + s Len O² in units of W, cut off, for
// s = 0 or 1.
func (a *OffsetVectors) Halves(z []uint64, square uint64) []uint64 {
	n, w := len(a.Exp), a.Words+1
	if cap(z) < n*w {
		z = make([]uint64, n*w)
	}
	z = z[:n*w]
	for i := range n {
		s, to := a.Sums[i*w:][:w], z[i*w:][:w]
		var c uint64
		for k, v := range s {
			half := v >> 1
			if k+1 < w {
				half |= s[k+1] << 63
			}
			to[k], c = bits.Sub64(0, half, c)
		}
		// O² = 2^(64 (words - 1) + 62) W
		to[w-2], c = bits.Add64(to[w-2], square*uint64(a.Len)<<62, 0)
		to[w-1] += square*uint64(a.Len)>>2 + c
	}
	return z
}

// dotHigh adds, for every column of v, the sums uc and vc, which have one word more than the
// numbers, and the high words of the products of the numbers at u and v: of words i and j with i +
// j ≥ words, and the high words of those with i + j = words - 1. It stores the sign, 0 or 2^64 - 1,
// and then the magnitude of the sum, a number in two's complement.
func dotHigh(words int, out, u, uc, v, vc []uint64) {
	var w [MaxOffsetWords]uint64
	n := len(u)
	for ; len(v) > 0; v, vc, out = v[n:], vc[words+1:], out[words+2:] {
		sum := out[1 : words+2]
		var c uint64
		for k := range sum {
			sum[k], c = bits.Add64(uc[k], vc[k], c)
		}
		for h := 0; h < n; h += words {
			x, y := u[h:h+words], v[h:h+words]
			clear(w[:words])
			for r := range words {
				hi, _ := bits.Mul64(x[r], y[words-1-r])
				carry := AddMul(w[:r], y[words-r:], x[r])
				w[r] = carry
				for k := 0; k <= r && hi != 0; k++ {
					w[k], hi = bits.Add64(w[k], hi, 0)
				}
			}
			c = 0
			for k := range words {
				sum[k], c = bits.Add64(sum[k], w[k], c)
			}
			sum[words] += c
		}
		out[0] = uint64(int64(sum[words]) >> 63)
		if out[0] != 0 {
			num.Negate(sum)
		}
	}
}

// StepRow replaces acc, a number of words + 1 words in two's complement, by
//
//	2^shift acc - Σ_j a'_j d_j,   |d_j| < 2^63,
//
// for the integers a' of vector i, modulo 2^(64 (words + 1)). shift is from 1 to 63, f has the
// numbers 2^63 - d_j and sum their sum in two words, and c comes from [OffsetVectors.Constants]:
// with u = a' + O,
//
//	-Σ a' d = Σ u f - 2^63 Σ u - O Σ f + Len 2^63 O.
func (a *OffsetVectors) StepRow(acc []uint64, i int, shift uint, c, f []uint64, sum *[2]uint64) {
	w := a.Words
	// -O Σ f, from word w - 1 on
	low, borrow := bits.Sub64(0, sum[0]<<63, 0)
	high := -(sum[0]>>1 | sum[1]<<63) - borrow
	u := a.U[i*a.Len*w : (i+1)*a.Len*w]
	acc, c = acc[:w+1], c[i*(w+1):(i+1)*(w+1)]
	if a.add != nil {
		a.add(&acc[0], uint64(shift), &c[0], low, high, &u[0], &f[0], len(f))
		return
	}
	addRow(acc, shift, c, low, high, u, f)
}

// Constants stores -2^63 Σ u + Len 2^63 O in words + 1 words for every vector.
func (a *OffsetVectors) Constants(z []uint64) []uint64 {
	w := a.Words + 1
	n := len(a.Exp) * w
	if cap(z) < n {
		z = make([]uint64, n)
	}
	z = z[:n]
	for at := 0; at < n; at += w {
		var c, low uint64
		for k, v := range a.Sums[at : at+w] {
			z[at+k], c = bits.Sub64(0, v<<63|low, c)
			low = v >> 1
		}
		z[at+w-1] += uint64(a.Len) << 62
	}
	return z
}

// A rowKernel is the loop of addRow.
type rowKernel = func(acc *uint64, shift uint64, c *uint64, low, high uint64, u, d *uint64, n int)

// addRow replaces acc by 2^shift acc + c + (2^64 high + low) 2^(64 (len(acc) - 2)) + Σ u_j d_j,
// modulo 2^(64 len(acc)). The numbers u_j have one word less.
func addRow(acc []uint64, shift uint, c []uint64, low, high uint64, u, d []uint64) {
	w := len(acc) - 1
	for k := w; k > 0; k-- {
		acc[k] = acc[k]<<(shift&63) | acc[k-1]>>((64-shift)&63)
	}
	acc[0] <<= shift & 63
	var carry uint64
	acc[w-1], carry = bits.Add64(acc[w-1], low, 0)
	acc[w] += high + carry
	carry = 0
	for k, v := range c {
		acc[k], carry = bits.Add64(acc[k], v, carry)
	}
	for j, x := range d {
		acc[w] += AddMul(acc[:w], u[j*w:(j+1)*w], x)
	}
}

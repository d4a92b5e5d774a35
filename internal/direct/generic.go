package direct

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// The kernels in plain Go. They define what the fast kernels compute, bit for bit.

// sumLanes is the number of independent sums of the compensated kernels: entry i of
// a vector goes to lane i mod sumLanes.
const sumLanes = 8

// twoSum returns s = RN(a + b) and the error e = a + b - s, exactly, unless s
// overflows (Knuth).
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	z := s - a
	return s, (a - (s - z)) + (b - z)
}

// sum2 stores three results for every lane: the sum s of x at out[lane], the sum of the errors made
// in s at out[8+lane], and the sum of magnitudes at out[16+lane].
func sum2(x []float64, out *[24]float64) {
	*out = [24]float64{}
	for i, v := range x {
		l := i % sumLanes
		var e float64
		out[l], e = twoSum(out[l], v)
		out[8+l] += e
		out[16+l] += math.Abs(v)
	}
}

// asum2 is sum2 for the magnitudes of x.
func asum2(x []float64, out *[24]float64) {
	*out = [24]float64{}
	for i, v := range x {
		l := i % sumLanes
		var e float64
		out[l], e = twoSum(out[l], math.Abs(v))
		out[8+l] += e
		out[16+l] += math.Abs(v)
	}
}

// dot2 is sum2 for the products x_i y_i. Their rounding errors are added to the errors of the sum
// (Ogita, Rump and Oishi, Accurate sum and dot product, 2005, algorithm 5.3).
func dot2(x, y []float64, out *[24]float64) {
	*out = [24]float64{}
	for i, v := range x {
		l := i % sumLanes
		p := float64(v * y[i])
		q := math.FMA(v, y[i], -p)
		var e float64
		out[l], e = twoSum(out[l], p)
		out[8+l] += e + q
		out[16+l] += math.Abs(p)
	}
}

// axpy2 adds the products x a_i to the compensated sums of as many lanes. The sum of lane i is s_i
// + e_i, and m_i is the sum of the magnitudes of its rounded products.
func axpy2(a []float64, x float64, s, e, m []float64) {
	for i, v := range a {
		p := float64(v * x)
		q := math.FMA(v, x, -p)
		var d float64
		s[i], d = twoSum(s[i], p)
		e[i] += d + q
		m[i] += math.Abs(p)
	}
}

// productSpan stores the exponents of y. It returns the largest exponent of a product and reports
// whether all numbers are finite.
func productSpan(scale []int64, xe, ye []int32, xc, yc []uint8) (high int64, finite bool) {
	high, finite = math.MinInt64, true
	for i := range scale {
		finite = finite && xc[i]>>1 == 1 && yc[i]>>1 == 1
		scale[i] = int64(ye[i])
		high = max(high, int64(xe[i])+scale[i])
	}
	return high, finite
}

// Numbers in the convolution kernels are cut into digits of digitBits bits, four to a group. The
// most significant digit comes first.
const (
	digitBits  = 28
	digitMask  = 1<<digitBits - 1
	digitBytes = 4 * digitBits / 8
	maxGroups  = 31 // with more groups the products of one number would overflow convolve
)

// digitJob holds the arguments of splitDigits. The assembly knows its layout. Pitches are in bytes.
// The significand of number k, without its low bytes, lies at sig + k sigPitch and has the length
// bytes. The exponent is an int32 at exp + k expPitch, the class and sign are at cls + k clsPitch,
// and the int64s are at ref + k refPitch and scale + k scalePitch.
type digitJob struct {
	dst        unsafe.Pointer
	dstPitch   int
	stage      unsafe.Pointer // room for every number with zeros around it
	stagePitch int
	stageTop   unsafe.Pointer // end of the first significand in stage, less digitBytes
	sig        unsafe.Pointer
	sigPitch   int
	bytes      int
	exp        unsafe.Pointer
	expPitch   int
	cls        unsafe.Pointer
	clsPitch   int
	ref        unsafe.Pointer
	refPitch   int
	scale      unsafe.Pointer
	scalePitch int
	n, groups  int
	limit      int // digitBits times the number of digits
	ahead      int // bytes from a significand to one that is needed soon, a hint
}

// splitDigits writes digits of number k = (-1)^s 0.S 2^exp. They are the first 4 groups digits of
// 0.S 2^-d, d = ref_k - exp - scale_k >= 0, each times (-1)^s. They are stored as int64s at dst + k
// dstPitch, of which only the low 32 bits are defined. If the number is not finite or d is too
// large, all digits are zero.
func splitDigits(j *digitJob) {
	for k := range j.n {
		digits := 4 * j.groups
		dst := unsafe.Slice((*int64)(unsafe.Add(j.dst, k*j.dstPitch)), digits)
		clear(dst)
		cls := *(*uint8)(unsafe.Add(j.cls, k*j.clsPitch))
		d := *(*int64)(unsafe.Add(j.ref, k*j.refPitch)) - int64(*(*int32)(unsafe.Add(j.exp, k*j.expPitch))) -
			*(*int64)(unsafe.Add(j.scale, k*j.scalePitch))
		if cls>>1 != 1 || uint64(d) >= uint64(j.limit) {
			continue
		}
		sig := unsafe.Slice((*uint64)(unsafe.Add(j.sig, k*j.sigPitch)), j.bytes/8)
		for s := range dst {
			// Digit s ends digitBits (s+1) - d bits below the top.
			v := int64(num.WordAt(sig, int64(8*j.bytes)+d-int64(digitBits*(s+1))) & digitMask)
			if cls&1 != 0 {
				v = -v
			}
			dst[s] = v
		}
	}
}

// convolve adds, for every row r and every column c < 4 groups,
//
//	v = sum_{k<n} sum_{s+t=c} a_rks x_kt
//
// to the pair (lo, hi) of column c in acc, which represents v = lo + hi 2^digitBits with 0 <= lo <
// 2^digitBits. The digits of number k in row r lie at a + r aPitch, 4 groups to a number. The
// digits of x are stored likewise, with 4 zeros before them. Only the low 32 bits of each digit
// count. The pairs of row r lie at acc + r accPitch, 8 words to a group: first the four lo, then
// the four hi. Pitches are in bytes. |v| < 2^63 is required.
func convolve(rows, groups int, acc unsafe.Pointer, accPitch int, a unsafe.Pointer, aPitch int, x unsafe.Pointer, n int) {
	digits := 4 * groups
	for r := range rows {
		at := unsafe.Slice((*int64)(unsafe.Add(acc, r*accPitch)), 2*digits)
		for c := range digits {
			var v int64
			for k := range n {
				u := unsafe.Slice((*int64)(unsafe.Add(a, r*aPitch+8*digits*k)), digits)
				w := unsafe.Slice((*int64)(unsafe.Add(x, 8*(digits+4)*k)), digits+4)[4:]
				for s := range c + 1 {
					v += int64(int32(u[s])) * int64(int32(w[c-s]))
				}
			}
			lo := 8*(c/4) + c%4
			at[lo] += v & digitMask
			at[lo+4] += v >> digitBits
		}
	}
}

// top2 returns the three highest words of the product of two-word numbers, shifted right by d and
// complemented if neg is set. It differs from the exact product by at most 2^-192 of the product's
// range for each of the dropped words, the shift and the complement.
func top2(a1, a0, x1, x0 uint64, d uint64, neg bool) (w [4]uint64) {
	var p [4]uint64
	p[2] = superacc.AddMul(p[:2], []uint64{a0, a1}, x0)
	p[3] = superacc.AddMul(p[1:3], []uint64{a0, a1}, x1)
	for k := range 3 {
		w[k] = num.WordAt(p[:], int64(64*(k+1))+int64(d))
	}
	if neg {
		for k := range w {
			w[k] = ^w[k]
		}
	}
	return w
}

func addTop2(acc, w []uint64) {
	var c uint64
	for k := range 4 {
		acc[k], c = bits.Add64(acc[k], w[k], c)
	}
}

// dotTop2 adds the products of the n two-word numbers at a and x to the four words at acc, which
// are two's complement in units of 2^(ref - 192). Exponents, classes and signs (at ac, xc) are
// stored as in num.Array. Each product is computed by top2, and products with a zero are not added.
// No product may exceed 2^ref.
func dotTop2(acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	for i, c := range ac {
		d := ref - int64(ae[i]) - int64(xe[i])
		if c&xc[i]&2 == 0 || uint64(d) >= 192 {
			continue
		}
		w := top2(a[2*i+1], a[2*i], x[2*i+1], x[2*i], uint64(d), (c^xc[i])&1 != 0)
		addTop2(acc, w[:])
	}
}

// dotTop1 is dotTop2 for numbers of one word.
func dotTop1(acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	n := len(ac)
	a, ae, x, xe, xc = a[:n], ae[:n], x[:n], xe[:n], xc[:n]
	s0, s1, s2, s3 := acc[0], acc[1], acc[2], acc[3]
	for i, c := range ac {
		d := uint64(ref - int64(ae[i]) - int64(xe[i]))
		if c&xc[i]&2 == 0 || d >= 192 {
			continue
		}
		hi, lo := bits.Mul64(a[i], x[i])
		low := uint64(0)
		for ; d >= 64; d -= 64 {
			hi, lo, low = 0, hi, lo
		}
		flip := -uint64((c ^ xc[i]) & 1)
		var carry uint64
		s0, carry = bits.Add64(s0, (low>>d|lo<<(64-d))^flip, 0)
		s1, carry = bits.Add64(s1, (lo>>d|hi<<(64-d))^flip, carry)
		s2, carry = bits.Add64(s2, hi>>d^flip, carry)
		s3 += flip + carry
	}
	acc[0], acc[1], acc[2], acc[3] = s0, s1, s2, s3
}

// axpyTop2 multiplies the numbers at a by the number (-1)^sign (x1 2^64 + x0) 2^(scale - 128). The
// product of number i is added to the four words acc[4 i:], which have the reference ref[i], as in
// dotTop2.
func axpyTop2(acc []uint64, ref []int64, a []uint64, ae []int32, ac []uint8, x1, x0 uint64, scale int64, sign uint64) {
	for i, c := range ac {
		d := ref[i] - int64(ae[i]) - scale
		if c&2 == 0 || uint64(d) >= 192 {
			continue
		}
		w := top2(a[2*i+1], a[2*i], x1, x0, uint64(d), (uint64(c)^sign)&1 != 0)
		addTop2(acc[4*i:], w[:])
	}
}

// topWords stores the n = len(x) highest words of a product in w. The product is the sum of the a_i
// x_j with i + j >= n - 1, where terms with i + j = n - 1 contribute their high words only. The
// words are shifted right by d and complemented if neg is set, and a sign word is stored at the
// end. p has room for n + 1 words.
func topWords(w, p, a, x []uint64, d uint64, neg bool) {
	n := len(x)
	clear(p)
	i := 0
	for ; i+1 < n; i += 2 { // two rows at a time take a fifth less time than one at a time
		v, last := a[i], x[n-1-i]
		h0, _ := bits.Mul64(v, last)
		h1, _ := bits.Mul64(a[i+1], x[n-2-i])
		low, high := bits.Add64(h0, h1, 0) // carry
		xs := x[n-i:]
		ps := p[:len(xs)]
		for k, u := range xs {
			h0, l0 := bits.Mul64(v, u)
			h1, l1 := bits.Mul64(a[i+1], last)
			last = u
			s, c := bits.Add64(l0, l1, 0)
			h0, d := bits.Add64(h0, h1, c)
			s, c = bits.Add64(s, low, 0)
			h0, c = bits.Add64(h0, high, c)
			d += c
			ps[k], c = bits.Add64(s, ps[k], 0)
			low, c = bits.Add64(h0, 0, c)
			high = d + c
		}
		h1, l1 := bits.Mul64(a[i+1], last)
		var c uint64
		p[i], c = bits.Add64(l1, low, 0)
		p[i+1] = h1 + high + c
	}
	if i < n {
		h, _ := bits.Mul64(a[i], x[n-1-i])
		c := superacc.AddMul(p[:i], x[n-i:], a[i])
		for k := 0; k < i && h != 0; k++ {
			p[k], h = bits.Add64(p[k], h, 0)
		}
		p[i] = c + h
	}
	flip := uint64(0)
	if neg {
		flip = ^flip
	}
	q, s := p[d>>6:n], uint(d)&63
	word := q[0]
	for k, next := range q[1:] {
		w[k] = (word>>s | next<<1<<(63-s)) ^ flip
		word = next
	}
	w[len(q)-1] = word>>s ^ flip
	for k := len(q); k <= n; k++ {
		w[k] = flip
	}
}

// dotTop adds the products of the numbers at a and x to the words + 1 words at acc, which are two's
// complement in units of 2^(ref - 64 words). The numbers have the given number of words and are
// stored as in num.Array. Each product is computed by topWords, and products with a zero are not
// added. No product may exceed 2^ref.
func dotTop(words int, acc []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	w, p := make([]uint64, words+1), make([]uint64, words+1)
	for i, c := range ac {
		d := ref - int64(ae[i]) - int64(xe[i])
		if c&xc[i]&2 == 0 || uint64(d) >= uint64(64*words) {
			continue
		}
		topWords(w, p, a[words*i:words*(i+1)], x[words*i:words*(i+1)], uint64(d), (c^xc[i])&1 != 0)
		addWords(acc, w)
	}
}

// axpyTop multiplies the numbers at a by the number (-1)^sign 0.x 2^scale. The product of number i
// is added to the words + 1 words from acc[(words+1) i] on, which have the reference ref[i], as in
// dotTop.
func axpyTop(words int, acc []uint64, ref []int64, a []uint64, ae []int32, ac []uint8, x []uint64, scale int64, sign uint64) {
	w, p := make([]uint64, words+1), make([]uint64, words+1)
	for i, c := range ac {
		d := ref[i] - int64(ae[i]) - scale
		if c&2 == 0 || uint64(d) >= uint64(64*words) {
			continue
		}
		topWords(w, p, a[words*i:words*(i+1)], x, uint64(d), (uint64(c)^sign)&1 != 0)
		addWords(acc[(words+1)*i:(words+1)*(i+1)], w)
	}
}

func addWords(acc, w []uint64) {
	var c uint64
	for k := range w {
		acc[k], c = bits.Add64(acc[k], w[k], c)
	}
}

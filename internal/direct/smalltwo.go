package direct

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Small products of numbers of up to 128 bits, for results of up to mostTwoBits bits, in the words
// of integers: the numbers of a row of A, or of a column of B, become integers a' of one unit, cut
// off towards 0, |a'| < 2^127. Let O = 2^127, u = a' + O and v = b' + O, which are not negative.
// Then
//
//	Σ a' b' = Σ u v - O (Σ u + Σ v) + k O²,
//
// and the products of words need no shifts and no signs. Below, W = 2^128. Of u v = u1 v1 W + (u1
// v0 + u0 v1) 2^64 + u0 v0 the sum has the product u1 v1 and the high words of u1 v0 and u0 v1. The
// parts left out are not negative, and their sum is less than 3 W. Half of the last bits of Σ u and
// of Σ v cost at most W together. The numbers cut off cost less than (2^127 + 2^127 + 1) a product,
// for k < 2^126 less than (k + 1) W in all. So the error of the sum is less than (4 k + 2) W.
type twoWords struct {
	sig  []uint64    // two words a number, vector by vector: u
	sums [][3]uint64 // of each vector: minus half of Σ u, in units of W, in two's complement
	exp  []int64     // of each vector: a' has the unit 2^(exp-127)
}

// mostTwoBits is the largest precision of results whose rounding sums of twoWords decide.
const mostTwoBits = 112

// align computes the integers of vectors of k numbers of two words. A vector of zeros is marked as
// special, because its sums have no leading bit.
func (t *twoWords) align(p *smallVectors, k int) {
	n := len(p.special)
	if cap(t.sig) < len(p.sig) {
		t.sig = make([]uint64, len(p.sig))
	}
	if cap(t.sums) < n {
		t.sums, t.exp = make([][3]uint64, n), make([]int64, n)
	}
	t.sig, t.sums, t.exp = t.sig[:len(p.sig)], t.sums[:n], t.exp[:n]
	for i := range n {
		exp, cls := p.exp[i*k:(i+1)*k], p.cls[i*k:(i+1)*k]
		top := int64(noExponent)
		for h, e := range exp {
			if num.Cls(cls[h]).Class() == num.Finite {
				top = max(top, int64(e))
			}
		}
		from, to := p.sig[2*i*k:2*(i+1)*k], t.sig[2*i*k:2*(i+1)*k]
		var s0, s1, s2, c uint64
		for h, e := range exp {
			x0, x1 := from[2*h], from[2*h+1]
			switch d := uint64(top-int64(e)) + 1; {
			case num.Cls(cls[h]).Class() != num.Finite, d >= 128:
				x0, x1 = 0, 0
			case d >= 64:
				x0, x1 = x1>>(d-64), 0
			default:
				x0, x1 = x0>>d|x1<<(64-d), x1>>d
			}
			sign := -uint64(cls[h] & 1)
			x0, c = bits.Add64(x0^sign, sign&1, 0)
			x1, _ = bits.Add64(x1^sign, 1<<63, c)
			to[2*h], to[2*h+1] = x0, x1
			s0, c = bits.Add64(s0, x0, 0)
			s1, c = bits.Add64(s1, x1, c)
			s2 += c
		}
		var m [3]uint64
		m[0], c = bits.Sub64(0, s0>>1|s1<<63, 0)
		m[1], c = bits.Sub64(0, s1>>1|s2<<63, c)
		m[2], _ = bits.Sub64(0, s2>>1, c)
		t.sums[i], t.exp[i] = m, top
		if top == noExponent {
			p.special[i] = true
		}
	}
}

// dotTwo returns Σ u v without the parts left out, in units of W.
func dotTwo(u, v []uint64) (s0, s1, s2 uint64) {
	v = v[:len(u)]
	var m, high, c uint64
	for h := 1; h < len(u); h += 2 {
		a0, a1, b0, b1 := u[h-1], u[h], v[h-1], v[h]
		p, _ := bits.Mul64(a0, b1)
		m, c = bits.Add64(m, p, 0)
		high += c
		p, _ = bits.Mul64(a1, b0)
		m, c = bits.Add64(m, p, 0)
		high += c
		hi, lo := bits.Mul64(a1, b1)
		s0, c = bits.Add64(s0, lo, 0)
		s1, c = bits.Add64(s1, hi, c)
		s2 += c
	}
	s0, c = bits.Add64(s0, m, 0)
	s1, c = bits.Add64(s1, high, c)
	return s0, s1, s2 + c
}

// sumTwo stores Σ a' b' for vector i of x and vector j of y, k numbers each, in units of 2^-64 W,
// in two's complement.
func sumTwo(sum *[4]uint64, x, y *twoWords, i, j, k int) {
	s0, s1, s2 := dotTwo(x.sig[2*i*k:2*(i+1)*k], y.sig[2*j*k:2*(j+1)*k])
	var c uint64
	square := [3]uint64{0, uint64(k) << 62, uint64(k) >> 2} // k O²
	for _, t := range [...]*[3]uint64{&x.sums[i], &y.sums[j], &square} {
		s0, c = bits.Add64(s0, t[0], 0)
		s1, c = bits.Add64(s1, t[1], c)
		s2, _ = bits.Add64(s2, t[2], c)
	}
	*sum = [4]uint64{0, s0, s1, s2}
}

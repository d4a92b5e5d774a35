package superacc

import "math/bits"

// WordVector is a vector of integers below 2^63, with which Dot multiplies rows of words.
type WordVector struct {
	x []uint64
	// Groups of four integers x = c0 + 2^21 c1 + 2^42 c2, parts below 2^21: four words c0 + 2^32 c1
	// and then four c2. Nil if no kernel supports them.
	parts []uint64
}

// wordGroups is the number of groups of four words that are multiplied before sums are added up:
// 2^9 products of 32 bits by 21 in each of four lanes are less than 2^64.
const wordGroups = 1 << 9

// NewWordVector returns a WordVector of x. It keeps x.
func NewWordVector(x []uint64) *WordVector {
	v := &WordVector{x: x}
	if !wordKernel() || len(x) < 4 {
		return v
	}
	const mask = 1<<21 - 1
	v.parts = make([]uint64, len(x)/4*8)
	for i, x := range x[:len(x)&^3] {
		group := v.parts[i/4*8:][:8]
		group[i%4], group[4+i%4] = x&mask|x>>21&mask<<32, x>>42
	}
	return v
}

// Dot returns Σ w_j x_j in three words, the least significant first. w has the length of x, at most
// 2^60.
func (v *WordVector) Dot(w []uint64) (s0, s1, s2 uint64) {
	x := v.x
	if v.parts != nil {
		for first := 0; first < len(v.parts)/8; first += wordGroups {
			groups := min(wordGroups, len(v.parts)/8-first)
			var sums [6]uint64
			wordDotFast(w[4*first:4*(first+groups)], v.parts[8*first:8*(first+groups)], &sums)
			a0, a1, a2 := wordSum(&sums)
			var c uint64
			s0, c = bits.Add64(s0, a0, 0)
			s1, c = bits.Add64(s1, a1, c)
			s2, _ = bits.Add64(s2, a2, c)
		}
		x, w = x[len(v.parts)/2:], w[len(v.parts)/2:]
	}
	w = w[:len(x)]
	for j, v := range x {
		hi, lo := bits.Mul64(v, w[j])
		var c uint64
		s0, c = bits.Add64(s0, lo, 0)
		s1, c = bits.Add64(s1, hi, c)
		s2, _ = bits.Add64(s2, 0, c)
	}
	return s0, s1, s2
}

// wordSum returns a + 2^21 b + 2^42 c + 2^32 (d + 2^21 e + 2^42 f).
func wordSum(sums *[6]uint64) (s0, s1, s2 uint64) {
	s0 = sums[0]
	for i, shift := range [...]uint{1: 21, 2: 42, 3: 32, 4: 53} {
		if i > 0 {
			var c uint64
			s0, c = bits.Add64(s0, sums[i]<<shift, 0)
			s1, c = bits.Add64(s1, sums[i]>>(64-shift), c)
			s2 += c
		}
	}
	var c uint64
	s1, c = bits.Add64(s1, sums[5]<<10, 0)
	return s0, s1, s2 + sums[5]>>54 + c
}

// wordDot stores in out[0:3] the sums of the products of the low halves of words w with the parts
// c0, c1 and c2 of integers, and in out[3:6] the same sums for the high halves.
func wordDot(w, parts []uint64, out *[6]uint64) {
	clear(out[:])
	for i, w := range w {
		group := parts[i/4*8:][:8]
		for k, c := range [...]uint64{group[i%4] & (1<<32 - 1), group[i%4] >> 32, group[4+i%4]} {
			out[k] += w & (1<<32 - 1) * c
			out[3+k] += w >> 32 * c
		}
	}
}

package direct

import (
	"math/bits"
	"unsafe"
)

// topRows sums products of numbers with the given number of words like dotTop, but without shifts
// and signs for each product. For each of the 64 shifts within a word and for both signs there is a
// row of words + 1 words. A row adds up the unchanged highest words of its products. In the end the
// rows are combined. This takes less time than dotTop.
//
// The error of a product is the same as in topWords, less than 2 words. Moving a row to its place
// adds an error of less than 1.
type topRows struct {
	words int
	rows  []uint64 // row 2 shift + sign; rows not in use are zeros
	used  [2]uint64
}

func newTopRows(words int) *topRows {
	return &topRows{words: words, rows: make([]uint64, 128*(words+1))}
}

// add adds the product of the numbers a and x, shifted right by d < 64 words. The lowest bit of
// sign is the sign of the product.
func (t *topRows) add(a, x []uint64, d uint64, sign uint8) {
	b, q := d&63<<1|uint64(sign&1), d>>6
	t.used[b>>6] |= 1 << (b & 63)
	size := uint64(t.words + 1)
	addTop(t.rows[b*size:(b+1)*size], a[q:], x[q:])
}

// dot adds products of numbers like dotTop.
func (t *topRows) dot(sum []uint64, ref int64, a []uint64, ae []int32, ac []uint8, x []uint64, xe []int32, xc []uint8) {
	n := t.words
	for i, c := range ac {
		d := ref - int64(ae[i]) - int64(xe[i])
		if c&xc[i]&2 != 0 && uint64(d) < uint64(64*n) {
			t.add(a[n*i:n*(i+1)], x[n*i:n*(i+1)], uint64(d), c^xc[i])
		}
	}
	t.fold(sum)
}

// fold adds the rows to words + 1 words in two's complement and clears them.
func (t *topRows) fold(sum []uint64) {
	size := t.words + 1
	for half := range t.used {
		for ; t.used[half] != 0; t.used[half] &= t.used[half] - 1 {
			b := 64*half + bits.TrailingZeros64(t.used[half])
			row := t.rows[b*size : (b+1)*size]
			s, flip := uint(b>>1), -uint64(b&1)
			carry := flip & 1
			for k, v := range row {
				next := uint64(0)
				if k+1 < len(row) {
					next = row[k+1]
				}
				sum[k], carry = bits.Add64(sum[k], (v>>s|next<<1<<(63-s))^flip, carry)
			}
			clear(row)
		}
	}
}

// addTop adds the n = len(a) = len(x) highest words of a product to p. The product is the sum of
// the a_i x_j with i + j ≥ n - 1, where terms with i + j = n - 1 contribute their high words only.
// p has at least one more word and room for the carry.
func addTop(p, a, x []uint64) {
	n := len(x)
	a = a[:n]
	var s0, s1, s2, c uint64
	if n == 2 { // takes half the time
		h0, _ := bits.Mul64(a[0], x[1])
		h1, _ := bits.Mul64(a[1], x[0])
		h, l := bits.Mul64(a[1], x[1])
		l, c = bits.Add64(l, h0, 0)
		h, _ = bits.Add64(h, 0, c)
		l, c = bits.Add64(l, h1, 0)
		h, _ = bits.Add64(h, 0, c)
		p[0], c = bits.Add64(p[0], l, 0)
		p[1], c = bits.Add64(p[1], h, c)
		for k := 2; c != 0; k++ {
			p[k], c = bits.Add64(p[k], 0, c)
		}
		return
	}
	if n == 4 { // takes three quarters of the time
		addTop4(p, (*[4]uint64)(a), (*[4]uint64)(x))
		return
	}
	for i, v := range a {
		h, _ := bits.Mul64(v, x[n-1-i])
		s0, c = bits.Add64(s0, h, 0)
		s1, _ = bits.Add64(s1, 0, c)
	}
	for k := range n - 1 {
		s0, c = bits.Add64(s0, p[k], 0)
		s1, c = bits.Add64(s1, 0, c)
		s2, _ = bits.Add64(s2, 0, c)
		p[k], s0, s1 = addColumn(&a[k+1], &x[k+1], n-1-k, s0, s1, s2)
		s2 = 0
	}
	p[n-1], c = bits.Add64(p[n-1], s0, 0)
	p[n], c = bits.Add64(p[n], s1, c)
	for k := n + 1; c != 0; k++ {
		p[k], c = bits.Add64(p[k], 0, c)
	}
}

// addTop4 is addTop for four words.
func addTop4(p []uint64, a, x *[4]uint64) {
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	var c, d uint64
	h, _ := bits.Mul64(a0, x3)
	l, _ := bits.Mul64(a3, x0)
	s0, s1 := bits.Add64(h, l, 0)
	h, _ = bits.Mul64(a1, x2)
	s0, c = bits.Add64(s0, h, 0)
	s1 += c
	h, _ = bits.Mul64(a2, x1)
	s0, c = bits.Add64(s0, h, 0)
	s1 += c
	// Word 0.
	h, l = bits.Mul64(a1, x3)
	s0, c = bits.Add64(s0, l, 0)
	s1, d = bits.Add64(s1, h, c)
	s2 := d
	h, l = bits.Mul64(a3, x1)
	s0, c = bits.Add64(s0, l, 0)
	s1, d = bits.Add64(s1, h, c)
	s2 += d
	h, l = bits.Mul64(a2, x2)
	s0, c = bits.Add64(s0, l, 0)
	s1, d = bits.Add64(s1, h, c)
	s2 += d
	_ = p[4]
	p[0], c = bits.Add64(p[0], s0, 0)
	s1, c = bits.Add64(s1, 0, c)
	s2 += c
	// Word 1.
	h, l = bits.Mul64(a2, x3)
	s1, c = bits.Add64(s1, l, 0)
	s2, s3 := bits.Add64(s2, h, c)
	h, l = bits.Mul64(a3, x2)
	s1, c = bits.Add64(s1, l, 0)
	s2, c = bits.Add64(s2, h, c)
	s3 += c
	p[1], c = bits.Add64(p[1], s1, 0)
	// Words 2 and 3.
	h, l = bits.Mul64(a3, x3)
	s2, d = bits.Add64(s2, l, 0)
	s3, d = bits.Add64(s3, h, d) // with the carry of word 0, the rest may need four words
	p[2], c = bits.Add64(p[2], s2, c)
	p[3], c = bits.Add64(p[3], s3, c)
	p[4], c = bits.Add64(p[4], d, c)
	for k := 5; c != 0; k++ {
		p[k], c = bits.Add64(p[k], 0, c)
	}
}

// addColumn adds n products to a number of three words. One factor runs upwards through the words
// from a on, the other downwards through the words below x + n. With slices, bounds checks would
// take a fifth more time.
func addColumn(a, x *uint64, n int, s0, s1, s2 uint64) (uint64, uint64, uint64) {
	word := func(p *uint64, k int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(p), 8*k) }
	var c uint64
	if n&1 != 0 {
		h, l := bits.Mul64(*a, *(*uint64)(word(x, n-1)))
		s0, c = bits.Add64(s0, l, 0)
		s1, c = bits.Add64(s1, h, c)
		s2, _ = bits.Add64(s2, 0, c)
	}
	for i, j := n&1, n&^1-2; j >= 0; i, j = i+2, j-2 { // by four needs too many registers
		u, v := (*[2]uint64)(word(a, i)), (*[2]uint64)(word(x, j))
		h, l := bits.Mul64(u[0], v[1])
		s0, c = bits.Add64(s0, l, 0)
		s1, c = bits.Add64(s1, h, c)
		s2, _ = bits.Add64(s2, 0, c)
		h, l = bits.Mul64(u[1], v[0])
		s0, c = bits.Add64(s0, l, 0)
		s1, c = bits.Add64(s1, h, c)
		s2, _ = bits.Add64(s2, 0, c)
	}
	return s0, s1, s2
}

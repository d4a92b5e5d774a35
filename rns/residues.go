package rns

import "math/bits"

// Loops over the residues of one number. All slices have n entries, residues are
// in [0, m_i), and the result may be an operand. The order of moduli does not
// matter, so machines may go about them in parallel.

// addMod sets z = x + y.
func (b *Base) addMod(z, x, y []uint32) {
	m := b.m
	z, x, y = z[:len(m)], x[:len(m)], y[:len(m)]
	for i, mi := range m {
		s := x[i] + y[i]
		z[i] = min(s, s-mi) // s - m wraps around if s < m
	}
}

// subMod sets z = x - y.
func (b *Base) subMod(z, x, y []uint32) {
	m := b.m
	z, x, y = z[:len(m)], x[:len(m)], y[:len(m)]
	for i, mi := range m {
		d := x[i] - y[i]
		z[i] = min(d, d+mi)
	}
}

// negMod sets z = -x.
func (b *Base) negMod(z, x []uint32) {
	m := b.m
	z, x = z[:len(m)], x[:len(m)]
	for i, mi := range m {
		d := -x[i]
		z[i] = min(d, d+mi)
	}
}

// mulMod sets z = x y.
func (b *Base) mulMod(z, x, y []uint32) {
	m, mu := b.m, b.mu[:len(b.m)]
	z, x, y = z[:len(m)], x[:len(m)], y[:len(m)]
	for i, mi := range m {
		z[i] = reduce(uint64(x[i])*uint64(y[i]), uint64(mi), mu[i])
	}
}

// mulPow2 sets z = 2^k x for k ≥ 0 within the table of powers.
func (b *Base) mulPow2(z, x []uint32, k int) {
	if k > 32 {
		b.mulMod(z, x, b.row(b.pow, k/wordBits))
		x, k = z, k%wordBits
	}
	b.shiftMod(z, x, uint(k))
}

// shiftMod sets z = 2^k x for 0 ≤ k ≤ 32.
func (b *Base) shiftMod(z, x []uint32, k uint) {
	m, mu := b.m, b.mu[:len(b.m)]
	z, x = z[:len(m)], x[:len(m)]
	if k == 0 {
		copy(z, x)
		return
	}
	for i, mi := range m {
		z[i] = reduce(uint64(x[i])<<k, uint64(mi), mu[i])
	}
}

// row returns the residues in row a of a table.
func (b *Base) row(table []uint32, a int) []uint32 { return table[a*b.n : (a+1)*b.n] }

// setUint sets z to x.
func (b *Base) setUint(z []uint32, x uint64) {
	for i := range z[:b.n] {
		z[i] = reduce(x, uint64(b.m[i]), b.mu[i])
	}
}

// setWords sets z to the number with the given words of 24 bits.
func (b *Base) setWords(z []uint32, w []uint32) {
	for i := range z[:b.n] {
		z[i] = reduce(b.residueOf(w, i), uint64(b.m[i]), b.mu[i])
	}
}

// residueOf returns Σ w_a (2^(24a) mod m_i), which is below 2^64 (see wordBits).
func (b *Base) residueOf(w []uint32, i int) uint64 {
	s, n := uint64(0), b.n
	for a, x := range w {
		s += uint64(x) * uint64(b.pow[a*n+i])
	}
	return s
}

// reduce is modulus.reduce.
func reduce(z, m, mu uint64) uint32 {
	q, _ := bits.Mul64(z, mu)
	z -= q * m
	return uint32(min(z, z-m))
}

func isZero(x []uint32) bool {
	var or uint32
	for _, v := range x {
		or |= v
	}
	return or == 0
}

// fraction returns F and carries with
//
//	(carries 2^64 + F) / 2^64 ≤ Σ |2^s x_i w_i|_{m_i} / m_i < (carries 2^64 + F + slack) / 2^64
//
// and leaves the numerators |2^s x_i w_i|_{m_i} in y. By the CRT the sum is
// X/M + rank for |2^s X|_M in place of X, so F/2^64 is X/M modulo 1 but for the
// error. A term loses less than 1/2 by the truncation of 2^96/m_i and less than 1
// by that of the product: slack = 2n.
func (b *Base) fraction(y, x []uint32, s int) (f uint64, carries int) {
	b.mulMod(y, x, b.row(b.weight, s/wordBits))
	if s %= wordBits; s != 0 {
		b.shiftMod(y, y, uint(s))
	}
	return b.sumFractions(y)
}

func (b *Base) sumFractions(y []uint32) (f uint64, carries int) {
	mu, cl := b.mu[:len(y)], b.cl[:len(y)]
	for i, v := range y {
		t := uint64(v)*mu[i] + uint64(v)*cl[i]>>32
		f += t
		if f < t {
			carries++
		}
	}
	return f, carries
}

package rns

import "math/bits"

// Loops over the residues of one number. Slices have n entries, residues are in [0, m_i), and the
// result may be an operand. The order of moduli does not matter, so they may be processed in
// parallel. The loops of this file are the reference for the loops in assembly. Assembly processes
// the first entries, in multiples of 8, where Base.setKernels allows; see kernels.go.

// addModulo sets z = x + y.
func addModulo(z, x, y, m []uint32) {
	z, x, y = z[:len(m)], x[:len(m)], y[:len(m)]
	for i, mi := range m {
		s := x[i] + y[i]
		z[i] = min(s, s-mi) // s - m wraps around if s < m
	}
}

// subModulo sets z = x - y.
func subModulo(z, x, y, m []uint32) {
	z, x, y = z[:len(m)], x[:len(m)], y[:len(m)]
	for i, mi := range m {
		d := x[i] - y[i]
		z[i] = min(d, d+mi)
	}
}

// mulModulo sets z = x y.
func mulModulo(z, x, y, m []uint32, mu []uint64) {
	z, x, y, mu = z[:len(m)], x[:len(m)], y[:len(m)], mu[:len(m)]
	for i, mi := range m {
		z[i] = reduce(uint64(x[i])*uint64(y[i]), uint64(mi), mu[i])
	}
}

// reduce is modulus.reduce.
func reduce(z, m, mu uint64) uint32 {
	q, _ := bits.Mul64(z, mu)
	z -= q * m
	return uint32(min(z, z-m))
}

// sumFractions returns Σ (y_i mu_i + ⌊y_i cl_i / 2^32⌋) as sum + carries 2^64.
func sumFractions(y []uint32, mu, cl []uint64) (sum uint64, carries int) {
	mu, cl = mu[:len(y)], cl[:len(y)]
	for i, v := range y {
		t := uint64(v)*mu[i] + uint64(v)*cl[i]>>32
		sum += t
		if sum < t {
			carries++
		}
	}
	return sum, carries
}

// dotRows sets sums[a] = Σ_i y_i t_ai for the rows t_a of the table, stride apart.
func dotRows(sums []uint64, y, table []uint32, stride int) {
	for a := range sums {
		sum, row := uint64(0), table[a*stride:][:len(y)]
		for i, v := range y {
			sum += uint64(v) * uint64(row[i])
		}
		sums[a] = sum
	}
}

// sumRows sets z_i = Σ_a words[a] t_ai for the rows t_a of the table, stride apart. The
// sums stay below 2^64, see Base.wordBits.
func sumRows(z, words, table []uint32, stride int, m []uint32, mu []uint64) {
	for i, mi := range m {
		sum := uint64(0)
		for a, v := range words {
			sum += uint64(v) * uint64(table[a*stride+i])
		}
		z[i] = reduce(sum, uint64(mi), mu[i])
	}
}

func isZero(x []uint32) bool {
	var or uint32
	for _, v := range x {
		or |= v
	}
	return or == 0
}

// negMod sets z = -x.
func (b *Base) negMod(z, x []uint32) {
	for i, mi := range b.m {
		d := -x[i]
		z[i] = min(d, d+mi)
	}
}

// mulPow2 sets z = 2^k x for k ≥ 0 within the table of powers.
func (b *Base) mulPow2(z, x []uint32, k int) {
	b.mulRows(z, x, b.pow, b.powLo, k)
}

// mulRows sets z = x hi_a lo_b with k = h a + b, for tables of powers of 2^h and 2, or
// of their inverses.
func (b *Base) mulRows(z, x, hi, lo []uint32, k int) {
	if h := b.wordBits; k >= h {
		b.mulMod(z, x, b.row(hi, k/h))
		x, k = z, k%h
	}
	switch {
	case k != 0:
		b.mulMod(z, x, b.row(lo, k))
	case &z[0] != &x[0]:
		copy(z, x)
	}
}

// row returns the residues in row a of a table.
func (b *Base) row(table []uint32, a int) []uint32 { return table[a*b.n : (a+1)*b.n] }

// setUint sets z to x.
func (b *Base) setUint(z []uint32, x uint64) {
	for i, m := range b.m {
		z[i] = reduce(x, uint64(m), b.mu[i])
	}
}

// setWords sets z to the number with the given words.
func (b *Base) setWords(z, words []uint32) { b.sumRows(z, words) }

// fraction returns F and carries that satisfy
//
//	(carries 2^64 + F) / 2^64 ≤ Σ |2^s x_i w_i|_{m_i} / m_i < (carries 2^64 + F + slack) / 2^64
//
// and leaves the numerators |2^s x_i w_i|_{m_i} in y. By the CRT the sum is X/M + rank for |2^s
// X|_M in place of X, so F/2^64 is X/M modulo 1 up to the error. A term loses less than 1/2 by the
// truncation of 2^96/m_i and less than 1 by the truncation of the product: slack = 2n.
func (b *Base) fraction(y, x []uint32, s int) (f uint64, carries int) {
	b.mulMod(y, x, b.row(b.weight, s/b.wordBits))
	if s %= b.wordBits; s != 0 {
		b.mulMod(y, y, b.row(b.powLo, s))
	}
	return b.sumFractions(y)
}

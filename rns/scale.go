package rns

// scratch is the memory that the operations of one goroutine need beside their operands: slices of
// n residues each, and words.
type scratch struct {
	y                []uint32 // numerators of fractions
	t, u, p, q, r, s []uint32
	words            []uint32
	sums             []uint64
}

func (b *Base) newScratch() *scratch {
	buf := make([]uint32, 7*b.n+b.rows())
	part := func() []uint32 {
		p := buf[:b.n:b.n]
		buf = buf[b.n:]
		return p
	}
	return &scratch{part(), part(), part(), part(), part(), part(), part(), buf, make([]uint64, b.rows())}
}

func (b *Base) getScratch() *scratch  { return b.scratches.Get().(*scratch) }
func (b *Base) putScratch(w *scratch) { b.scratches.Put(w) }

// scaleDown sets z to ⌊X/2^k + 1/2⌋ for X/M < 1 - slack/2^64, k ≥ 1.
//
// X mod 2^k comes from the CRT, X = Σ y_i M/m_i - rank M with the positional digits of the
// constants. The quotient comes from multiplication by 2^-k, residue by residue. The rank is exact:
// the fraction F of the sum is at most slack below the exact value, so F ≥ 2^64 - slack means that
// the sum passed an integer, as X/M itself is smaller.
func (b *Base) scaleDown(z, x []uint32, k int, w *scratch) {
	if k > b.bigM.BitLen() { // X/2^k < 1/2
		clear(z)
		return
	}
	f, rank := b.fraction(w.y, x, 0)
	if f >= -b.slack {
		rank++
	}
	h := b.wordBits
	n := (k + h - 1) / h
	if b.even.index >= 0 {
		n = (k + int(b.even.a) + h - 1) / h
	}
	digits := w.words[:n]
	b.lowWords(digits, w.y, rank, w)

	var even uint32
	if b.even.index >= 0 {
		even = b.even.quotient(digits, x[b.even.index], k, h)
	}
	n = (k + h - 1) / h
	digits = digits[:n]
	top := k - (n-1)*h // 1 to h bits of the last word
	digits[n-1] &= 1<<top - 1
	up := digits[n-1] >> (top - 1)

	// (x - X mod 2^k) 2^-k + up
	b.sumRows(w.y, digits)
	b.subMod(z, x, w.y)
	b.mulRows(z, z, b.invHi, b.invLo, k)
	if up != 0 {
		b.addMod(z, z, b.row(b.pow, 0))
	}
	if b.even.index >= 0 {
		p := b.modulus(b.even.index)
		z[b.even.index] = uint32(p.reduce(uint64(even) + uint64(up)))
	}
}

// lowWords sets words to the low words of Σ y_i M/m_i - rank M.
func (b *Base) lowWords(words, y []uint32, rank int, w *scratch) {
	sums := w.sums[:len(words)]
	b.dotRows(sums, y, b.low)
	carry := uint64(0)
	for a, s := range sums {
		carry += s + uint64(rank)*uint64(b.negM[a])
		words[a] = uint32(carry & (1<<b.wordBits - 1))
		carry >>= b.wordBits
	}
}

// quotient returns ⌊X/2^k⌋ modulo 2^a q from the low words of X, of h bits, at least
// k + a bits of them, and X mod 2^a q.
func (e *evenModulus) quotient(words []uint32, x uint32, k, h int) uint32 {
	// Modulo 2^a: bits k to k + a - 1 of X.
	var high uint64
	for a := len(words) - 1; a >= k/h; a-- {
		high = high<<h | uint64(words[a])
	}
	high = high >> (k % h) & (1<<e.a - 1)
	// Modulo q: (X - X mod 2^k) 2^-k by Horner's rule.
	q := e.q
	var r uint64
	n := (k + h - 1) / h
	for a := n - 1; a >= 0; a-- {
		v := uint64(words[a])
		if a == n-1 {
			v &= 1<<(k-a*h) - 1
		}
		r = q.reduce(r<<h + v)
	}
	r = q.reduce(uint64(x) + q.m - r)
	for range k {
		r = q.mul(r, e.inv2)
	}
	p := newModulus(q.m << e.a)
	return uint32(p.reduce(p.mul(high, e.two) + p.mul(r, e.od)))
}

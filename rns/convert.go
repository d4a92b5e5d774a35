package rns

import "math/big"

// Residues returns the residues of X. It panics unless 0 ≤ X < M.
func (b *Base) Residues(x *big.Int) []uint32 {
	if x.Sign() < 0 || x.Cmp(b.bigM) >= 0 {
		panic(errRange)
	}
	z := make([]uint32, b.n)
	b.setWords(z, b.words(x))
	return z
}

const errRange = "rns: integer outside the dynamic range"

// CRT returns the X in [0, M) with the residues x, X = Σ |x_i w_i| M/m_i - rank M.
func (b *Base) CRT(x []uint32) *big.Int {
	r := b.Rank(x)
	y := make([]uint32, b.n)
	b.mulMod(y, x, b.row(b.weight, 0))
	z, t := new(big.Int), new(big.Int)
	for i, v := range y {
		z.Add(z, t.Mul(b.cofactor[i], big.NewInt(int64(v))))
	}
	return z.Sub(z, t.Mul(b.bigM, big.NewInt(int64(r))))
}

// MixedRadix returns the mixed-radix digits of the X with the residues x,
//
//	X = d₁ + d₂ m₁ + d₃ m₁ m₂ + … + dₙ m₁ … mₙ₋₁,  0 ≤ d_i < m_i,
//
// by Garner's algorithm. Digits compare like the numbers, from the last one on.
func (b *Base) MixedRadix(x []uint32) []uint32 {
	b.check(x)
	d := make([]uint32, b.n)
	for i := range d {
		p := b.modulus(i)
		v := uint64(x[i])
		for j := range i {
			v = p.mul(v+p.m-p.reduce(uint64(d[j])), uint64(b.garner[i*b.n+j]))
		}
		d[i] = uint32(v)
	}
	return d
}

// FromMixedRadix returns the residues of the number with the mixed-radix digits d.
func (b *Base) FromMixedRadix(d []uint32) []uint32 {
	b.check(d)
	z := make([]uint32, b.n)
	for i := range z {
		p, v := b.modulus(i), uint64(0)
		for j := b.n - 1; j >= 0; j-- { // Horner's rule
			v = p.reduce(v*p.reduce(uint64(b.m[j])) + uint64(d[j]))
		}
		z[i] = uint32(v)
	}
	return z
}

// Compare returns -1, 0 or 1 as X < Y, X = Y or X > Y for the numbers with the residues x and y.
// Interval evaluations decide; where they overlap, mixed-radix digits do.
func (b *Base) Compare(x, y []uint32) int {
	u, v := b.Evaluate(x), b.Evaluate(y)
	switch {
	case u.Up.less(v.Lo):
		return -1
	case v.Up.less(u.Lo):
		return 1
	}
	c, d := b.MixedRadix(x), b.MixedRadix(y)
	for i := b.n - 1; i >= 0; i-- {
		switch {
		case c[i] < d[i]:
			return -1
		case c[i] > d[i]:
			return 1
		}
	}
	return 0
}

// ScaleDown returns the residues of ⌊X/2^k + 1/2⌋ for residues x of any 0 ≤ X < M
// and k ≥ 0.
func (b *Base) ScaleDown(x []uint32, k int) []uint32 {
	b.check(x)
	z := append([]uint32(nil), x...)
	switch {
	case k < 0:
		panic(errScale)
	case k == 0:
		return z
	case k > b.bigM.BitLen():
		clear(z)
		return z
	}
	if e := b.Evaluate(x); e.Up.Cmp(b.sumLim) <= 0 {
		b.scaleDown(z, x, k, b.newScratch())
		return z
	}
	// scaleDown requires X/M not to be close to 1.
	v := b.CRT(x)
	v.Add(v, new(big.Int).Lsh(big.NewInt(1), uint(k-1)))
	return b.Residues(v.Rsh(v, uint(k)))
}

const errScale = "rns: negative power of two"

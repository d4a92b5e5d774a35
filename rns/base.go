package rns

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"sync"
)

// maxWordBits bounds the words of positional numbers.
const maxWordBits = 31

// tablePad is the number of entries that assembly may read beyond the last row of a table.
const tablePad = 1

// MaxModuli is the largest number of moduli of a base. The dynamic range M must be at least
// 2^minRange = 2^16.
const (
	MaxModuli = 1024
	minRange  = 16
)

// ErrModuli is wrapped by the errors of NewBase, and by the errors of devices that do not support a
// base.
var ErrModuli = errors.New("rns: invalid moduli")

// Base is a base of a residue number system: pairwise coprime moduli m₁ … mₙ with
// the product M, the dynamic range. It holds the constants that arithmetic needs
// and is immutable, hence safe for use by several goroutines.
type Base struct {
	n  int
	m  []uint32 // moduli
	mu []uint64 // ⌊2^64 / m_i⌋: Barrett reduction, and high part of 1/m_i
	cl []uint64 // ⌊2^96 / m_i⌋ mod 2^32: low part of 1/m_i

	// wordBits = h is the number of bits of the words of positional numbers. A residue
	// times a word, summed over all moduli, is below 2^63, and over all rows below 2^64.
	wordBits int

	// Tables by rows of n residues; row a is for 2^(h a), or 2^(-h a).
	pow    []uint32 // 2^(h a) mod m_i
	weight []uint32 // w_i 2^(h a) mod m_i with w_i = (M/m_i)^-1 mod m_i
	powLo  []uint32 // 2^b mod m_i, 0 ≤ b < h
	invHi  []uint32 // 2^(-h a) mod m_i; 0 for an even modulus
	invLo  []uint32 // 2^-b mod m_i, 0 ≤ b < h

	// Positional constants by words, least significant first.
	low  []uint32 // row w: word w of M/m_i
	negM []uint32 // words of -M modulo 2^(h words)

	garner []uint32 // row i: m_j^-1 mod m_i for j < i

	even evenModulus

	bigM     *big.Int
	cofactor []*big.Int // M/m_i
	prec     int

	evaluation

	kernels   kernelConstants
	scratches sync.Pool
	places    sync.Map // from place.Place to place.RNSBase
}

// evenModulus describes the one modulus 2^a q, q odd, that may be even.
type evenModulus struct {
	index   int // or -1
	a       uint
	q       modulus
	inv2    uint64 // 2^-1 mod q
	two, od uint64 // idempotents: 1 mod 2^a and 0 mod q, and the converse
}

// evaluation holds the bounds of package rns (see doc.go) in units of M.
type evaluation struct {
	slack      uint64   // the error of a fraction is in [0, slack) units of 2^-64
	mLo, mUp   XFloat   // M
	iLo, iUp   XFloat   // 1/M
	half       XFloat   // 1/(2M), rounded up
	lim        XFloat   // S/M: a significand above is rounded
	target     XFloat   // rounding scales below this
	sumLim     XFloat   // alignment scales up to this, 15/16
	u          XFloat   // 4/√M, rounded up
	limInt     *big.Int // S
	maxSigBits int      // bits of S
}

// modulus is a modulus with its Barrett constant.
type modulus struct {
	m, mu uint64
}

func newModulus(m uint64) modulus {
	if m == 1 {
		return modulus{1, 0}
	}
	mu, _ := bits.Div64(1, 0, m)
	return modulus{m, mu}
}

// reduce returns z mod m for every z < 2^64. With q = ⌊z mu / 2^64⌋, the truncation of mu and the
// truncation of q each take less than 1 off z/m, so 0 ≤ z - q m < 2m.
func (p modulus) reduce(z uint64) uint64 {
	if p.m == 1 {
		return 0
	}
	q, _ := bits.Mul64(z, p.mu)
	z -= q * p.m
	if z >= p.m {
		z -= p.m
	}
	return z
}

func (p modulus) mul(a, b uint64) uint64 { return p.reduce(a * b) }

// inverse returns a^-1 mod m by the extended Euclidean algorithm, or 0 if a has no inverse.
func (p modulus) inverse(a uint64) uint64 {
	r0, r1 := int64(p.m), int64(p.reduce(a))
	t0, t1 := int64(0), int64(1)
	for r1 != 0 {
		q := r0 / r1
		r0, r1 = r1, r0-q*r1
		t0, t1 = t1, t0-q*t1
	}
	if r0 != 1 {
		return 0
	}
	if t0 < 0 {
		t0 += int64(p.m)
	}
	return uint64(t0)
}

// NewBase returns the base with the given moduli, in that order. They must be pairwise coprime,
// from 2 to 2^31 - 1, at most MaxModuli, with a product M of at least 2^16. Errors wrap ErrModuli.
// One modulus may be even; odd moduli are faster.
func NewBase(moduli []uint32) (*Base, error) {
	n := len(moduli)
	if n == 0 || n > MaxModuli {
		return nil, fmt.Errorf("%w: %d of them, want 1 to %d", ErrModuli, n, MaxModuli)
	}
	for i, m := range moduli {
		if m < 2 || m >= 1<<31 {
			return nil, fmt.Errorf("%w: %d is not in [2, 2^31)", ErrModuli, m)
		}
		for _, k := range moduli[:i] {
			if gcd(m, k) != 1 {
				return nil, fmt.Errorf("%w: %d and %d are not coprime", ErrModuli, k, m)
			}
		}
	}
	b := &Base{n: n, m: append([]uint32(nil), moduli...), bigM: big.NewInt(1)}
	for _, m := range moduli {
		b.bigM.Mul(b.bigM, big.NewInt(int64(m)))
	}
	if b.bigM.BitLen() <= minRange {
		return nil, fmt.Errorf("%w: their product %v is below 2^%d", ErrModuli, b.bigM, minRange)
	}
	// floor(log2 sqrt M) = floor(floor(log2 M) / 2)
	b.prec = (b.bigM.BitLen()-1)/2 - 1
	b.wordBits = min(63-b.width()-bits.Len(uint(n-1)), maxWordBits)
	b.setReciprocals()
	b.setPowers()
	b.setPositional()
	b.setGarner()
	b.setEven()
	b.setEvaluation()
	b.setKernels()
	b.scratches.New = func() any { return b.newScratch() }
	return b, nil
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Len returns the number n of moduli.
func (b *Base) Len() int { return b.n }

// Moduli returns a copy of the moduli.
func (b *Base) Moduli() []uint32 { return append([]uint32(nil), b.m...) }

// Range returns the dynamic range M, the product of the moduli.
func (b *Base) Range() *big.Int { return new(big.Int).Set(b.bigM) }

// Precision returns p = ⌊log₂ √M⌋ - 1 bits, the papers' precision of arithmetic.
func (b *Base) Precision() int { return b.prec }

// UnitRoundoff returns u = 4/√M, the papers' bound on relative errors, rounded up.
func (b *Base) UnitRoundoff() XFloat { return b.u }

func (b *Base) modulus(i int) modulus { return modulus{uint64(b.m[i]), b.mu[i]} }

// width returns the bits of the largest modulus.
func (b *Base) width() int { return bits.Len32(slices.Max(b.m)) }

// rows is the number of rows of the tables of powers: 2^(h rows) exceeds M by the bits that the one
// even modulus needs.
func (b *Base) rows() int { return (b.bigM.BitLen()+31)/b.wordBits + 2 }

func (b *Base) setReciprocals() {
	b.mu, b.cl = make([]uint64, b.n), make([]uint64, b.n)
	for i, m := range b.m {
		mu, r := bits.Div64(1, 0, uint64(m)) // r = 2^64 mod m
		b.mu[i], b.cl[i] = mu, r<<32/uint64(m)
	}
}

func (b *Base) setPowers() {
	rows := b.rows()
	b.cofactor = make([]*big.Int, b.n)
	table := func(rows int) []uint32 { return make([]uint32, rows*b.n+tablePad) }
	b.pow, b.weight, b.invHi = table(rows), table(rows), table(rows)
	b.powLo, b.invLo = table(b.wordBits), table(b.wordBits)
	for i, m := range b.m {
		bm := big.NewInt(int64(m))
		b.cofactor[i] = new(big.Int).Quo(b.bigM, bm)
		p := b.modulus(i)
		w := p.inverse(new(big.Int).Mod(b.cofactor[i], bm).Uint64())
		two, half := p.reduce(2), p.inverse(2) // half = 0 if m is even
		step, stepInv := uint64(1), uint64(1)
		for k := range b.wordBits {
			b.powLo[k*b.n+i], b.invLo[k*b.n+i] = uint32(step), uint32(stepInv)
			step, stepInv = p.mul(step, two), p.mul(stepInv, half)
		}
		pow, inv := uint64(1), uint64(1)
		for a := range rows {
			b.pow[a*b.n+i], b.weight[a*b.n+i], b.invHi[a*b.n+i] = uint32(pow), uint32(w), uint32(inv)
			pow, w, inv = p.mul(pow, step), p.mul(w, step), p.mul(inv, stepInv)
		}
	}
}

func (b *Base) setPositional() {
	rows := b.rows()
	b.low = make([]uint32, rows*b.n+tablePad)
	for i, c := range b.cofactor {
		for w, x := range b.words(c) {
			b.low[w*b.n+i] = x
		}
	}
	two := new(big.Int).Lsh(big.NewInt(1), uint(rows*b.wordBits))
	b.negM = b.words(two.Sub(two, b.bigM))
}

// words returns the words of x, 0 ≤ x < 2^(h rows), up to the last nonzero word, but at least one.
func (b *Base) words(x *big.Int) []uint32 {
	h := b.wordBits
	w, digits := make([]uint32, max((x.BitLen()+h-1)/h, 1)), x.Bits()
	for i := range w {
		k, s := i*h/bits.UintSize, i*h%bits.UintSize
		if k < len(digits) {
			w[i] = uint32(digits[k] >> s)
		}
		if k+1 < len(digits) { // a shift by the length of a word or more gives 0
			w[i] |= uint32(digits[k+1] << (bits.UintSize - s))
		}
		w[i] &= 1<<h - 1
	}
	return w
}

func (b *Base) setGarner() {
	b.garner = make([]uint32, b.n*b.n)
	for i := range b.n {
		for j := range i {
			b.garner[i*b.n+j] = uint32(b.modulus(i).inverse(uint64(b.m[j])))
		}
	}
}

func (b *Base) setEven() {
	b.even.index = -1
	for i, m := range b.m {
		if m%2 != 0 {
			continue
		}
		e := &b.even
		e.index, e.a = i, uint(bits.TrailingZeros32(m))
		e.q = newModulus(uint64(m >> e.a))
		pa, p := newModulus(1<<e.a), b.modulus(i)
		e.inv2 = e.q.inverse(2)
		e.two = p.mul(e.q.m, pa.inverse(e.q.m))
		e.od = p.mul(pa.m, e.q.inverse(pa.m))
	}
}

func (b *Base) setEvaluation() {
	const prec = 128
	m := new(big.Float).SetInt(b.bigM)
	down := func() *big.Float {
		return new(big.Float).SetPrec(uint(max(prec, b.bigM.BitLen()))).SetMode(big.ToZero)
	}
	up := func() *big.Float {
		return new(big.Float).SetPrec(uint(max(prec, b.bigM.BitLen()))).SetMode(big.AwayFromZero)
	}
	e := &b.evaluation
	e.slack = 2 * uint64(b.n)
	e.mLo, e.mUp = roundBig(m, false), roundBig(m, true)
	one := big.NewFloat(1)
	e.iLo, e.iUp = roundBig(down().Quo(one, m), false), roundBig(up().Quo(one, m), true)
	e.half = e.iUp.Scale(-1)

	// S = ⌊√M⌋ - ⌊⌊√M⌋ / 2^16⌋ - 2
	s := new(big.Int).Sqrt(b.bigM)
	s.Sub(s, new(big.Int).Rsh(s, 16)).Sub(s, big.NewInt(2))
	e.lim = roundBig(down().Quo(new(big.Float).SetInt(s), m), false)
	t := new(big.Int).Sub(s, new(big.Int).Rsh(s, 20))
	t.Sub(t, big.NewInt(2))
	e.target = roundBig(down().Quo(new(big.Float).SetInt(t), m), false)
	e.limInt = s
	e.maxSigBits = s.BitLen()
	e.sumLim = XFloat{15.0 / 8, -1}
	root := new(big.Int).Lsh(b.bigM, 2*96)
	root.Sqrt(root)
	e.u = roundBig(up().Quo(new(big.Float).SetMantExp(big.NewFloat(4), 96), new(big.Float).SetInt(root)), true)
}

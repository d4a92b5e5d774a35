package rns

import (
	"math/big"
)

// Interval encloses a relative value: Lo ≤ X/M ≤ Up, the interval evaluation
// I(X/M) of the papers.
type Interval struct {
	Lo, Up XFloat
}

// Contains reports whether Lo ≤ x ≤ Up.
func (v Interval) Contains(x *big.Float) bool {
	return v.Lo.Big().Cmp(x) <= 0 && (v.Up.isInf() || x.Cmp(v.Up.Big()) <= 0)
}

// tooWide reports whether Up - Lo > 2^-20 Lo, or nearly so.
func (v Interval) tooWide() bool {
	const width = hiddenBit >> 20
	switch int64(v.Up.I) - int64(v.Lo.I) {
	case 0:
		return v.Up.mant()-v.Lo.mant() > width
	case 1:
		return v.Up.mant()<<1-v.Lo.mant() > width
	}
	return true
}

// scale returns 2^k times v.
func (v Interval) scale(k int) Interval { return Interval{v.Lo.Scale(k), v.Up.Scale(k)} }

// evaluate returns an evaluation of X that is not too wide, for 0 < X/M ≤ up, where X/M < 1 - 2
// slack/2^64. It computes it from the fraction of 2^s X with 2^s up ≤ 1/2. Where up was much too
// large, the fraction is small; it then gives a better up, and s grows.
func (b *Base) evaluate(x []uint32, up XFloat, w *scratch) Interval {
	for {
		s := max(0, -int(up.I)-2)
		f, _ := b.fraction(w.y, x, s)
		switch {
		case f >= -b.slack: // wrapped around: 2^s X/M is below slack/2^64
			up = fixed(b.slack, s, true)
		case f >= b.slack<<40:
			return Interval{fixed(f, s, false), fixed(f+b.slack, s, true)}
		default:
			up = fixed(f+b.slack, s, true)
		}
	}
}

// fixed returns f 2^(-64-s).
func fixed(f uint64, s int, up bool) XFloat { return roundX(f, -64-int64(s), up) }

// sign returns the sign of D, not zero, that the residues d represent modulo M, for |D|/M ≤ up.
// Like evaluate it scales D up until the distance of the fraction, taken as a number in [-1/2,
// 1/2), from zero exceeds its error.
func (b *Base) sign(d []uint32, up XFloat, w *scratch) int {
	for {
		s := max(0, -int(up.I)-3)
		f, _ := b.fraction(w.y, d, s)
		switch {
		case int64(f) >= 0:
			return 1
		case f < -b.slack:
			return -1
		}
		up = fixed(b.slack, s, true)
	}
}

// Rank returns the rank of X, the integer r with X = Σ |x_i w_i| M/m_i - r M, for
// residues x in [0, m_i) of any 0 ≤ X < M. It is exact: where the sum of fractions is
// too close to an integer, the leading mixed-radix digit decides.
func (b *Base) Rank(x []uint32) int {
	_, rank, nearZero := b.rank(x)
	if nearZero {
		rank++
	}
	return rank
}

// rank returns the fraction and carries for X, and whether the fraction has wrapped around, in
// which case carries is one less than the rank.
func (b *Base) rank(x []uint32) (f uint64, carries int, nearZero bool) {
	b.check(x)
	f, carries = b.fraction(make([]uint32, b.n), x, 0)
	if f >= -b.slack { // X/M is next to 0 or to 1
		d := b.MixedRadix(x)
		nearZero = d[b.n-1] <= b.m[b.n-1]/2
	}
	return f, carries, nearZero
}

// Evaluate returns an interval evaluation of X for residues x in [0, m_i) of any
// 0 ≤ X < M, with Up/Lo - 1 ≤ 2^-39; [0, 0] for 0.
func (b *Base) Evaluate(x []uint32) Interval {
	f, _, nearZero := b.rank(x)
	switch {
	case isZero(x):
		return Interval{}
	case nearZero:
		return b.evaluate(x, fixed(b.slack, 0, true), b.newScratch())
	case f >= -(2 * b.slack):
		return Interval{fixed(f, 0, false), XFloat{1, 0}.SubUp(b.iLo)} // X ≤ M - 1
	}
	return b.evaluate(x, fixed(f+b.slack, 0, true), b.newScratch())
}

// check panics unless x are residues of b.
func (b *Base) check(x []uint32) {
	if len(x) != b.n {
		panic(errResidues)
	}
	for i, m := range b.m {
		if x[i] >= m {
			panic(errResidues)
		}
	}
}

const errResidues = "rns: not residues of this base"

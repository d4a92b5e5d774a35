package decimal

import "math/big"

// power encloses a power of ten: sig 2^exp <= 10^q <= (sig + err) 2^exp. sig has a fixed number of
// words and its top bit set. err = 0 means that it is exact.
type power struct {
	sig []uint64
	exp int64
	err uint64
}

// maxPower bounds |q|, so that err stays below 2^38: every number of every format lies between
// 10^±(2^30), and texts have fewer than 2^34 digits.
const maxPower = 1 << 35

// newPower returns 10^q with words words, |q| <= maxPower.
//
// It squares and multiplies, with products truncated to n = 64 words bits. If x̂ = x (1 - δ) and
// ŷ = y (1 - ε), the truncated product has a relative error of at most δ + ε + u, u = 2^(1-n). By
// induction 5^k has an error of (2k - 1) u if the base has an error of u, which is less than 4k
// units of the last place.
func newPower(q int64, words int) power {
	n := 64 * words
	k := q
	base, baseExp := big.NewInt(5), int64(0)
	exact := true
	if q < 0 {
		k = -q
		base.Lsh(big.NewInt(1), uint(n)+2)
		base.Quo(base, big.NewInt(5)) // n bits
		baseExp = -int64(n) - 2
		exact = false
	}
	x, e := big.NewInt(1), int64(0)
	cut := func() {
		if over := x.BitLen() - n; over > 0 {
			if exact && x.TrailingZeroBits() < uint(over) {
				exact = false
			}
			x.Rsh(x, uint(over))
			e += int64(over)
		}
	}
	t := new(big.Int)
	for i := 63; i >= 0; i-- {
		if x.BitLen() > 1 || e != 0 {
			t.Mul(x, x)
			x, t = t, x
			e *= 2
			cut()
		}
		if k>>uint(i)&1 != 0 {
			t.Mul(x, base)
			x, t = t, x
			e += baseExp
			cut()
		}
	}
	if s := n - x.BitLen(); s > 0 {
		x.Lsh(x, uint(s))
		e -= int64(s)
	}
	p := power{sig: make([]uint64, words), exp: e + q}
	fromBig(p.sig, x)
	if !exact {
		p.err = 4 * uint64(k)
	}
	return p
}

// maxCached bounds the words that a table of powers keeps.
const maxCached = 1 << 18

// powers keeps powers of ten of one length.
type powers struct {
	words int
	kept  map[int64]power
	lastQ int64
	last  power
}

func newPowers(words int) powers {
	return powers{words: words, kept: map[int64]power{}}
}

// get returns 10^q.
func (t *powers) get(q int64) *power {
	if t.lastQ == q && t.last.sig != nil {
		return &t.last
	}
	p, ok := t.kept[q]
	if !ok {
		p = newPower(q, t.words)
		if len(t.kept) >= max(1, maxCached/t.words) {
			clear(t.kept)
		}
		t.kept[q] = p
	}
	t.lastQ, t.last = q, p
	return &t.last
}

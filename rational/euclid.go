package rational

import (
	"math/big"
	"math/bits"
)

// euclid is Euclid's algorithm for two numbers r. The numbers at the beginning are
//
//	p[1] r[0] + p[0] r[1] and q[1] r[0] + q[0] r[1],
//
// where q may be nil, if it is not needed.
type euclid struct {
	r, p, q *[2]*big.Int
	x, y    *big.Int
	word    [2]*big.Int
	most    *int // bits of the largest quotient
	// p[1] and q[1] before the largest quotient; nil if it was not in these steps
	largest *[2]*big.Int
}

func newEuclid(r0, r1 *big.Int, most *int) *euclid {
	return &euclid{
		r: &[2]*big.Int{r0, r1}, p: &[2]*big.Int{big.NewInt(0), big.NewInt(1)}, q: &[2]*big.Int{big.NewInt(1), big.NewInt(0)},
		x: new(big.Int), y: new(big.Int), word: [2]*big.Int{new(big.Int), new(big.Int)}, most: most,
	}
}

// halvedBits is the number of bits from which numbers are halved recursively. It pays from 16 times
// as many bits on: see BenchmarkThresholds.
var halvedBits = 6400

// denominator returns the denominator of the fraction that x probably is modulo q, nil if there is
// none: the cofactor before the largest quotient of Euclid's algorithm (Monagan, Maximal quotient
// rational reconstruction, 2004). Steps with small quotients are taken together: about 32 bits at a
// time (Lehmer), or half of the bits at a time (Schönhage; Möller, On Schönhage's algorithm and
// subquadratic integer gcd computation, 2008).
func denominator(x, q *big.Int) (d *big.Int) {
	most := accident // at first of a quotient that occurs by accident
	e := newEuclid(new(big.Int).Set(q), new(big.Int).Mod(x, q), &most)
	e.q = nil
	for e.r[1].Sign() != 0 && e.r[0].BitLen() > most { // else no larger quotient follows
		if e.r[0].BitLen() >= 16*halvedBits {
			e.halve(e.r[0].BitLen()/2 + 2)
		} else if e.several() {
			continue
		}
		if e.r[1].Sign() != 0 {
			e.step(0)
		}
	}
	if e.largest == nil {
		return nil
	}
	return e.largest[0]
}

// step takes one step, unless the next remainder, or its difference from the last one, has less
// than the given bits.
func (e *euclid) step(least int) bool {
	quotient, rest := new(big.Int).QuoRem(e.r[0], e.r[1], new(big.Int))
	if rest.BitLen() < least || e.y.Sub(e.r[1], rest).BitLen() < least {
		return false
	}
	if b := quotient.BitLen(); b > *e.most {
		*e.most, e.largest = b, &[2]*big.Int{new(big.Int).Set(e.p[1])}
		if e.q != nil {
			e.largest[1] = new(big.Int).Set(e.q[1])
		}
	}
	e.r[0], e.r[1] = e.r[1], rest
	for _, t := range []*[2]*big.Int{e.p, e.q} {
		if t == nil {
			continue
		}
		t[0].Add(t[0], e.y.Mul(quotient, t[1]))
		t[0], t[1] = t[1], t[0]
	}
	return true
}

// halve takes steps to remainders of at least the given bits, more than half of the bits at the
// beginning.
func (e *euclid) halve(least int) {
	if e.r[0].BitLen() >= halvedBits {
		e.byLeading(e.r[0].BitLen() / 2)
		if e.r[1].BitLen() < least || !e.step(least) {
			return
		}
		e.byLeading(2*least - e.r[0].BitLen())
	}
	for e.r[1].BitLen() >= least {
		if e.r[1].BitLen() > least+64 && e.several() {
			continue
		}
		if !e.step(least) {
			return
		}
	}
}

// byLeading takes the steps of the numbers without their low bits, by halve. Their factors p and q
// are shorter than the remainders and than the difference of these, so the steps are right for all
// numbers with these leading bits (Jebelean, A double-digit Lehmer-Euclid algorithm for finding the
// GCD of long integers, 1995). It takes none if the difference is short, which is an accident.
func (e *euclid) byLeading(low int) {
	if low <= 0 || e.r[0].BitLen() < low+64 || e.r[1].BitLen() <= low {
		return
	}
	most := *e.most
	h := newEuclid(new(big.Int).Rsh(e.r[0], uint(low)), new(big.Int).Rsh(e.r[1], uint(low)), &most)
	least := h.r[0].BitLen()/2 + 2
	if h.r[1].BitLen() < least {
		return
	}
	if h.halve(least); e.x.Sub(h.r[0], h.r[1]).BitLen() < least {
		return
	}
	*e.most = most
	if h.largest != nil {
		e.largest = &[2]*big.Int{e.combined(e.p, h.largest), e.combined(e.q, h.largest)}
	}
	// The determinant of p and q is 1 or -1: r is the inverse matrix times the old r, and positive.
	r0 := new(big.Int).Mul(h.q[0], e.r[0])
	r0.Sub(r0, e.x.Mul(h.p[0], e.r[1]))
	r1 := new(big.Int).Mul(h.p[1], e.r[1])
	r1.Sub(r1, e.x.Mul(h.q[1], e.r[0]))
	e.r = &[2]*big.Int{r0.Abs(r0), r1.Abs(r1)}
	for _, t := range []*[2]*big.Int{e.p, e.q} {
		if t != nil {
			t[0], t[1] = e.combined(t, &[2]*big.Int{h.p[0], h.q[0]}), e.combined(t, &[2]*big.Int{h.p[1], h.q[1]})
		}
	}
}

// combined returns t[1] by[0] + t[0] by[1], or nil for nil.
func (e *euclid) combined(t, by *[2]*big.Int) *big.Int {
	if t == nil {
		return nil
	}
	z := new(big.Int).Mul(t[1], by[0])
	return z.Add(z, e.x.Mul(t[0], by[1]))
}

// several takes the steps whose quotients are small and follow from the leading 64 bits (Collins'
// condition, as in math/big). It returns false if there are none.
func (e *euclid) several() bool {
	n := e.r[0].BitLen()
	if n <= 64 {
		return false
	}
	a1, a2 := leading(e.r[0], n), leading(e.r[1], n)
	u0, u1, u2 := uint64(0), uint64(1), uint64(0)
	v0, v1, v2 := uint64(0), uint64(0), uint64(1)
	even := false
	for a2 >= v2 && a1-a2 >= v1+v2 {
		q := a1 / a2
		if q>>(accident-1) != 0 {
			break
		}
		a1, a2 = a2, a1-q*a2
		u0, u1, u2 = u1, u2, u1+q*u2
		v0, v1, v2 = v1, v2, v1+q*v2
		even = !even
	}
	if v0 == 0 {
		return false
	}
	for i, pair := range []*[2]*big.Int{e.r, e.p, e.q} {
		if pair == nil {
			continue
		}
		a, b := pair[0], pair[1]
		e.x.Mul(a, e.word[0].SetUint64(u0))
		e.y.Mul(b, e.word[1].SetUint64(v0))
		switch {
		case i > 0: // p and q grow
			e.x.Add(e.x, e.y)
		case even:
			e.x.Sub(e.x, e.y)
		default:
			e.x.Sub(e.y, e.x)
		}
		a.Mul(a, e.word[0].SetUint64(u1))
		b.Mul(b, e.word[1].SetUint64(v1))
		switch {
		case i > 0:
			b.Add(b, a)
		case even:
			b.Sub(b, a)
		default:
			b.Sub(a, b)
		}
		pair[0], e.x = e.x, a
	}
	return true
}

// leading returns bits n - 64 to n - 1 of x ≥ 0, for n > 64.
func leading(x *big.Int, n int) uint64 {
	at := n - 64
	word := func(i int) uint64 {
		w := x.Bits()
		if bits.UintSize == 64 {
			if i < len(w) {
				return uint64(w[i])
			}
			return 0
		}
		var z uint64
		for k := range 2 {
			if 2*i+k < len(w) {
				z |= uint64(w[2*i+k]) << (32 * k)
			}
		}
		return z
	}
	low := word(at / 64)
	if at%64 == 0 {
		return low
	}
	return low>>(at%64) | word(at/64+1)<<(64-at%64)
}

// accident is the number of bits by which a number must be shorter than expected to exclude an
// accident. An accident costs time, never a digit: rational proves what it returns.
const accident = 24

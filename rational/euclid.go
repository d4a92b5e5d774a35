package rational

import (
	"math/big"
	"math/bits"
)

// euclid is Euclid's algorithm for two numbers, with the cofactors t of the second one.
type euclid struct {
	r, t           [2]*big.Int
	x, y, quotient *big.Int
	word           [2]*big.Int
}

// denominator returns the denominator of the fraction that x probably is modulo q, nil if there is
// none: the cofactor before the largest quotient of Euclid's algorithm (Monagan, Maximal quotient
// rational reconstruction, 2004). Steps with small quotients are taken together, about 32 bits at a
// time (Lehmer).
func denominator(x, q *big.Int) *big.Int {
	e := &euclid{x: new(big.Int), y: new(big.Int), quotient: new(big.Int)}
	e.r = [2]*big.Int{new(big.Int).Set(q), new(big.Int).Mod(x, q)}
	e.t = [2]*big.Int{new(big.Int), big.NewInt(1)}
	e.word = [2]*big.Int{new(big.Int), new(big.Int)}
	most := accident // bits of the largest quotient; at first of one that occurs by accident
	var d *big.Int
	for e.r[1].Sign() != 0 && e.r[0].BitLen() > most { // else no larger quotient follows
		if e.several() {
			continue
		}
		e.quotient.QuoRem(e.r[0], e.r[1], e.x)
		if b := e.quotient.BitLen(); b > most {
			most, d = b, new(big.Int).Abs(e.t[1])
		}
		e.r[0], e.r[1], e.x = e.r[1], e.x, e.r[0]
		e.t[0].Sub(e.t[0], e.y.Mul(e.quotient, e.t[1]))
		e.t[0], e.t[1] = e.t[1], e.t[0]
	}
	return d
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
	for _, pair := range []*[2]*big.Int{&e.r, &e.t} {
		a, b := pair[0], pair[1]
		e.x.Mul(a, e.word[0].SetUint64(u0))
		e.y.Mul(b, e.word[1].SetUint64(v0))
		if even {
			e.x.Sub(e.x, e.y)
		} else {
			e.x.Sub(e.y, e.x)
		}
		a.Mul(a, e.word[0].SetUint64(u1))
		b.Mul(b, e.word[1].SetUint64(v1))
		if even {
			b.Sub(b, a)
		} else {
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

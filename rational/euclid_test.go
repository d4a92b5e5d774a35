package rational

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestDenominator reconstructs fractions of various lengths from their residues.
func TestDenominator(t *testing.T) {
	r := testseed.Rand(t, 36, 2)
	random := func(bits int) *big.Int {
		z := big.NewInt(1)
		for z.BitLen() < bits {
			z.Lsh(z, 32).Or(z, big.NewInt(int64(r.Uint32())))
		}
		return z.Rsh(z, uint(z.BitLen()-bits))
	}
	for range 2000 {
		n, d := random(1+r.IntN(500)), random(1+r.IntN(500))
		g := new(big.Int).GCD(nil, nil, n, d)
		n.Quo(n, g)
		d.Quo(d, g)
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		q := random(n.BitLen() + d.BitLen() + 60 + r.IntN(300))
		if q.SetBit(q, 0, 1); g.GCD(nil, nil, d, q).Cmp(one) != 0 {
			continue
		}
		x := new(big.Int).ModInverse(d, q)
		x.Mul(x, n)
		if got := denominator(x, q); got == nil || got.Cmp(d) != 0 {
			t.Fatalf("%v/%v modulo %v: denominator %v", n, d, q, got)
		}
	}
}

// TestHalvedEuclid compares steps by leading bits with steps one by one, for random numbers and for
// ones with large quotients and common factors.
func TestHalvedEuclid(t *testing.T) {
	defer func(bits int) { halvedBits = bits }(halvedBits)
	r := testseed.Rand(t, 36, 44)
	random := func(bits int) *big.Int {
		z := new(big.Int)
		for z.BitLen() < bits {
			z.Lsh(z, 32).Or(z, big.NewInt(int64(r.Uint32())))
		}
		return z.Rsh(z, uint(z.BitLen()-bits))
	}
	for range testlength.Of(200, 1000, 20000) {
		// From the last two remainders back, by quotients of any length.
		a, b := random(1+r.IntN(200)), new(big.Int)
		for n := 1 + r.IntN(400); n > 0; n-- {
			quotient := big.NewInt(1 + r.Int64N(8))
			switch r.IntN(60) {
			case 0:
				quotient = random(1 + r.IntN(150))
			case 1:
				quotient.SetInt64(1)
			}
			if quotient.Sign() == 0 {
				continue
			}
			a, b = b.Add(b, quotient.Mul(quotient, a)), a
		}
		if a.Cmp(b) <= 0 {
			continue
		}
		halvedBits = 1 << 30
		want := denominator(b, a)
		halvedBits = 130 + r.IntN(300)
		most := accident
		e := newEuclid(new(big.Int).Set(a), new(big.Int).Set(b), &most)
		least := a.BitLen()/2 + 2
		e.halve(least)
		x := new(big.Int).Mul(e.p[1], e.r[0])
		y := new(big.Int).Mul(e.q[1], e.r[0])
		x.Add(x, new(big.Int).Mul(e.p[0], e.r[1]))
		y.Add(y, new(big.Int).Mul(e.q[0], e.r[1]))
		if x.Cmp(a) != 0 || y.Cmp(b) != 0 || e.r[0].Cmp(e.r[1]) <= 0 || b.BitLen() >= least && e.r[1].BitLen() < least || e.r[1].Sign() <= 0 && b.Sign() > 0 {
			t.Fatalf("steps from %v, %v to %d bits: %v, factors %v %v", a, b, least, e.r, e.p, e.q)
		}
		halvedBits = 66 + r.IntN(10)
		got := denominator(b, a)
		if (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 {
			t.Fatalf("%v modulo %v: denominator %v, want %v", b, a, got, want)
		}
	}
}

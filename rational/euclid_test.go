package rational

import (
	"math/big"
	"testing"

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

package rational

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

func TestDivisors(t *testing.T) {
	r := testseed.Rand(t, 36, 9)
	number := func(factors int) *big.Int {
		z := big.NewInt(1)
		for range factors {
			z.Mul(z, big.NewInt(int64(r.IntN(1000)+1)))
		}
		if r.IntN(2) == 0 {
			z.Neg(z)
		}
		return z
	}
	for k := range 200 {
		d := number(100 + r.IntN(200))
		if k%2 == 0 {
			d = number(r.IntN(15))
		}
		d.Abs(d)
		x := make([]*big.Int, 8+r.IntN(8))
		for i := range x {
			switch r.IntN(6) {
			case 0:
			case 1:
				x[i] = new(big.Int)
			case 2:
				x[i] = new(big.Int).Mul(d, number(1))
			default:
				x[i] = number(r.IntN(200))
			}
		}
		z := newDivisors(d, x)
		for _, x := range x {
			if x == nil {
				x = new(big.Int)
			}
			if got, want := z.gcd(x), new(big.Int).GCD(nil, nil, d, new(big.Int).Abs(x)); got.Cmp(want) != 0 {
				t.Fatalf("gcd of %v and %v: %v, want %v", d, x, got, want)
			}
		}
	}
}

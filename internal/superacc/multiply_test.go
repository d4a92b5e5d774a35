package superacc

import (
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestMultiply compares products, in memory that has been in use, with products of math/big.
func TestMultiply(t *testing.T) {
	r := testseed.Rand(t, 1, 9)
	number := func() []uint64 {
		x := make([]uint64, r.IntN(1+r.IntN(130)))
		for k := range x {
			switch r.IntN(3) {
			case 0:
				x[k] = -uint64(r.IntN(2))
			case 1:
				x[k] = r.Uint64()
			}
		}
		return x
	}
	var z []uint64
	for trial := range testlength.Trials(5000) {
		x, y := number(), number()
		a, b := slices.Clone(x), slices.Clone(y)
		if r.IntN(2) == 0 {
			z = make([]uint64, len(Trim(x))+len(Trim(y))) // as much as is needed
		}
		for k := range z {
			z[k] = r.Uint64()
		}
		z = Multiply(z[:0], x, y)
		if want := new(big.Int).Mul(num.ToInt(a), num.ToInt(b)); num.ToInt(z).Cmp(want) != 0 || !slices.Equal(a, x) || !slices.Equal(b, y) {
			t.Fatalf("trial %d: %x times %x is %x, want %x", trial, x, y, z, want)
		}
		if len(z) != len(Trim(a))+len(Trim(b)) {
			t.Fatalf("trial %d: %d words times %d words are %d", trial, len(a), len(b), len(z))
		}
	}
}

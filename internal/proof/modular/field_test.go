package modular

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestField compares elements with integers modulo the prime.
func TestField(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	for next, k := Primes(), 0; k < 3; k++ {
		f := New(next())
		p := new(big.Int).SetUint64(f.P)
		same := func(name string, x uint64, want *big.Int) {
			t.Helper()
			if want = want.Mod(want, p); !want.IsUint64() || f.Value(x) != want.Uint64() || x >= f.P {
				t.Fatalf("modulo %d: %s is %d, want %d", f.P, name, f.Value(x), want)
			}
		}
		for _, x := range []uint64{0, 1, f.P - 1, f.P, f.P + 1, math.MaxUint64, r.Uint64()} {
			same("an element", f.Element(x), new(big.Int).SetUint64(x))
		}
		two := big.NewInt(2)
		for _, e := range []int64{-1 << 40, -2049, -2048, -2047, -65, -64, -63, -1, 0, 1, 63, 64, 65, 2047, 2048, 2049, 1 << 40} {
			same("a power of 2", f.Power2(e), new(big.Int).Exp(two, big.NewInt(e), p))
		}
		for range 100 {
			words := []uint64{r.Uint64(), r.Uint64(), r.Uint64()}[:1+r.IntN(3)]
			e := r.Int64N(8192) - 4096
			want := new(big.Int)
			for i := len(words) - 1; i >= 0; i-- {
				want.Lsh(want, 64).Or(want, new(big.Int).SetUint64(words[i]))
			}
			want.Mul(want, new(big.Int).Exp(two, big.NewInt(e), p))
			same("a number", f.Real(num.Real{Class: num.Finite, Neg: true, Mag: words, Exp: e}), want.Neg(want))
		}
	}
}

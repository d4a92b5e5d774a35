package problem

import (
	"math"
	"math/big"
	"testing"
)

func TestEntry(t *testing.T) {
	for _, bits := range []uint{2, 53, 64, 65, 106, 1696} {
		for _, spread := range []int{0, 50, 1000} {
			p := Problem{Kind: Gemm, N: 20, Bits: bits, Spread: spread, Seed: 3}
			var x, again Number
			var sum, squares float64
			low, high := math.MaxInt, math.MinInt
			for i := range p.N {
				for j := range p.N {
					p.Entry(B, i, j, &x)
					p.Entry(B, i, j, &again)
					z := x.Big(bits)
					if z.Cmp(again.Big(bits)) != 0 {
						t.Fatalf("%+v: entry (%d, %d) is not a function of its place", p, i, j)
					}
					if got := new(big.Int).SetUint64(x.Words[len(x.Words)-1]).BitLen() + 64*(len(x.Words)-1); got != int(bits) {
						t.Fatalf("%+v: entry (%d, %d) has %d bits", p, i, j, got)
					}
					if e := z.MantExp(nil); spread > 0 {
						low, high = min(low, e-1), max(high, e-1)
					}
					f := x.Float64()
					sum += f
					squares += f * f
				}
			}
			count := float64(p.N * p.N)
			if spread > 0 {
				if low < -spread || high > spread || high-low < spread {
					t.Errorf("%+v: exponents from %d to %d", p, low, high)
				}
				continue
			}
			if bits < 53 {
				continue // too coarse for the moments of the uniform distribution
			}
			if mean, variance := sum/count, squares/count; math.Abs(mean) > 0.15 || math.Abs(variance-1./3) > 0.07 {
				t.Errorf("%+v: mean %g, mean square %g, want 0 and 1/3", p, mean, variance)
			}
		}
	}
}

package exact

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// TestScanFloats compares exponents, widths and norms of binary64 of all magnitudes, stored by rows
// and by columns, with those that Span and exact sums tell.
func TestScanFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for trial := range 400 {
		m, k := 1+rng.IntN(70), 1+rng.IntN(20)
		mat := num.Mat{Arr: num.New(num.Float64, m*k), RS: 1, CS: m, Rows: m, Cols: k}
		if trial%2 == 0 {
			mat.RS, mat.CS = k, 1
		}
		low, spread := rng.IntN(2046), 1+rng.IntN(60)
		for i := range mat.Arr.F64[0] {
			e := min(low+rng.IntN(spread), 2046)
			b := uint64(e)<<52 | rng.Uint64()>>12
			if rng.IntN(2) == 0 {
				b &^= 1<<rng.IntN(53) - 1
			}
			switch rng.IntN(12) {
			case 0:
				b = 0
			case 1:
				b = rng.Uint64() >> (12 + rng.IntN(52)) // subnormal
			}
			if trial%50 == 49 && rng.IntN(10) == 0 {
				b = 0x7ff << 52
			}
			mat.Arr.F64[0][i] = math.Float64frombits(b | uint64(rng.IntN(2))<<63)
		}
		o, err := scan(context.Background(), 1, mat)
		if err != nil {
			t.Fatal(err)
		}
		var width int64
		for v := range m {
			top, least, special := int64(zeroExp), int64(math.MaxInt64), false
			sum := new(big.Float).SetPrec(2500)
			for h := range k {
				switch c, e, low := mat.Arr.Span(mat.At(v, h)); c {
				case num.Finite:
					top, least = max(top, e), min(least, low)
					x := new(big.Float).SetFloat64(math.Abs(mat.Arr.F64[0][mat.At(v, h)]))
					sum.Add(sum, x)
				case num.Inf, num.NaN:
					special = true
				}
			}
			if o.special[v] != special || o.exp[v] != top {
				t.Fatalf("trial %d: vector %d: exponent %d, special %v, want %d, %v", trial, v, o.exp[v], o.special[v], top, special)
			}
			if top == zeroExp {
				continue
			}
			width = max(width, top-least)
			norm, _ := sum.SetMantExp(sum, int(-top)).Float64()
			if got := new(big.Float).SetFloat64(o.norm[v]); got.Cmp(sum) < 0 || o.norm[v] > norm*(1+1e-12) {
				t.Fatalf("trial %d: vector %d: norm %v, want %v and little more", trial, v, o.norm[v], sum)
			}
		}
		if int64(o.width) != width {
			t.Fatalf("trial %d: width %d, want %d", trial, o.width, width)
		}
	}
}

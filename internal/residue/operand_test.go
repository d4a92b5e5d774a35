package residue

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestScanFloats compares exponents, widths and norms of binary64 of all magnitudes, stored by rows
// and by columns, with those that Span and exact sums tell.
func TestScanFloats(t *testing.T) {
	rng := testseed.Rand(t, 7, 9)
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
		checkScan(t, fmt.Sprint("trial ", trial), mat)
	}
}

// TestScanWords is TestScanFloats for MP numbers.
func TestScanWords(t *testing.T) {
	rng := testseed.Rand(t, 7, 10)
	for trial := range 400 {
		m, k := 1+rng.IntN(70), 1+rng.IntN(20)
		f := num.Format{Kind: num.MP, Prec: uint32(2 + rng.IntN(300))}
		mat := num.Mat{Arr: num.New(f, m*k), RS: 1, CS: m, Rows: m, Cols: k}
		if trial%2 == 0 {
			mat.RS, mat.CS = k, 1
		}
		center, spread := rng.IntN(1700)-850, 1+rng.IntN(60)
		if trial%10 == 9 {
			center *= 100 // beyond binary64
		}
		for i := range m * k {
			mag := make([]uint64, f.Limbs())
			for j := range mag {
				if mag[j] = rng.Uint64(); rng.IntN(3) == 0 {
					mag[j] = -(rng.Uint64() & 1) << rng.IntN(64)
				}
			}
			mag[len(mag)-1] |= 1 << 63
			r := num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(center + rng.IntN(spread) - 64*len(mag))}
			switch rng.IntN(12) {
			case 0:
				r = num.Real{Class: num.Zero}
			case 1:
				if trial%50 == 49 {
					r = num.Real{Class: num.Inf}
				}
			}
			mat.Arr.Set(i, r)
		}
		checkScan(t, fmt.Sprint(f.Prec, " bits, trial ", trial), mat)
	}
}

func checkScan(t *testing.T, what string, mat num.Mat) {
	t.Helper()
	o, err := scan(context.Background(), 1, mat)
	if err != nil {
		t.Fatal(err)
	}
	var width int64
	var buf [num.MaxValueWords]uint64
	for v := range mat.Rows {
		top, least, special := int64(zeroExp), int64(math.MaxInt64), false
		sum := new(big.Float).SetPrec(2500)
		for h := range mat.Cols {
			switch c, e, low := mat.Arr.Span(mat.At(v, h)); c {
			case num.Finite:
				top, least = max(top, e), min(least, low)
				r := mat.Arr.Value(mat.At(v, h), buf[:])
				mag := new(big.Int)
				for i := len(r.Mag) - 1; i >= 0; i-- {
					mag.Or(mag.Lsh(mag, 64), new(big.Int).SetUint64(r.Mag[i]))
				}
				x := new(big.Float).SetPrec(2500).SetInt(mag)
				x.SetMantExp(x, int(r.Exp))
				sum.Add(sum, x)
			case num.Inf, num.NaN:
				special = true
			}
		}
		if o.special[v] != special || o.exp[v] != top {
			t.Fatalf("%s: vector %d: exponent %d, special %v, want %d, %v", what, v, o.exp[v], o.special[v], top, special)
		}
		if top == zeroExp {
			continue
		}
		width = max(width, top-least)
		norm, _ := sum.SetMantExp(sum, int(-top)).Float64()
		if got := new(big.Float).SetFloat64(o.norm[v]); got.Cmp(sum) < 0 || o.norm[v] > norm*(1+1e-12) {
			t.Fatalf("%s: vector %d: norm %v, want %v and little more", what, v, o.norm[v], sum)
		}
	}
	if int64(o.width) != width {
		t.Fatalf("%s: width %d, want %d", what, o.width, width)
	}
}

package direct

import (
	"context"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestLoadedProducts compares scalar products of MP numbers with numbers of other formats, from
// leading digits, with exact ones: canonical expansions, gaps between terms longer than the digits,
// terms that overlap or cancel, subnormal numbers, zeros, infinities and NaN, strides.
func TestLoadedProducts(t *testing.T) {
	r := testseed.Rand(t, 51, 52)
	w := Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}
	decided, trials := 0, 0
	for trial := range testlength.Trials(1500) {
		mp := num.Format{Kind: num.MP, Prec: []uint32{30, 64, 106, 212, 424}[r.IntN(5)]}
		f := []num.Format{{Kind: num.F32}, {Kind: num.F64}, {Kind: num.DD}, {Kind: num.TD}, {Kind: num.QD}}[r.IntN(5)]
		n := fewProducts + r.IntN(60)
		x, y := num.New(mp, n), num.New(f, 2*n)
		kind := r.IntN(5)
		for i := range n {
			x.Set(i, num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: int64(r.IntN(20)) - 64, Mag: []uint64{r.Uint64() | 1}})
			e := r.IntN(20)
			if kind == 1 {
				e -= 1040 // subnormal terms
			}
			value := func(e int) float64 { return math.Ldexp(r.Float64()-0.5, e) }
			if f.Kind == num.F32 {
				y.F32[2*i] = float32(value(e % 40))
				continue
			}
			for k := range y.Terms() {
				y.F64[k][2*i] = value(e)
				switch kind {
				case 2:
					e -= r.IntN(500)
				case 3:
					e -= 20 // terms overlap
				default:
					e -= 54 + r.IntN(2)
				}
			}
			if kind == 3 && y.Terms() > 1 && r.IntN(8) == 0 {
				y.F64[1][2*i] = -y.F64[0][2*i]
			}
			if kind == 4 && r.IntN(10) == 0 {
				y.F64[0][2*i] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 5e-324}[r.IntN(3+r.IntN(3))%5]
				for k := 1; k < y.Terms(); k++ {
					y.F64[k][2*i] = 0
				}
			}
		}
		u, v := num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 2, N: n}
		if r.IntN(4) == 0 {
			u.Off, u.Inc = n-1, -1
		}
		if r.IntN(2) == 0 {
			u, v = v, u
		}
		out := []num.Format{mp, f, {Kind: num.MP, Prec: 300}}[r.IntN(3)]
		got, want := num.New(out, 1), num.New(out, 1)
		trials++
		flags, exact, err := Dot.Round(w, u, v, got)
		if err != nil {
			t.Fatal(err)
		}
		if !exact {
			decided++
		}
		a, err := Dot.Exact(w, u, v)
		if err != nil {
			t.Fatal(err)
		}
		if f := want.Set(0, a.Value(out)); f != flags || !got.SameBits(0, want, 0) {
			t.Fatalf("trial %d, kind %d, %v and %v to %v: %v, want %v", trial, kind, u.Arr.Format, v.Arr.Format, out, got.Value(0, room()), want.Value(0, room()))
		}
	}
	if decided < trials/2 {
		t.Errorf("only %d of %d without the exact sum", decided, trials)
	}
}

package direct

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestRoundParts compares sums of parts with sums of vectors, in one word and more.
func TestRoundParts(t *testing.T) {
	random := testseed.Rand(t, 3, 8)
	for trial := range 60 {
		x := make([]float64, random.IntN(9)*1000+random.IntN(20))
		for i := range x {
			x[i] = (random.Float64() - 0.5) * math.Ldexp(1, random.IntN(1+20*(trial%4)))
			if trial%5 == 0 && i%2 == 1 { // which cancels all
				x[i] = -x[i-1]
			}
		}
		if len(x) > 0 {
			special := []float64{math.Inf(1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.Copysign(0, -1), 5e-324}
			for range trial % 3 {
				x[random.IntN(len(x))] = special[random.IntN(len(special))]
			}
		}
		if trial%7 == 0 {
			for i := range x {
				x[i] = math.Copysign(0, -1)
			}
		}
		v := num.Vec{Arr: &num.Array{Format: num.Float64, F64: [4][]float64{x}}, Inc: 1, N: len(x)}
		size := 1 + random.IntN(3000)
		w := Work{Run: par.Run{Ctx: context.Background(), Threads: 1 + trial%3}}
		p := Parts{(len(x) + size - 1) / size, func(_, i int) ([]float64, error) { return x[i*size : min((i+1)*size, len(x))], nil }}
		for _, f := range []num.Format{num.Float32, num.Float64, num.DDouble, {Kind: num.MP, Prec: 300}} {
			for _, r := range []Reduction{Sum, Asum} {
				got, want := num.New(f, 1), num.New(f, 1)
				gotFlags, _, err := r.RoundParts(w, p, got)
				if err != nil {
					t.Fatal(err)
				}
				wantFlags, _, err := r.Round(w, v, v, want)
				if err != nil || !got.SameBits(0, want, 0) || gotFlags != wantFlags {
					t.Errorf("trial %d, %v, %v: %v, %v, want %v, %v", trial, f, r, got, gotFlags, want, wantFlags)
				}
			}
		}
	}
	bad := errors.New("bad")
	p := Parts{9, func(_, i int) ([]float64, error) {
		if i == 4 {
			return nil, bad
		}
		return []float64{1}, nil
	}}
	if _, _, err := Sum.RoundParts(Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}, p, num.New(num.Float64, 1)); err != bad {
		t.Error(err)
	}
}

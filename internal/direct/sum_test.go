package direct

import (
	"context"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// TestWidestSpread sums numbers whose exponents differ by more than 2^31.
func TestWidestSpread(t *testing.T) {
	f := num.Format{Kind: num.MP, Prec: 64}
	x := num.New(f, 3)
	one := []uint64{1}
	top := num.Real{Class: num.Finite, Exp: math.MaxInt32 - 600, Mag: one}
	x.Set(0, top)
	for i := 1; i < 3; i++ {
		x.Set(i, num.Real{Class: num.Finite, Exp: math.MinInt32 + 600, Mag: one})
	}
	want, got := num.New(f, 1), num.New(f, 1)
	want.Set(0, top)
	v := num.Vec{Arr: x, Inc: 1, N: 3}
	for _, r := range []Reduction{Sum, Asum} {
		if _, _, err := r.Round(Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}, v, v, got); err != nil {
			t.Fatal(err)
		}
		if !got.SameBits(0, want, 0) {
			t.Errorf("reduction %d: the small numbers changed the sum", r)
		}
	}
}

package factors_test

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestHalfLessSquares compares results with exact ones, for squares that are larger than the other
// term, smaller, far away, zero, and nearly or exactly as large with both signs.
func TestHalfLessSquares(t *testing.T) {
	rng := testseed.Rand(t, 1, 2)
	exact := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(6000).Set(x) }
	for _, c := range []struct{ d, x uint }{{24, 73}, {24, 24}, {64, 200}, {98, 358}, {224, 358}, {300, 53}} {
		const n = 600
		d, x := halfulp.NewMatrix(halfulp.MP(c.d), n, 1), halfulp.NewMatrix(halfulp.MP(c.x), n, 1)
		random := func(prec uint) *big.Float {
			v := new(big.Int).Lsh(big.NewInt(1), prec)
			for k := range prec {
				v.SetBit(v, int(k), uint(rng.IntN(2)))
			}
			y := new(big.Float).SetPrec(prec + 1).SetInt(v)
			return y.SetMantExp(y, -int(prec)-rng.IntN(80))
		}
		for i := range n {
			v := random(c.x)
			w := random(c.d)
			switch i % 6 {
			case 0:
				v = new(big.Float)
			case 1:
				w = new(big.Float)
			case 2:
				w = exact(v).Mul(v, v)
			case 3:
				w.SetMantExp(w, -rng.IntN(4000))
			case 4:
				v.SetMantExp(v, -rng.IntN(4000))
			}
			if rng.IntN(2) == 0 {
				w = exact(w).Neg(w)
			}
			x.SetBig(i, 0, v)
			d.SetBig(i, 0, w)
		}
		was := d.Clone()
		for from := 0; from < n; from += 250 {
			factors.HalfLessSquares(d.View(), x.View(), from, min(n, from+250))
		}
		for i := range n {
			v, w := exact(x.Big(i, 0)), exact(was.Big(i, 0))
			square := new(big.Float).SetPrec(6000).Mul(v, v)
			want := new(big.Float).SetPrec(6000).Sub(w, square)
			want.SetMantExp(want, -1)
			off := new(big.Float).SetPrec(6000).Sub(want, exact(d.Big(i, 0)))
			// half a place of the result, and the truncation of the larger term
			bound := new(big.Float).SetMantExp(exact(want).Abs(want), -int(c.d))
			larger := new(big.Float).SetPrec(6000).Add(square, w.Abs(w))
			if bound.Add(bound, larger.SetMantExp(larger, -int(c.d)-30)); off.Abs(off).Cmp(bound) > 0 {
				t.Fatalf("%v: number %d is %g, want %g", c, i, d.Big(i, 0), want)
			}
		}
	}
}

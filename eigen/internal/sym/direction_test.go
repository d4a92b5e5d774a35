package sym

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPlainDirection checks signs found in float64 arithmetic, for entries whose quotients are near
// π/4: no other vector in the enclosure may have the other sign.
func TestPlainDirection(t *testing.T) {
	rng := testseed.Rand(t, 35, 71)
	quarter, _ := new(big.Float).SetPrec(200).SetString("0.78539816339744830961566084581987572104929234984378")
	decided := 0
	for trial := range testlength.Of(2000, 20000, 1000000) {
		n, scale := 1+rng.IntN(6), rng.IntN(3000)-1500
		y := &bound.Nearly{X: num.NewMat(call.MP(90), n, 1), D: num.NewMat(call.MP(64), n, 1), Err: []int64{int64(scale) - int64(rng.IntN(90))}}
		list := make([]*big.Float, n)
		for i := range n {
			v := new(big.Float).SetPrec(200).SetFloat64(1)
			switch rng.IntN(4) {
			case 0:
				v.SetFloat64(math.Ldexp(rng.Float64(), -rng.IntN(1200)))
			case 1, 2: // near π/4
				by := new(big.Float).SetMantExp(big.NewFloat(rng.Float64()-0.5), -rng.IntN(60))
				v.Add(v, by).Mul(v, quarter)
			}
			if rng.IntN(2) == 0 {
				v.Neg(v)
			}
			v.SetMantExp(v, scale)
			y.X.SetBig(i, 0, v)
			d := new(big.Float).SetMantExp(big.NewFloat(rng.Float64()-0.5), scale-rng.IntN(80))
			y.D.SetBig(i, 0, d)
			list[i] = new(big.Float).SetPrec(1<<13).Add(y.X.Big(i, 0), y.D.Big(i, 0))
		}
		sign := plainDirection(y, 0, make([]float64, n))
		if sign == 0 {
			continue
		}
		decided++
		most := new(big.Float).SetPrec(1 << 13)
		for _, v := range list {
			if m := new(big.Float).Abs(v); m.Cmp(most) > 0 {
				most.Set(m)
			}
		}
		e := new(big.Float).SetMantExp(big.NewFloat(1), int(y.Err[0]))
		low, high := new(big.Float).Sub(most, e), new(big.Float).Add(most, e)
		low.Mul(low, quarter)
		high.Mul(high, quarter)
		for i, v := range list {
			m := new(big.Float).Abs(v)
			if new(big.Float).Sub(m, e).Cmp(high) > 0 {
				if v.Sign() != sign {
					t.Fatalf("trial %d: sign %d, entry %d is %g of %g", trial, sign, i, v, most)
				}
				break
			}
			if new(big.Float).Add(m, e).Cmp(low) >= 0 || i == n-1 {
				t.Fatalf("trial %d: sign %d is not certain, entry %d is %g of %g, errors 2^%d", trial, sign, i, v, most, y.Err[0])
			}
		}
	}
	if decided == 0 {
		t.Error("no sign is found")
	}
}

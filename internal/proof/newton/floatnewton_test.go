package newton

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestAddFloat adds numbers in words, with others far below and near to the largest.
func TestAddFloat(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	for range 5000 {
		var sum [3]uint64
		unit := int64(r.IntN(200) - 100)
		want := new(big.Float).SetPrec(500)
		count := 1 + r.IntN(6)
		for range count {
			x := math.Ldexp(2*r.Float64()-1, int(unit)+186-r.IntN(250))
			addFloat(&sum, x, unit)
			want.Add(want, big.NewFloat(x))
		}
		got := new(big.Int)
		for i := range sum {
			got.Lsh(got, 64).Or(got, new(big.Int).SetUint64(sum[len(sum)-1-i]))
		}
		if got.Bit(191) != 0 {
			got.Sub(got, new(big.Int).Lsh(big.NewInt(1), 192))
		}
		off := new(big.Float).SetInt(got)
		off.SetMantExp(off, int(unit)).Sub(want, off)
		if off.Abs(off).Cmp(new(big.Float).SetMantExp(big.NewFloat(float64(count)), int(unit))) >= 0 {
			t.Fatalf("%d of unit 2^%d: off by %g", count, unit, off)
		}
	}
}

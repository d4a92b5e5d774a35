package call_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSumUnits adds numbers with sums cut off to multiples of a unit.
func TestSumUnits(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := prooftest.Run(t, 1)
	cut := 0
	for range testlength.Of(2000, 6000, 200000) {
		p, q, prec := halfulp.MP(uint(24+r.IntN(400))), halfulp.MP(uint(24+r.IntN(400))), 64+r.IntN(400)
		x, y, z := gallery.Random(p, 1, 1, 1, r.Uint64()), gallery.Random(q, 1, 1, 1, r.Uint64()), halfulp.NewMatrix(halfulp.MP(uint(prec)), 1, 1)
		v := y.Big(0, 0)
		y.SetBig(0, 0, v.SetMantExp(v, -r.IntN(200)))
		unit := int64(20 - r.IntN(500))
		if err := s.SumHere(x.View(), y.View(), z.View(), &unit); err != nil {
			t.Fatal(err)
		}
		want := new(big.Float).SetPrec(4000).Add(x.Big(0, 0), y.Big(0, 0))
		got := z.Big(0, 0)
		if got.Sign() != 0 && int64(got.MantExp(nil))-int64(got.MinPrec()) < unit {
			t.Fatalf("seed %d: %s is no multiple of 2^%d", seed, got.Text('p', 0), unit)
		}
		if got.Cmp(want) != 0 {
			cut++
		}
		// The error of cutting off, and a unit in the last place.
		most := new(big.Float).SetPrec(4000).SetMantExp(big.NewFloat(1), int(unit))
		most.Add(most, new(big.Float).SetMantExp(big.NewFloat(1), max(want.MantExp(nil), got.MantExp(nil))-prec))
		if d := new(big.Float).SetPrec(4000).Sub(got, want); d.Abs(d).Cmp(most) >= 0 {
			t.Fatalf("seed %d: %s + %s is %s in units of 2^%d", seed, x.At(0, 0).Hex(), y.At(0, 0).Hex(), z.At(0, 0).Hex(), unit)
		}
	}
	if cut == 0 {
		t.Error("nothing is cut off")
	}
}

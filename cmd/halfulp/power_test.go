package main

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestIntegerPower compares powers with exact products, and special values with math.Pow.
func TestIntegerPower(t *testing.T) {
	testlength.SkipRace(t, "results of commands on one thread")
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		m := gallery.Random(f, testlength.Trials(40), 1, 6, 1)
		for i := range m.Rows() {
			x := m.At(i, 0)
			exact := new(big.Float).SetPrec(40000).SetInt64(1)
			for n := 0; n <= maxExactPower; n++ {
				if n > 0 {
					exact.Mul(exact, x.Big())
				}
				if got, want := integerPower(f, x, n), halfulp.NewScalar(f, exact); !got.Convert(f).Same(want) {
					t.Errorf("%v: %v to the power %d: %v, want %v", f, x, n, got, want)
				}
				if got, want := integerPower(f, x, -n), f.Quo(halfulp.Float(1), halfulp.NewScalar(halfulp.MP(40000), exact)); !got.Convert(f).Same(want) {
					t.Errorf("%v: %v to the power %d: %v, want %v", f, x, -n, got, want)
				}
			}
		}
		for _, x := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 2, -3} {
			for n := -4; n <= 4; n++ {
				if got, want := integerPower(f, halfulp.Float(x), n).Float64(), math.Pow(x, float64(n)); math.Float64bits(got) != math.Float64bits(want) {
					t.Errorf("%v: %v to the power %d: %v, want %v", f, x, n, got, want)
				}
			}
		}
	}
}

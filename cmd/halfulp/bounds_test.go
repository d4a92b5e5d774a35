package main

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestOutward compares printed bounds with the numbers that they bound, exactly: they lie on the
// correct side, at most one unit in the last digit away, or two for numbers with large exponents.
func TestOutward(t *testing.T) {
	testlength.SkipRace(t, "results of commands on one thread")
	const n = 300
	seed := testseed.Of(t)
	m := gallery.Random(halfulp.MP(90), n, 1, 200, seed)
	for i, text := range []string{"0", "1", "-1", "0.25", "999.5", "-999.5", "1e300", "9.99999999e-200", "-3", "1e30000", "-1e-30000"} {
		if err := m.SetString(i, 0, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, digits := range []int{1, 2, 3, 17, 60} {
		for _, up := range []bool{false, true} {
			z, err := outward(m, digits, up)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				text := z.At(i, 0).Text(digits)
				x, _ := m.Big(i, 0).Rat(nil)
				v, ok := new(big.Rat).SetString(text)
				if !ok {
					t.Fatalf("seed %d: %s", seed, text)
				}
				side := v.Cmp(x)
				if up {
					side = -side
				}
				d := new(big.Rat).Sub(v, x)
				unit := new(big.Rat).Abs(x)
				unit.Quo(unit, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits-1)), nil)))
				if far := m.Big(i, 0).MantExp(nil); max(far, -far) > 20000 {
					unit.Add(unit, unit)
				}
				if side > 0 || d.Abs(d).Cmp(unit) > 0 {
					t.Errorf("seed %d: %v in %d digits, up %t: %s", seed, m.At(i, 0), digits, up, text)
				}
			}
		}
	}
}

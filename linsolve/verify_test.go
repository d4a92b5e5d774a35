package linsolve

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestVerify moves entries of right results by known numbers of ulps.
func TestVerify(t *testing.T) {
	for _, f := range formats {
		n := 6
		a, b := halfulp.Random(f, n, n, 3, 1), halfulp.Random(f, n, 2, 3, 2)
		for name, right := range map[string]func(*halfulp.Matrix) (Accuracy, Stats, error){
			"solution": func(x *halfulp.Matrix) (Accuracy, Stats, error) { return VerifySolution(a, b, x, nil) },
			"product":  func(x *halfulp.Matrix) (Accuracy, Stats, error) { return VerifyProduct(a, b, x, nil) },
		} {
			x := halfulp.NewMatrix(f, n, 2)
			steps := 0
			if name == "solution" {
				stats, err := Solve(a, b, x, nil)
				if err != nil {
					t.Fatal(err)
				}
				steps = stats.Steps
			} else if _, err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), nil, x, nil); err != nil {
				t.Fatal(err)
			}
			v, stats, err := right(x) // solved once
			if err != nil || v != (Accuracy{Entries: 2 * n, Correct: 2 * n}) || stats.Steps != steps {
				t.Fatalf("%v, %s: %+v, %v, %+v", f, name, v, err, stats)
			}
			move := func(i, j int, ulps float64) {
				y := x.Big(i, j)
				ulp := new(big.Float).SetMantExp(big.NewFloat(ulps), y.MantExp(nil)-f.Bits())
				x.SetBig(i, j, new(big.Float).SetPrec(uint(f.Bits()+64)).Add(y, ulp))
			}
			move(2, 1, 100)
			move(3, 0, -7)
			v, _, err = right(x)
			if err != nil || v.Wrong != 2 || v.Correct != 2*n-2 || v.Row != 2 || v.Col != 1 || math.Abs(v.Largest-100) > 0.51 {
				t.Fatalf("%v, %s: %+v, %v", f, name, v, err)
			}
			x.Set(5, 1, halfulp.NaN(f))
			v, _, err = right(x)
			if err != nil || v.Wrong != 3 || v.Row != 5 || !math.IsInf(v.Largest, 1) {
				t.Fatalf("%v, %s: %+v, %v", f, name, v, err)
			}
		}
		// 1/3 rounded down or up is faithful, and one of them correctly rounded.
		three, one := halfulp.NewMatrix(f, 1, 1), halfulp.Identity(f, 1)
		three.Set(0, 0, halfulp.Float(3))
		low, high := halfulp.NewMatrix(f, 1, 1), halfulp.NewMatrix(f, 1, 1)
		third := new(big.Float).SetPrec(2000).Quo(big.NewFloat(1), big.NewFloat(3))
		low.SetBig(0, 0, third)
		z := low.Big(0, 0)
		d := new(big.Float).SetMantExp(big.NewFloat(1), z.MantExp(nil)-f.Bits())
		if z.Cmp(third) > 0 {
			d.Neg(d)
		}
		high.SetBig(0, 0, new(big.Float).SetPrec(2000).Add(z, d))
		if v, _, err := VerifySolution(three, one, low, nil); err != nil || v.Correct != 1 {
			t.Fatalf("%v: %+v, %v", f, v, err)
		}
		if v, _, err := VerifySolution(three, one, high, nil); err != nil || v.Faithful != 1 || v.Largest <= 0.5 || v.Largest >= 1 {
			t.Fatalf("%v: %+v, %v", f, v, err)
		}
	}
}

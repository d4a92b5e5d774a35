package eigen_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/testseed"
)

func ExamplePolar() {
	a := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	for i, x := range []float64{0, -2, 3, 0} {
		a.SetFloat64(i/2, i%2, x)
	}
	u, h, err := eigen.Polar(a, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(u)
	fmt.Println(h)
	// Output:
	// 0 -1
	// 1  0
	// 3 0
	// 0 2
}

// TestPolar checks A = U H, H = |A| of symmetric matrices, and Uᵀ U H = H.
func TestPolar(t *testing.T) {
	rng := testseed.Rand(t, 13, 14)
	f := halfulp.MP(200)
	for range 30 {
		m, n, r := rng.IntN(5), rng.IntN(5), rng.IntN(5)
		a := lowRank(rng, m, n, r, 2)
		u, h, err := eigen.Polar(a, f, nil)
		if err != nil {
			t.Fatalf("%v\n%v", err, a)
		}
		product, _ := halfulp.Mul(u, h, f, nil)
		square, _ := halfulp.Mul(u.T(), u, f, nil)
		again, _ := halfulp.Mul(square, h, f, nil)
		for _, c := range [][2]*halfulp.Matrix{{product, a}, {again, h}} {
			for i := range c[0].Rows() {
				for j := range c[0].Cols() {
					d := new(big.Float).SetPrec(300).Sub(c[0].Big(i, j), c[1].Big(i, j))
					if d.Sign() != 0 && d.MantExp(nil) > -180 {
						t.Fatalf("%d x %d, rank %d: entry (%d, %d) is %v and %v\nA\n%v\nU\n%v\nH\n%v", m, n, r, i, j, c[0].At(i, j), c[1].At(i, j), a, u, h)
					}
				}
			}
		}
	}
}

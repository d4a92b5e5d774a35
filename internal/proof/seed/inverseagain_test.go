package seed_test

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestInverseAgain compares bounds of F^-1 r, for r = F y of integers, with y: for orders of one
// block of columns and of several, and for a singular matrix, where nothing is proved.
func TestInverseAgain(t *testing.T) {
	r := testseed.Rand(t, 4, 4)
	s := prooftest.Run(t, 2)
	for _, n := range []int{1, 20, 64, 65, 150} {
		a := lintest.Integers(r, n, n, 9)
		for i := range n {
			a.Set(i, i, halfulp.Float(float64(20+n)))
		}
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		z, err := seed.NewInverseAgain(s, a.View(), lu)
		if err != nil {
			t.Fatal(err)
		}
		if !(z.Rho <= seed.MostRho) {
			t.Fatalf("n = %d: rho = %g", n, z.Rho)
		}
		y, v := make([]float64, n), &seed.Residual{Lead: make([]float64, n)}
		for j := range y {
			y[j] = math.Ldexp(float64(r.IntN(2001)-1000), int(-lu.Cols[j]))
		}
		most := 0.0
		for i := range n {
			for j := range n {
				x, _ := a.Big(i, j).Float64()
				v.Lead[i] += math.Ldexp(x*y[j], int(lu.Rows[i]+lu.Cols[j])) // exact
			}
			most = max(most, math.Abs(v.Lead[i]))
		}
		_, v.Exp = math.Frexp(most)
		for i := range v.Lead {
			v.Lead[i] = math.Ldexp(v.Lead[i], -v.Exp)
		}
		c, err := z.Correct(v)
		if err != nil {
			t.Fatal(err)
		}
		for i, radius := range z.Radius(v, nil) {
			of := math.Ldexp(math.Abs(y[i]), -v.Exp)
			if radius < of || radius > math.Ldexp(1.01, z.MoreBits()) {
				t.Errorf("n = %d: |y| is %g in row %d, bound %g", n, of, i, radius)
			}
			if math.Abs(math.Ldexp(y[i], -v.Exp)-c[0][i]) > 0x1p-40 {
				t.Errorf("n = %d: y is %g in row %d, not %g", n, c[0][i], i, math.Ldexp(y[i], -v.Exp))
			}
		}
		for j := range n { // singular
			a.Set(n-1, j, a.At(0, j))
		}
		if n == 1 {
			continue
		}
		if lu, err = seed.NewFactors(s, a.View(), scale.Of(a.View())); err != nil {
			t.Fatal(err)
		}
		if z, err = seed.NewInverseAgain(s, a.View(), lu); err != nil || z.Rho <= seed.MostRho {
			t.Errorf("n = %d: of a singular matrix rho = %g, %v", n, z.Rho, err)
		}
	}
}

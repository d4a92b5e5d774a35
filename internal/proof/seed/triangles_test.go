package seed_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTriangles compares rho and the bound of ‖R‖ with I - F R and R, computed exactly, at every
// level.
func TestTriangles(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, bad := 0, 0
	enough := func() bool { return good > 0 && bad > 0 }
	for trial := range testlength.Until(testlength.Of(30, 30, 2000), enough) {
		n := 1 + r.IntN(30)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		a := lintest.Ill(r, f, n, r.IntN(50))
		level := isa.Portable
		if trial%2 == 0 {
			level = isa.Best()
		}
		restore := isa.Force(level)
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		cut := 1 + r.IntN(n)
		v, err := seed.TrianglesOf(s, lu, cut)
		if err == nil && v != nil && trial%3 == 0 {
			err = v.InvertUpper(s, n)
		}
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if v == nil || !(v.Rho <= seed.MostRho) {
			bad++
			continue
		}
		good++
		x := lintest.New(n, n) // lower triangular
		for j := range n {
			for k := j; k < n; k++ {
				x[k][j] = numtest.Exact(v.X[k+j*n])
			}
		}
		inverse := lintest.New(n, n) // R = Z X P
		for i, row := range upperInverse(v, x) {
			for j, z := range row {
				inverse[i][v.Perm[j]] = z
			}
		}
		prooftest.CheckInverse(t, fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n), lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols).Times(inverse, n), inverse, v.Rho, v.Norm)
	}
	if !enough() {
		t.Fatalf("%d good and %d bad inverses", good, bad)
	}
}

// upperInverse returns Z X.
func upperInverse(t *seed.Triangles, x lintest.Matrix) lintest.Matrix {
	n, cut := t.N, t.Cut
	matrix := func(rows, cols int, at func(i, j int) float64) lintest.Matrix {
		z := lintest.New(rows, cols)
		for i := range z {
			for j := range z[i] {
				z[i][j] = numtest.Exact(at(i, j))
			}
		}
		return z
	}
	upper := func(y []float64, order int) lintest.Matrix {
		return matrix(order, order, func(i, j int) float64 {
			if i > j {
				return 0
			}
			return y[i+j*order]
		})
	}
	first, second := t.Blocks()
	below := upper(second, n-cut).Times(x[cut:], n)
	above := matrix(cut, n-cut, func(i, j int) float64 { return t.LU[i+(cut+j)*n] }).Times(below, n)
	for i := range above {
		for j, z := range above[i] {
			z.Sub(x[i][j], z)
		}
	}
	return append(upper(first, cut).Times(above, n), below...)
}

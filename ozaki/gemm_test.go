package ozaki

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
)

// testMatrix returns a rows x cols matrix of (ru - 0.5) exp(phi rn), as paper 002 has it.
func testMatrix(rng *rand.Rand, rows, cols int, phi float64) *halfulp.Matrix {
	m := halfulp.NewMatrix(halfulp.Float64, rows, cols)
	for j := range cols {
		for i := range rows {
			m.SetFloat64(i, j, (rng.Float64()-0.5)*math.Exp(phi*rng.NormFloat64()))
		}
	}
	return m
}

// exactEntry returns α Σ a_ih b_hj + β c exactly.
func exactEntry(alpha float64, a, b *halfulp.Matrix, i, j int, beta, c float64) *big.Float {
	sum := new(big.Float).SetPrec(6000)
	for h := range a.Cols() {
		p := new(big.Float).SetPrec(200).Mul(big.NewFloat(a.Float64(i, h)), big.NewFloat(b.Float64(h, j)))
		sum.Add(sum, p)
	}
	sum.Mul(sum, big.NewFloat(alpha))
	return sum.Add(sum, new(big.Float).SetPrec(200).Mul(big.NewFloat(beta), big.NewFloat(c)))
}

// checkBound computes with opt and compares each entry with the exact one and its bound.
func checkBound(t *testing.T, name string, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt Options) (worst float64) {
	t.Helper()
	got := c.Clone()
	opt.Bound = halfulp.NewMatrix(halfulp.Float64, c.Rows(), c.Cols())
	if _, err := Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, a, b, beta, got, &opt); err != nil {
		t.Fatal(name, err)
	}
	for j := range c.Cols() {
		for i := range c.Rows() {
			want := exactEntry(alpha, a, b, i, j, beta, c.Float64(i, j))
			bound := opt.Bound.Float64(i, j)
			if x := got.Float64(i, j); math.IsInf(x, 0) {
				if w, _ := want.Float64(); w != x {
					t.Errorf("%s: c[%d,%d] = %g, want %g", name, i, j, x, want)
				}
				continue
			}
			d := new(big.Float).SetPrec(6000).Sub(want, big.NewFloat(got.Float64(i, j)))
			if d.Abs(d).Cmp(big.NewFloat(bound)) > 0 {
				t.Errorf("%s: c[%d,%d] = %g, want %g: error %g above its bound %g", name, i, j, got.Float64(i, j), want, d, bound)
			}
			if e, _ := d.Float64(); bound > 0 {
				worst = max(worst, e/bound)
			}
		}
	}
	return worst
}

func TestGemmWithinBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {5, 300, 7}, {20, 65, 31}} {
		for slices := 1; slices <= 9; slices++ {
			for _, phi := range []float64{0.1, 2, 20} {
				a, b := testMatrix(rng, shape[0], shape[1], phi), testMatrix(rng, shape[1], shape[2], phi)
				c := testMatrix(rng, shape[0], shape[2], phi)
				name := fmt.Sprintf("%v K=%d phi=%g", shape, slices, phi)
				checkBound(t, name, 1, a, b, 0, c, Options{Slices: slices})
				checkBound(t, name, -0.7, a, b, 1.3, c, Options{Slices: slices, Block: 32, MemoryLimit: 1})
			}
		}
	}
}

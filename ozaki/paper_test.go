package ozaki

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// paperSlices is lines 2 to 12 of algorithm 2 of the paper for the rows of A, or the columns of
// B: (single(X) + σ) - σ, the rest, and single(X).
func paperSlices(x vectors) (first, rest, all []float32) {
	beta := int(math.Ceil((24 + math.Log2(float64(x.len))) / 2))
	for v := range x.n {
		mu := 0.0
		for h := range x.len {
			mu = max(mu, math.Abs(x.at(v, h)))
		}
		sigma := float32(math.Ldexp(1, exponent(mu)+beta))
		for h := range x.len {
			single := float32(x.at(v, h))
			q := single + sigma
			q -= sigma
			first, rest, all = append(first, q), append(rest, float32(x.at(v, h)-float64(q))), append(all, single)
		}
	}
	return first, rest, all
}

// TestPaper runs algorithm 2 as the paper has it, beside two slices here: those have one bit
// more in half of the numbers, so they are not less accurate.
func TestPaper(t *testing.T) {
	const n = 256
	k := sgemm.Best()
	for seed, phi := range []float64{0.1, 1, 2} {
		rng := rand.New(rand.NewPCG(101, uint64(seed)))
		a, b := testMatrix(rng, n, n, phi), testMatrix(rng, n, n, phi)
		a1, a2, _ := paperSlices(op(halfulp.NoTrans, a).left())
		b1, b2, ball := paperSlices(op(halfulp.NoTrans, b).right())
		product := func(x, y []float32) []float32 {
			p, err := sgemm.Pack(context.Background(), 1, k.MR, n, n, x, n, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			q, err := sgemm.Pack(context.Background(), 1, k.NR, n, n, y, n, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := make([]float32, n*n)
			if err := k.Mul(context.Background(), 1, c, n, p, q); err != nil {
				t.Fatal(err)
			}
			return c
		}
		p, q, r := product(a1, b1), product(a1, b2), product(a2, ball)

		exact, two := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
		if _, err := halfulp.Gemm('N', 'N', halfulp.Float(1), a, b, halfulp.Float(0), exact, nil); err != nil {
			t.Fatal(err)
		}
		mustGemm(t, 'N', 'N', 1, a, b, 0, two, &Options{Slices: 2})
		var paper, here float64 // sums of the squares of errors
		for j := range n {
			for i := range n {
				want := exact.Float64(i, j)
				paper = math.Hypot(paper, float64(p[i+j*n])+float64(q[i+j*n])+float64(r[i+j*n])-want)
				here = math.Hypot(here, two.Float64(i, j)-want)
			}
		}
		if ratio := here / paper; ratio > 1 || ratio < 0.1 {
			t.Errorf("phi = %g: errors %g, of the paper's algorithm %g", phi, here, paper)
		} else {
			t.Logf("phi = %g: errors %.2f of those of the paper's algorithm", phi, ratio)
		}
	}
}

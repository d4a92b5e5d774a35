package sym_test

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestNearlyEqual has 2 x 2 matrices [a b; b a+q] with eigenvalues that are close to each other.
// The vector to the eigenvalue a + m is a multiple of (b, m), m = (q ± (q² + 4 b²)^(1/2))/2.
func TestNearlyEqual(t *testing.T) {
	rng := testseed.Rand(t, 31, 32)
	const prec = 3000
	for trial := range testlength.Of(50, 200, 5000) {
		number := func(bits, e int) *big.Float {
			x := new(big.Int)
			for range (bits + 63) / 64 {
				x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()|1))
			}
			z := new(big.Float).SetPrec(prec).SetInt(x)
			return z.SetMantExp(z, e-x.BitLen())
		}
		g, c := rng.IntN(130), rng.IntN(70)
		a, q, b := number(200, 0), number(64, -g), number(64, -g-c)
		if rng.IntN(2) == 0 {
			b.Neg(b)
		}
		m := num.NewMat(num.Precision(600), 2, 2)
		m.SetBig(0, 0, a)
		m.SetBig(1, 1, new(big.Float).SetPrec(prec).Add(a, q))
		m.SetBig(0, 1, b)
		m.SetBig(1, 0, b)
		root := new(big.Float).SetPrec(prec).Mul(q, q)
		four := new(big.Float).SetPrec(prec).Mul(b, b)
		root.Add(root, four.SetMantExp(four, 2)).Sqrt(root)
		f := []num.Format{num.Float64, num.Float32, num.Precision(100)}[rng.IntN(3)]
		s := prooftest.Run(t, 1)
		z, err := sym.Sym(s, m, f, sym.Wanted{Vectors: true, Last: 1})
		if err != nil {
			t.Fatalf("trial %d, g = %d, c = %d, %v: %v", trial, g, c, f, err)
		}
		for p, half := range []*big.Float{new(big.Float).SetPrec(prec).Sub(q, root), new(big.Float).SetPrec(prec).Add(q, root)} {
			half.SetMantExp(half, -1)
			x, y := new(big.Float).Copy(b), half
			norm := new(big.Float).SetPrec(prec).Mul(x, x)
			norm.Add(norm, new(big.Float).SetPrec(prec).Mul(y, y)).Sqrt(norm)
			x.Quo(x, norm)
			y.Quo(y, norm)
			limit := new(big.Float).SetPrec(prec).Mul(y, new(big.Float).SetFloat64(0.7853981633974483))
			first := x
			if new(big.Float).Abs(x).Cmp(limit.Abs(limit)) <= 0 {
				first = y
			}
			if first.Sign() < 0 {
				x.Neg(x)
				y.Neg(y)
			}
			for i, want := range []*big.Float{x, y} {
				if got := z.Vectors.Entry(i, p); !got.Same(num.NewScalar(f, want)) {
					t.Fatalf("trial %d, g = %d, c = %d, %v: entry %d of vector %d is %v, want %v", trial, g, c, f, i, p, got.Big(), num.NewScalar(f, want).Big())
				}
			}
		}
		s.Release()
	}
}

// TestWilkinson compares vectors of Wilkinson's matrices, whose large eigenvalues come in close
// pairs, in two formats.
func TestWilkinson(t *testing.T) {
	for _, n := range []int{21, 41} {
		a := num.NewMat(num.Float64, n, n)
		for i := range n {
			a.SetFloat64(i, i, float64(max(i-n/2, n/2-i)))
			if i > 0 {
				a.SetFloat64(i, i-1, 1)
				a.SetFloat64(i-1, i, 1)
			}
		}
		var results []sym.Result
		for _, f := range []num.Format{num.Float32, num.Precision(150)} {
			z, err := sym.Sym(prooftest.Run(t, 1), a, f, sym.Wanted{Vectors: true, Last: n - 1})
			if err != nil {
				t.Fatalf("n = %d, %v: %v", n, f, err)
			}
			if len(z.Clusters) > 0 {
				t.Fatalf("n = %d, %v: clusters %v", n, f, z.Clusters)
			}
			results = append(results, z)
		}
		for i := range n {
			for p := range n {
				if got, want := results[0].Vectors.Entry(i, p), num.NewScalar(num.Float32, results[1].Vectors.Big(i, p)); !got.Same(want) {
					t.Fatalf("n = %d: entry %d of vector %d is %v, want %v", n, i, p, got.Big(), want.Big())
				}
			}
		}
	}
}

package rns

import (
	"math/big"
	"testing"
)

// TestSumBounds holds sums and dot products against their bounds, on random, spread and
// cancelling numbers.
func TestSumBounds(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 51)
		xs := significands(b, r, 50)
		for round := range 30 {
			n := round * round / 10
			x, y := randomVector(b, r, xs, n), randomVector(b, r, xs, n)
			if round%2 == 1 { // the second half cancels the first but for rounding errors
				for i := range n / 2 {
					x.Set(n-1-i, b.NewNumber().Neg(x.At(i)))
					y.Set(n-1-i, y.At(i))
				}
			}
			sum, norm, dot, dotNorm := exactFloat(), exactFloat(), exactFloat(), exactFloat()
			for i := range n {
				u, err := x.At(i).Big()
				if err != nil {
					t.Fatal(err)
				}
				v, err := y.At(i).Big()
				if err != nil {
					t.Fatal(err)
				}
				p := exactFloat().Mul(u, v)
				sum.Add(sum, u)
				norm.Add(norm, u.Abs(u))
				dot.Add(dot, p)
				dotNorm.Add(dotNorm, p.Abs(p))
			}
			for _, c := range []struct {
				name   string
				exact  *big.Float
				norm   *big.Float
				addend int // roundings that an addend goes through
				got    *Number
				bound  func(*Number) Bound
			}{
				{"Reduce1", sum, norm, n - 1, Reduce1(x), func(z *Number) Bound { return SumBound(x, z) }},
				{"Reduce2", sum, norm, n - 1, Reduce2(x), func(z *Number) Bound { return SumBound(x, z) }},
				{"Reduce3", sum, norm, n - 1, Reduce3(x, nil), func(z *Number) Bound { return SumBound(x, z) }},
				{"Asum", norm, norm, n - 1, Asum(x, nil), func(z *Number) Bound { return SumBound(x, z) }},
				{"Dot", dot, dotNorm, n, Dot(x, y, nil), func(z *Number) Bound { return DotBound(x, y, z) }},
			} {
				bound := c.bound(c.got)
				z, err := c.got.Big()
				if err != nil {
					t.Fatal(err)
				}
				diff := exactFloat().Sub(z, c.exact)
				if diff.Abs(diff).Cmp(bound.Absolute.Big()) > 0 {
					t.Fatalf("%s, %d bits, n = %d: error %.3g, bound %v", c.name, b.prec, n, diff, bound.Absolute)
				}
				if c.exact.Sign() != 0 && !bound.Relative.isInf() {
					diff.Quo(diff, exactFloat().Abs(c.exact))
					if diff.Cmp(bound.Relative.Big()) > 0 {
						t.Fatalf("%s, %d bits, n = %d: relative error %.3g, bound %v", c.name, b.prec, n, diff, bound.Relative)
					}
				}
				// The bound is the formula, not more.
				k := max(c.addend, 0)
				if k == 0 || c.norm.Sign() == 0 {
					if !bound.Absolute.isZero() {
						t.Fatalf("%s, n = %d: bound %v, want 0", c.name, n, bound.Absolute)
					}
					continue
				}
				ku := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(k)), b.u.Big())
				if rest := new(big.Float).SetPrec(200).Sub(big.NewFloat(1), ku); rest.Sign() > 0 {
					ku.Quo(ku, rest).Mul(ku, c.norm)
					if ratio, _ := new(big.Float).Quo(bound.Absolute.Big(), ku).Float64(); ratio < 1-1e-12 || ratio > 1+1e-5 {
						t.Fatalf("%s, n = %d: bound %v, formula %.3g", c.name, n, bound.Absolute, ku)
					}
				} else if !bound.Absolute.isInf() {
					t.Fatalf("%s, n = %d: bound %v, want infinity", c.name, n, bound.Absolute)
				}
			}
		}
	}
}

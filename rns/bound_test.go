package rns

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

// TestSumBounds compares the errors of sums and dot products with their bounds, on random, spread
// and cancelling numbers.
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
			sum, norm, dot, dotNorm, squares := exactFloat(), exactFloat(), exactFloat(), exactFloat(), exactFloat()
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
				squares.Add(squares, exactFloat().Mul(u, u))
				norm.Add(norm, u.Abs(u))
				dot.Add(dot, p)
				dotNorm.Add(dotNorm, p.Abs(p))
			}
			// To far more digits than the bounds have.
			root := exactFloat().Sqrt(squares)
			for _, c := range []struct {
				name   string
				exact  *big.Float
				norm   *big.Float
				addend int // roundings that an addend goes through
				got    *Number
				bound  func(*Number) Bound
			}{
				{"Reduce1", sum, norm, n - 1, sumOf(Reduce1(x, nil)), func(z *Number) Bound { return boundFrom(SumBound(context.Background(), x, z)) }},
				{"Reduce2", sum, norm, n - 1, sumOf(Reduce2(x, nil)), func(z *Number) Bound { return boundFrom(SumBound(context.Background(), x, z)) }},
				{"Reduce3", sum, norm, n - 1, sumOf(Reduce3(x, nil)), func(z *Number) Bound { return boundFrom(SumBound(context.Background(), x, z)) }},
				{"Asum", norm, norm, n - 1, sumOf(Asum(x, nil)), func(z *Number) Bound { return boundFrom(SumBound(context.Background(), x, z)) }},
				{"Nrm2", root, root, n + 1, sumOf(Nrm2(x, nil)), func(z *Number) Bound { return boundFrom(Nrm2Bound(context.Background(), x, z)) }},
				{"Dot", dot, dotNorm, n, sumOf(Dot(x, y, nil)), func(z *Number) Bound { return boundFrom(DotBound(context.Background(), x, y, z)) }},
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

// TestUnderflowBounds compares the errors of products that underflow with their bounds, which are
// the bounds of rounding errors otherwise.
func TestUnderflowBounds(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 53)
		bits := b.bigM.BitLen()
		lost := 0 // results outside a bound of rounding errors alone
		check := func(what string, got *Vector, exact []*big.Float, norm *big.Float, k int, bound Bound) {
			t.Helper()
			diff := exactFloat()
			for i, x := range exact {
				z, err := got.At(i).Big()
				if err != nil {
					t.Fatal(err)
				}
				d := exactFloat().Sub(z, x)
				diff.Add(diff, d.Abs(d))
			}
			if diff.Cmp(bound.Absolute.Big()) > 0 {
				t.Fatalf("%s, %d bits: error below 2^%d, bound %v", what, b.prec, diff.MantExp(nil), bound.Absolute)
			}
			if g := b.gamma(k); !g.isInf() && diff.Cmp(norm.Mul(norm, g.Big())) > 0 {
				lost++
			}
		}
		value := func(x *Number) *big.Float {
			z, err := x.Big()
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
		number := func(exp int) *Number {
			x := b.NewNumber().SetInt64(1 + r.Int64N(1<<min(20, max(b.prec-1, 1))))
			if r.IntN(2) == 0 {
				x.Neg(x)
			}
			return x.MulPow2(x, exp-r.IntN(2*bits))
		}
		vector := func(n, exp int) *Vector {
			x := b.NewVector(n)
			for i := range n {
				if r.IntN(5) > 0 {
					x.Set(i, number(exp))
				}
			}
			return x
		}
		for range 20 {
			n := 1 + r.IntN(6)
			x, y := vector(n, minExp/2+bits), vector(n, minExp/2)
			dot, norm := exactFloat(), exactFloat()
			for i := range n {
				p := exactFloat().Mul(value(x.At(i)), value(y.At(i)))
				dot.Add(dot, p)
				norm.Add(norm, exactFloat().Abs(p))
			}
			z := b.NewVector(1)
			z.Set(0, sumOf(Dot(x, y, nil)))
			check("Dot", z, []*big.Float{dot}, norm, n, boundFrom(DotBound(context.Background(), x, y, z.At(0))))

			// Squares underflow; norm and bound have errors of a root of the least number.
			squares := exactFloat()
			for i := range n {
				squares.Add(squares, exactFloat().Mul(value(y.At(i)), value(y.At(i))))
			}
			z.Set(0, sumOf(Nrm2(y, nil)))
			root := exactFloat().Sqrt(squares)
			check("Nrm2", z, []*big.Float{root}, exactFloat().Copy(root), n+1, boundFrom(Nrm2Bound(context.Background(), y, z.At(0))))

			// Exponents of α, A, x, of β and of y.
			for _, e := range [][4]int{
				{0, minExp / 2, minExp/2 + bits, minExp / 2},
				{minExp / 3, minExp / 3, minExp/3 + bits, minExp / 2},
				// α x underflows, a (α x) or α (a x) might not
				{minExp + 2*bits, 6 * bits, 0, 0},
				{6 * bits, 0, minExp + 2*bits, 0},      // a x underflows
				{0, 0, minExp - bits, minExp/2 + bits}, // x is 0
			} {
				for _, trans := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
					const rows, cols = 3, 4
					alpha, beta := number(e[0]), number(e[3])
					a := &Matrix{vector(rows*cols, e[1]).arr, 0, rows, cols, rows}
					m, k := rows, cols
					if isTrans(trans) {
						m, k = cols, rows
					}
					x, y := vector(k, e[2]), vector(m, minExp-e[3]+bits)
					exact, norm := make([]*big.Float, m), exactFloat()
					for i := range exact {
						exact[i] = exactFloat()
						add := func(f ...*Number) {
							p := exactFloat().SetInt64(1)
							for _, x := range f {
								p.Mul(p, value(x))
							}
							exact[i].Add(exact[i], p)
							norm.Add(norm, exactFloat().Abs(p))
						}
						line := a.line(isTrans(trans), i)
						for j := range k {
							add(alpha, line.At(j), x.At(j))
						}
						add(beta, y.At(i))
					}
					for name, gemv := range map[string]func(z *Vector){
						"Gemv":      func(z *Vector) { done(Gemv(trans, alpha, a, x, beta, z, nil)) },
						"GemvBasic": func(z *Vector) { done(GemvBasic(trans, alpha, a, x, beta, z, nil)) },
						"published": func(z *Vector) { done(gemvPublished(trans, alpha, a, x, beta, z, nil)) },
					} {
						z := y.Clone()
						gemv(z)
						check(name, z, exact, exactFloat().Copy(norm), k+2, boundFrom(GemvBound(context.Background(), trans, alpha, a, x, beta, y, z)))
					}
				}
			}
		}
		if lost < 10 {
			t.Errorf("%d bits: %d results with underflows", b.prec, lost)
		}
	}
}

// TestUpdateBounds compares Maxpy and AxpyDot with exact results, also where they cancel.
func TestUpdateBounds(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 54)
		xs := significands(b, r, 50)
		u := b.u.Big()
		for round := range 20 {
			n := round * round / 5
			alpha, x, y, v := randomNumber(b, r, xs), randomVector(b, r, xs, n), randomVector(b, r, xs, n), randomVector(b, r, xs, n)
			for i := range n / 2 {
				y.Set(i, mul(alpha, x.At(i)))
			}
			check := func(what string, got *Vector) {
				t.Helper()
				for i := range n {
					p := times(exactly(alpha), exactly(x.At(i)))
					exact := minus(exactly(y.At(i)), p)
					limit := plus(times(u, size(exact)), times(plus(u, times(u, u)), size(p)))
					if d := size(minus(exactly(got.At(i)), exact)); d.Cmp(limit) > 0 {
						t.Fatalf("%s, %d bits: error %.3g, bound %.3g", what, b.prec, d, limit)
					}
				}
			}
			z, w := b.NewVector(n), y.Clone()
			done(Maxpy(alpha, x, y, z, nil))
			check("Maxpy", z)
			dot := sumOf(AxpyDot(alpha, w, x, v, nil))
			check("AxpyDot", w)
			exact := exactFloat()
			for i := range n {
				exact.Add(exact, times(exactly(w.At(i)), exactly(v.At(i))))
			}
			bound := boundFrom(DotBound(context.Background(), w, v, dot))
			if d := size(minus(exactly(dot), exact)); d.Cmp(bound.Absolute.Big()) > 0 {
				t.Fatalf("AxpyDot, %d bits: error %.3g, bound %v", b.prec, d, bound.Absolute)
			}
		}
	}
}

// TestBoundsAreCancelled calls all bounds with a context that is cancelled.
func TestBoundsAreCancelled(t *testing.T) {
	b, err := SummationBase(SummationPrecisions[0])
	must(t, err)
	m := gallery.Random(halfulp.Float64, 20, 20, 0, 1)
	a, x, y := b.MatrixOf(m), b.VectorOf(m.Col(0)), b.VectorOf(m.Col(1))
	one := b.NewNumber().SetScalar(halfulp.Float(1))
	s, err := NewCSR(20, 20, make([]int, 21), nil, b.NewVector(0))
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, bound := range map[string]func() (Bound, error){
		"GemvBound": func() (Bound, error) { return GemvBound(ctx, halfulp.NoTrans, one, a, x, one, y, y) },
		"SumBound":  func() (Bound, error) { return SumBound(ctx, x, one) },
		"DotBound":  func() (Bound, error) { return DotBound(ctx, x, y, one) },
		"Nrm2Bound": func() (Bound, error) { return Nrm2Bound(ctx, x, one) },
		"SpMVBound": func() (Bound, error) { return SpMVBound(ctx, s, x, y) },
	} {
		if _, err := bound(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

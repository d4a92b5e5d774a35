package rns

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
)

// halfMatrix returns a symmetric matrix by entries, and a view with one of its triangles, NaN in
// the other one.
func halfMatrix(b *Base, r *rand.Rand, xs []*big.Int, n int, upper bool) (at func(i, j int) *Number, m *Matrix) {
	m = randomMatrix(b, r, xs, n, n)
	inside := func(i, j int) bool { return upper && i <= j || !upper && i >= j }
	entries := make([]*Number, n*n)
	for i := range n {
		for j := range n {
			if inside(i, j) {
				entries[i*n+j] = m.At(i, j)
				entries[j*n+i] = m.At(i, j)
			}
		}
	}
	for i := range n {
		for j := range n {
			if !inside(i, j) {
				m.Set(i, j, b.NewNumber().SetFloat64(math.NaN()))
			}
		}
	}
	return func(i, j int) *Number { return entries[i*n+j] }, m
}

// wantTriangle checks a triangle of m, and that the other one is NaN as it was.
func wantTriangle(t *testing.T, what string, m *Matrix, upper bool, want func(i, j int) *Number) {
	t.Helper()
	for i := range m.rows {
		for j := range m.cols {
			if upper && i <= j || !upper && i >= j {
				wantSame(t, fmt.Sprintf("%s, entry %d, %d", what, i, j), m.At(i, j), want(i, j))
			} else if !m.At(i, j).IsNaN() {
				t.Fatalf("%s wrote entry %d, %d", what, i, j)
			}
		}
	}
}

// TestSymmetric compares routines on symmetric matrices with loops over both triangles.
func TestSymmetric(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 72)
		xs := significands(b, r, 50)
		for k := range 12 {
			for _, n := range []int{0, 1, 2, 9, 20} {
				upper, trans := k%2 == 0, k/2%2 == 0
				uplo := halfulp.Lower
				if upper {
					uplo = halfulp.Upper
				}
				o := optionSets[k%len(optionSets)]
				alpha, beta := randomNumber(b, r, xs), randomNumber(b, r, xs)
				switch k {
				case 4, 5:
					beta = b.NewNumber()
				case 6, 7:
					alpha = b.NewNumber()
				}
				x, y := randomVector(b, r, xs, n), randomVector(b, r, xs, n)
				at, a := halfMatrix(b, r, xs, n, upper)

				// Gemv of both triangles is Symv of one.
				full := b.NewMatrix(n, n)
				for i := range n {
					for j := range n {
						full.Set(i, j, at(i, j))
					}
				}
				want, got := y.Clone(), y.Clone()
				done(Gemv(halfulp.NoTrans, alpha, full, x, beta, want, o))
				done(Symv(uplo, alpha, a, x, beta, got, o))
				if !got.Same(want) {
					t.Fatalf("Symv %c of order %d, round %d, differs", uplo, n, k)
				}

				done(Syr(uplo, alpha, x, a, o))
				rank1 := func(i, j int) *Number { return add(at(i, j), mul(alpha, mul(x.At(i), x.At(j)))) }
				wantTriangle(t, "Syr", a, upper, rank1)

				at, a = halfMatrix(b, r, xs, n, upper)
				done(Syr2(uplo, alpha, x, y, a, o))
				wantTriangle(t, "Syr2", a, upper, func(i, j int) *Number {
					s := mul(alpha, mul(x.At(i), y.At(j)))
					return add(add(s, mul(alpha, mul(y.At(i), x.At(j)))), at(i, j))
				})

				// Syrk is a triangle of Gemm.
				rows, cols := n, k%4
				if trans {
					rows, cols = cols, rows
				}
				m := randomMatrix(b, r, xs, rows, cols)
				at, a = halfMatrix(b, r, xs, n, upper)
				if k == 5 && n > 0 {
					a.Set(0, 0, b.NewNumber().SetFloat64(math.NaN())) // unread for β = 0
				}
				for i := range n {
					for j := range n {
						full.Set(i, j, at(i, j))
					}
				}
				done(Gemm(transpose(trans), transpose(!trans), alpha, m, m, beta, full, nil))
				done(Syrk(uplo, transpose(trans), alpha, m, beta, a, o))
				wantTriangle(t, "Syrk", a, upper, full.At)
			}
		}
	}
}

// TestSymmetricBounds holds them against exact results, on random, spread and cancelling numbers.
func TestSymmetricBounds(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 73)
		u := b.u.Big()
		gamma := func(k int) *big.Float {
			if g := b.gamma(k); !g.isInf() {
				return g.Big()
			}
			return nil
		}
		for round := range 18 {
			n, depth := 1+r.IntN(8), 1+r.IntN(6)
			draw := func() *Number {
				x := r.Float64() - 0.5
				if round%3 == 1 {
					x = math.Ldexp(x, r.IntN(200)-100)
				}
				return b.NewNumber().SetFloat64(x)
			}
			alpha, beta, x, y := draw(), draw(), b.NewVector(n), b.NewVector(n)
			c, m := b.NewMatrix(n, n), b.NewMatrix(n, depth)
			for i := range n {
				x.Set(i, draw())
				y.Set(i, draw())
				for k := range depth {
					m.Set(i, k, draw())
				}
			}
			product := func(f ...*Number) *big.Float {
				p := exactFloat().SetInt64(1)
				for _, g := range f {
					p.Mul(p, exactly(g))
				}
				return p
			}
			for i := range n {
				for j := range n {
					c.Set(i, j, draw())
					if round%3 == 2 { // what is added cancels what is there
						c.Set(i, j, b.NewNumber().Neg(mul(alpha, mul(x.At(i), x.At(j)))))
					}
				}
			}
			clone := func() *Matrix {
				z := b.NewMatrix(n, n)
				must(t, z.CopyFrom(c))
				return z
			}
			// within compares an entry with Σ terms, whose error is γ_k of the sum of all but the
			// first, and u times the sum where the first one is rounded at the end alone.
			within := func(what string, got *Number, k int, alone bool, first *big.Float, rest ...*big.Float) {
				t.Helper()
				g := gamma(k)
				if g == nil {
					return
				}
				sum, norm := exactFloat().Set(first), exactFloat()
				for _, p := range rest {
					sum.Add(sum, p)
					norm.Add(norm, size(p))
				}
				limit := times(g, plus(norm, size(first)))
				if alone {
					limit = plus(times(g, norm), times(u, size(sum)))
				}
				if d := size(minus(exactly(got), sum)); d.Cmp(limit) > 0 {
					t.Fatalf("%s: error %.3g, bound %.3g", what, d, limit)
				}
			}
			syr, syr2, syrk := clone(), clone(), clone()
			done(Syr(halfulp.Upper, alpha, x, syr, nil))
			done(Syr2(halfulp.Upper, alpha, x, y, syr2, nil))
			done(Syrk(halfulp.Upper, halfulp.NoTrans, alpha, m, beta, syrk, nil))
			for j := range n {
				for i := range j + 1 {
					old := exactly(c.At(i, j))
					within("Syr", syr.At(i, j), 3, true, old, product(alpha, x.At(i), x.At(j)))
					within("Syr2", syr2.At(i, j), 4, true, old, product(alpha, x.At(i), y.At(j)), product(alpha, y.At(i), x.At(j)))
					var rest []*big.Float
					for k := range depth {
						rest = append(rest, product(alpha, m.At(i, k), m.At(j, k)))
					}
					within("Syrk", syrk.At(i, j), depth+2, false, product(beta, c.At(i, j)), rest...)
				}
			}
			// (18) and (19) for Symv, in the 1-norm.
			z := y.Clone()
			var bound Bound
			done(Symv(halfulp.Lower, alpha, c, x, beta, z, &Options{Bound: &bound}))
			diff, norm, scale := exactFloat(), exactFloat(), exactFloat()
			for i := range n {
				s := product(beta, y.At(i))
				scale.Add(scale, size(s))
				for j := range n {
					p := product(alpha, c.At(max(i, j), min(i, j)), x.At(j))
					s.Add(s, p)
					scale.Add(scale, size(p))
				}
				diff.Add(diff, size(minus(exactly(z.At(i)), s)))
				norm.Add(norm, size(s))
			}
			if diff.Cmp(bound.Absolute.Big()) > 0 {
				t.Fatalf("Symv: error %.3g, bound %v", diff, bound.Absolute)
			}
			if !bound.Relative.isInf() && diff.Cmp(times(bound.Relative.Big(), norm)) > 0 {
				t.Fatalf("Symv: error %.3g of %.3g, relative bound %v", diff, norm, bound.Relative)
			}
			if g := gamma(n + 2); g != nil { // it is the formula, not more
				if ratio, _ := exactFloat().SetPrec(100).Quo(bound.Absolute.Big(), times(g, scale)).Float64(); ratio < 1-1e-9 || ratio > 1+1e-5 {
					t.Fatalf("Symv: bound %v is %v of the formula", bound.Absolute, ratio)
				}
			}
		}
	}
}

// TestSymmetricPanics: what does not fit.
func TestSymmetricPanics(t *testing.T) {
	b, err := SummationBase(60)
	must(t, err)
	c, err := SummationBase(120)
	must(t, err)
	one, x, a, m := b.NewNumber().SetInt64(1), b.NewVector(3), b.NewMatrix(3, 3), b.NewMatrix(3, 4)
	four, alien := b.NewVector(4), c.NewVector(3)
	for i, test := range []struct {
		want string
		f    func()
	}{
		{errUplo, func() { done(Symv('x', one, a, x, one, x, nil)) }},
		{errUplo, func() { done(Syr(0, one, x, a, nil)) }},
		{errUplo, func() { done(Syr2('u', one, x, x, a, nil)) }},
		{errUplo, func() { done(Syrk('x', halfulp.NoTrans, one, m, one, a, nil)) }},
		{errTranspose, func() { done(Syrk(halfulp.Upper, 'x', one, m, one, a, nil)) }},
		{errShape, func() { done(Symv(halfulp.Upper, one, m, four, one, x, nil)) }},
		{errShape, func() { done(Symv(halfulp.Upper, one, a, four, one, x, nil)) }},
		{errShape, func() { done(Symv(halfulp.Upper, one, a, x, one, four, &Options{Bound: new(Bound)})) }},
		{errShape, func() { done(Syr(halfulp.Upper, one, x, m, nil)) }},
		{errShape, func() { done(Syr2(halfulp.Upper, one, x, four, a, nil)) }},
		{errShape, func() { done(Syrk(halfulp.Upper, halfulp.Trans, one, m, one, a, nil)) }},
		{errShape, func() { done(Syrk(halfulp.Upper, halfulp.NoTrans, one, m, one, m, nil)) }},
		{errBase, func() { done(Symv(halfulp.Upper, c.NewNumber(), a, x, one, x, &Options{Bound: new(Bound)})) }},
		{errBase, func() { done(Syr(halfulp.Upper, one, alien, a, nil)) }},
		{errBase, func() { done(Syrk(halfulp.Upper, halfulp.NoTrans, one, c.NewMatrix(3, 3), one, a, nil)) }},
		{errShape, func() { sumOf(AxpyDot(one, x, four, x, nil)) }},
		{errShape, func() { done(Maxpy(one, x, x, four, nil)) }},
		{errBase, func() { done(Maxpy(one, x, alien, x, nil)) }},
		{errBase, func() { boundFrom(Nrm2Bound(context.Background(), x, c.NewNumber())) }},
	} {
		if got := panicOf(test.f); got != test.want {
			t.Errorf("call %d: %v, want %q", i, got, test.want)
		}
	}
}

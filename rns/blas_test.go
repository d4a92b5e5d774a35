package rns

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
)

// withThreads returns Options for so many goroutines.
func withThreads(n int) Options { return Options{Options: halfulp.Options{Threads: n}} }

// sumOf, done and boundFrom stop a test at an error.
func sumOf(z *Number, err error) *Number {
	if err != nil {
		panic(err)
	}
	return z
}

func done(err error) {
	if err != nil {
		panic(err)
	}
}

func boundFrom(b Bound, err error) Bound {
	if err != nil {
		panic(err)
	}
	return b
}

// blocksOf returns the order of additions of options.
func blocksOf(t *testing.T, o *Options) Options {
	t.Helper()
	p, err := o.with()
	must(t, err)
	return p
}

// transpose is Trans if trans is set.
func transpose(trans bool) halfulp.Transpose {
	if trans {
		return halfulp.Trans
	}
	return halfulp.NoTrans
}

// fill fills an array with numbers of all kinds.
func fill(a *Array, r *rand.Rand, xs []*big.Int) *Array {
	v := a.Vector(0, a.Len(), 1)
	for i := range v.n {
		v.Set(i, randomNumber(a.b, r, xs))
	}
	return a
}

func randomVector(b *Base, r *rand.Rand, xs []*big.Int, n int) *Vector {
	inc := 1 + r.IntN(2)
	if r.IntN(3) == 0 {
		inc = -inc
	}
	return fill(b.NewArray(3+n*2), r, xs).Vector(r.IntN(2), n, inc)
}

func randomMatrix(b *Base, r *rand.Rand, xs []*big.Int, rows, cols int) *Matrix {
	ld := max(rows, 1) + r.IntN(3)
	return fill(b.NewArray(2+ld*cols), r, xs).Matrix(r.IntN(2), rows, cols, ld)
}

// The arithmetic of the tests' loops.
func add(x, y *Number) *Number { return x.b.NewNumber().Add(x, y) }
func sub(x, y *Number) *Number { return x.b.NewNumber().Sub(x, y) }
func mul(x, y *Number) *Number { return x.b.NewNumber().Mul(x, y) }

// blockSum is steps 1 and 2 of Reduce3 for one block, as a GPU's threads would do it.
func blockSum(b *Base, get func(i int) *Number, n, block, blocks, size int) *Number {
	sd := make([]*Number, size)
	for t := range sd {
		sd[t] = b.NewNumber()
		for i := block*size*2 + t; i < n; i += size * 2 * blocks {
			sd[t] = add(sd[t], get(i))
			if i+size < n {
				sd[t] = add(sd[t], get(i+size))
			}
		}
	}
	for i := MaxBlockSize; i >= 2; i /= 2 {
		for t := range sd {
			if t < i/2 && t+i/2 < size {
				sd[t] = add(sd[t], sd[t+i/2])
			}
		}
	}
	return sd[0]
}

func sum3(b *Base, get func(i int) *Number, n, blocks, size int) *Number {
	var s *Number
	for k := range blocks {
		g := blockSum(b, get, n, k, blocks, size)
		if s == nil {
			s = g
		} else {
			s = add(s, g)
		}
	}
	return s
}

func blasBases(t *testing.T) []*Base {
	var bases []*Base
	for _, f := range []func() (*Base, error){
		func() (*Base, error) { return SummationBase(60) },
		func() (*Base, error) { return GemvBase(106) },
		func() (*Base, error) { return GemvBase(424) },
		func() (*Base, error) { return NewBase([]uint32{1 << 16, 1<<31 - 1, 3}) },
	} {
		b, err := f()
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, b)
	}
	return bases
}

var optionSets = []*Options{
	nil,
	{Options: halfulp.Options{Threads: 1}, Blocks: 1, BlockSize: 1},
	{Options: halfulp.Options{Threads: 5}, Blocks: 3, BlockSize: 7},
	{Options: halfulp.Options{Threads: math.MaxInt}, Blocks: 4, BlockSize: 16},
}

func wantSame(t *testing.T, what string, got, want *Number) {
	t.Helper()
	if !same(got, want) {
		t.Fatalf("%s: %s, want %s", what, describe(got), describe(want))
	}
}

func TestSums(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 30)
		xs := significands(b, r, 50)
		for _, n := range []int{0, 1, 2, 3, 7, 64, 100, 300} {
			x, y := randomVector(b, r, xs, n), randomVector(b, r, xs, n)
			s := b.NewNumber()
			for i := range n {
				if i == 0 {
					s = x.At(0)
				} else {
					s = add(s, x.At(i))
				}
			}
			wantSame(t, "Reduce1", sumOf(Reduce1(x, nil)), s)

			// Reduce2: subtrees of powers of two, the last ones first.
			var tree func(lo, n int) *Number
			tree = func(lo, n int) *Number {
				if n == 1 {
					return x.At(lo)
				}
				return add(tree(lo, n/2), tree(lo+n/2, n/2))
			}
			var parts []*Number
			for lo, bit := 0, 1<<20; bit > 0; bit /= 2 {
				if n&bit != 0 {
					parts = append(parts, tree(lo, bit))
					lo += bit
				}
			}
			s = b.NewNumber()
			for i := len(parts) - 1; i >= 0; i-- {
				if i == len(parts)-1 {
					s = parts[i]
				} else {
					s = add(parts[i], s)
				}
			}
			wantSame(t, "Reduce2", sumOf(Reduce2(x, nil)), s)

			for _, o := range optionSets {
				p := blocksOf(t, o)
				wantSame(t, "Reduce3", sumOf(Reduce3(x, o)), sum3(b, x.At, n, p.Blocks, p.BlockSize))
				wantSame(t, "Dot", sumOf(Dot(x, y, o)), sum3(b, func(i int) *Number { return mul(x.At(i), y.At(i)) }, n, p.Blocks, p.BlockSize))
				asum := sum3(b, func(i int) *Number { return b.NewNumber().Abs(x.At(i)) }, n, p.Blocks, p.BlockSize)
				wantSame(t, "Asum", sumOf(Asum(x, o)), asum)
				wantSame(t, "Nrm", sumOf(Nrm(halfulp.OneNorm, x, o)), asum)
				squares := sum3(b, func(i int) *Number { return mul(x.At(i), x.At(i)) }, n, p.Blocks, p.BlockSize)
				wantSame(t, "Nrm2", sumOf(Nrm2(x, o)), b.NewNumber().Sqrt(squares))
			}
			s = b.NewNumber()
			for i := range n {
				if c, _ := s.CmpAbs(x.At(i)); c < 0 {
					s = b.NewNumber().Abs(x.At(i))
				}
			}
			wantSame(t, "Nrm", sumOf(Nrm(halfulp.InfNorm, x, nil)), s)
		}
	}
}

func TestLevel1(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 31)
		xs := significands(b, r, 50)
		for _, n := range []int{0, 1, 5, 200} {
			for _, o := range optionSets[:3] {
				x, y, w := randomVector(b, r, xs, n), randomVector(b, r, xs, n), randomVector(b, r, xs, n)
				alpha, beta := randomNumber(b, r, xs), randomNumber(b, r, xs)
				x0, y0 := x.Clone(), y.Clone()
				at := func(i int) (u, v *Number) { return x0.At(i), y0.At(i) }
				check := func(what string, got *Vector, want func(u, v *Number) *Number) {
					t.Helper()
					for i := range n {
						wantSame(t, what, got.At(i), want(at(i)))
					}
				}
				done(Scal(alpha, x, o))
				check("Scal", x, func(u, _ *Number) *Number { return mul(alpha, u) })
				done(Axpy(alpha, x0, y, o))
				check("Axpy", y, func(u, v *Number) *Number { return add(mul(alpha, u), v) })
				done(Waxpby(alpha, x0, beta, y0, w, o))
				check("Waxpby", w, func(u, v *Number) *Number { return add(mul(alpha, u), mul(beta, v)) })
				x, y = x0.Clone(), y0.Clone()
				done(Rot(x, y, alpha, beta, o))
				check("Rot x", x, func(u, v *Number) *Number { return add(mul(alpha, u), mul(beta, v)) })
				check("Rot y", y, func(u, v *Number) *Number { return sub(mul(alpha, v), mul(beta, u)) })
				done(Maxpy(alpha, x0, y0, w, o))
				check("Maxpy", w, func(u, v *Number) *Number { return sub(v, mul(alpha, u)) })
				p := blocksOf(t, o)
				x, y = x0.Clone(), y0.Clone()
				got := sumOf(AxpyDot(alpha, x, y0, w, o))
				check("AxpyDot", x, func(u, v *Number) *Number { return sub(u, mul(alpha, v)) })
				wantSame(t, "AxpyDot", got, sum3(b, func(i int) *Number { return mul(x.At(i), w.At(i)) }, n, p.Blocks, p.BlockSize))
				got = sumOf(AxpyDot(alpha, y, y, y, o)) // all in place
				check("AxpyDot in place", y, func(_, v *Number) *Number { return sub(v, mul(alpha, v)) })
				wantSame(t, "AxpyDot in place", got, sum3(b, func(i int) *Number { return mul(y.At(i), y.At(i)) }, n, p.Blocks, p.BlockSize))
				x = x0.Clone()
				done(Waxpby(alpha, x, beta, x, x, o)) // in place
				check("Waxpby in place", x, func(u, _ *Number) *Number { return add(mul(alpha, u), mul(beta, u)) })
				x = x0.Clone()
				done(Axpy(alpha, x, x, o))
				check("Axpy in place", x, func(u, _ *Number) *Number { return add(mul(alpha, u), u) })
			}
		}
	}
}

func TestGemv(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 32)
		xs := significands(b, r, 50)
		for _, shape := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {2, 40}, {70, 3}, {9, 9}} {
			for _, trans := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
				for k, o := range optionSets {
					rows, cols := shape[0], shape[1]
					a := randomMatrix(b, r, xs, rows, cols)
					at := func(i, j int) *Number { return a.At(i, j) }
					if isTrans(trans) {
						rows, cols = cols, rows
						at = func(i, j int) *Number { return a.At(j, i) }
					}
					x, y := randomVector(b, r, xs, cols), randomVector(b, r, xs, rows)
					alpha, beta := randomNumber(b, r, xs), randomNumber(b, r, xs)
					switch k {
					case 1:
						beta = b.NewNumber()
						if rows > 0 {
							y.Set(0, b.NewNumber().SetFloat64(math.NaN())) // unread
						}
					case 2:
						alpha = b.NewNumber()
						if cols > 0 {
							x.Set(0, b.NewNumber().SetFloat64(math.NaN())) // unread
						}
					}
					want, basic := y.Clone(), y.Clone()
					p := blocksOf(t, o)
					for i := range rows {
						by := b.NewNumber()
						if !beta.IsZero() {
							by = mul(beta, y.At(i))
						}
						want.Set(i, by)
						basic.Set(i, by)
						if alpha.IsZero() {
							continue
						}
						s := blockSum(b, func(j int) *Number { return mul(at(i, j), mul(alpha, x.At(j))) }, cols, 0, 1, p.BlockSize)
						want.Set(i, add(s, by))
						s = by
						if isTrans(trans) {
							s = b.NewNumber()
						}
						for j := range cols {
							if isTrans(trans) {
								s = add(s, mul(at(i, j), x.At(j)))
							} else {
								s = add(s, mul(at(i, j), mul(alpha, x.At(j))))
							}
						}
						if isTrans(trans) {
							s = add(by, mul(alpha, s))
						}
						basic.Set(i, s)
					}
					got := y.Clone()
					done(Gemv(trans, alpha, a, x, beta, got, o))
					if !got.Same(want) {
						t.Fatalf("Gemv %v %v options %d differs", shape, trans, k)
					}
					published := Options{Variant: Published}
					if o != nil {
						published = *o
						published.Variant = Published
					}
					got = y.Clone()
					done(Gemv(trans, alpha, a, x, beta, got, &published))
					if !got.Same(want) {
						t.Fatalf("Gemv as published %v %v options %d differs", shape, trans, k)
					}
					got = y.Clone()
					done(GemvBasic(trans, alpha, a, x, beta, got, o))
					if !got.Same(basic) {
						t.Fatalf("GemvBasic %v %v options %d differs", shape, trans, k)
					}
				}
			}
		}
	}
}

// TestGemvBound checks (18) and (19) on random, spread and cancelling data.
func TestGemvBound(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 33)
		for round := range 24 {
			n := 1 + r.IntN(30)
			draw := func() *Number {
				x := r.Float64() - 0.5
				if round%3 == 1 {
					x = math.Ldexp(x, r.IntN(400)-200)
				}
				return b.NewNumber().SetFloat64(x)
			}
			a, x, y := b.NewMatrix(n, n), b.NewVector(n), b.NewVector(n)
			for i := range n {
				x.Set(i, draw())
				y.Set(i, draw())
				for j := range n {
					a.Set(i, j, draw())
				}
			}
			alpha, beta := draw(), draw()
			if round%3 == 2 { // the second half of each row cancels the first
				for i := range n {
					for j := range n / 2 {
						a.Set(i, n-1-j, b.NewNumber().Neg(a.At(i, j)))
						x.Set(n-1-j, x.At(j))
					}
				}
			}
			trans := round%2 == 1 && round%3 != 2
			exactly := func(z *Number) *big.Float {
				f, err := z.Big()
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			exact := make([]*big.Float, n)
			scale := exactFloat()
			norm := exactFloat()
			for i := range n {
				s := exactFloat().Mul(exactly(beta), exactly(y.At(i)))
				scale.Add(scale, exactFloat().Abs(s))
				for j := range n {
					e := a.At(i, j)
					if trans {
						e = a.At(j, i)
					}
					p := exactFloat().Mul(exactly(alpha), exactly(e))
					p.Mul(p, exactly(x.At(j)))
					s.Add(s, p)
					scale.Add(scale, p.Abs(p))
				}
				exact[i] = s
				norm.Add(norm, exactFloat().Abs(s))
			}
			for name, f := range map[string]func(halfulp.Transpose, *Number, *Matrix, *Vector, *Number, *Vector, *Options) error{
				"Gemv": Gemv, "GemvBasic": GemvBasic, "Gemv as published": gemvPublished,
			} {
				var bound Bound
				got := y.Clone()
				done(f(transpose(trans), alpha, a, x, beta, got, &Options{Bound: &bound}))
				if after := boundFrom(GemvBound(context.Background(), transpose(trans), alpha, a, x, beta, y, got)); after != bound {
					t.Fatalf("%s: bound %v, GemvBound %v", name, bound, after)
				}
				diff := exactFloat()
				for i := range n {
					d := exactFloat().Sub(exactly(got.At(i)), exact[i])
					diff.Add(diff, d.Abs(d))
				}
				if diff.Cmp(bound.Absolute.Big()) > 0 {
					t.Fatalf("%s: error %v, bound %v", name, diff, bound.Absolute)
				}
				if rel := new(big.Float).SetPrec(200).Quo(diff, norm); rel.Cmp(bound.Relative.Big()) > 0 {
					t.Fatalf("%s: relative error %v, bound %v", name, rel, bound.Relative)
				}
				// The bound is the formula, not more: γ times the norm.
				u := new(big.Float).SetPrec(200).Quo(big.NewFloat(4), new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).SetInt(b.bigM)))
				k := u.Mul(u, big.NewFloat(float64(n+2)))
				want := k.Quo(k, new(big.Float).Sub(big.NewFloat(1), k))
				want.Mul(want, scale)
				if ratio, _ := new(big.Float).Quo(bound.Absolute.Big(), want).Float64(); ratio < 1 || ratio > 1+1e-5 {
					t.Fatalf("%s: bound %v, formula %v", name, bound.Absolute, want)
				}
				if round%3 == 0 && !(bound.Relative.I < 0) && b.prec > 30 {
					t.Errorf("%s: relative bound %v on random data", name, bound.Relative)
				}
			}
		}
	}
}

func TestMatrixRoutines(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 34)
		xs := significands(b, r, 50)
		for _, shape := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {5, 9}, {90, 2}} {
			for _, o := range optionSets[:3] {
				rows, cols := shape[0], shape[1]
				a, c := randomMatrix(b, r, xs, rows, cols), randomMatrix(b, r, xs, rows, cols)
				l, d := randomVector(b, r, xs, rows), randomVector(b, r, xs, cols)
				alpha, beta := randomNumber(b, r, xs), randomNumber(b, r, xs)
				clone := func(m *Matrix) *Matrix {
					z := b.NewMatrix(m.rows, m.cols)
					for j := range m.cols {
						for i := range m.rows {
							z.Set(i, j, m.At(i, j))
						}
					}
					return z
				}
				check := func(what string, got *Matrix, want func(i, j int) *Number) {
					t.Helper()
					for j := range cols {
						for i := range rows {
							wantSame(t, what, got.At(i, j), want(i, j))
						}
					}
				}
				sum := func(i, j int) *Number { return add(mul(alpha, a.At(i, j)), mul(beta, c.At(i, j))) }
				z := b.NewMatrixLD(rows, cols, rows+2)
				done(GeAdd(alpha, a, beta, c, z, o))
				check("GeAdd", z, sum)
				z = clone(c)
				done(GeAcc(alpha, a, beta, z, o))
				check("GeAcc", z, sum)
				z = clone(a)
				done(GeDiagScale(halfulp.Left, l, z, o))
				check("GeDiagScale left", z, func(i, j int) *Number { return mul(l.At(i), a.At(i, j)) })
				z = clone(a)
				done(GeDiagScale(halfulp.Right, d, z, o))
				check("GeDiagScale right", z, func(i, j int) *Number { return mul(a.At(i, j), d.At(j)) })
				z = clone(a)
				done(GeLRScale(l, d, z, o))
				check("GeLRScale", z, func(i, j int) *Number { return mul(mul(l.At(i), a.At(i, j)), d.At(j)) })
				z = clone(a)
				done(Ger(alpha, l, d, z, o))
				check("Ger", z, func(i, j int) *Number { return add(a.At(i, j), mul(mul(alpha, l.At(i)), d.At(j))) })

				p := blocksOf(t, o)
				for _, m := range []halfulp.Norm{halfulp.OneNorm, halfulp.InfNorm} {
					lines, length := cols, rows
					if m == halfulp.InfNorm {
						lines, length = rows, cols
					}
					want := b.NewNumber()
					for i := range lines {
						s := blockSum(b, func(j int) *Number {
							if m == halfulp.InfNorm {
								return b.NewNumber().Abs(a.At(i, j))
							}
							return b.NewNumber().Abs(a.At(j, i))
						}, length, 0, 1, p.BlockSize)
						if c, _ := want.Cmp(s); c < 0 {
							want = s
						}
					}
					wantSame(t, "GeNorm", sumOf(GeNorm(m, a, o)), want)
				}
			}
		}
		if n := sumOf(GeNorm(halfulp.OneNorm, b.MatrixOf(halfulp.NewMatrixFloat64(1, 2, 1, []float64{1, math.Inf(1)})), nil)); !n.IsNaN() {
			t.Errorf("norm %v with a NaN", n)
		}
	}
}

func TestGemmAndSpMV(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 35)
		xs := significands(b, r, 50)
		for _, shape := range [][3]int{{0, 2, 2}, {2, 0, 3}, {1, 1, 1}, {4, 5, 6}, {20, 3, 9}} {
			for k := range 8 {
				m, inner, n := shape[0], shape[1], shape[2]
				transA, transB := k&1 != 0, k&2 != 0
				a, c, d := randomMatrix(b, r, xs, m, inner), randomMatrix(b, r, xs, inner, n), randomMatrix(b, r, xs, m, n)
				aAt, bAt := a.At, c.At
				if transA {
					a = randomMatrix(b, r, xs, inner, m)
					aAt = func(i, j int) *Number { return a.At(j, i) }
				}
				if transB {
					c = randomMatrix(b, r, xs, n, inner)
					bAt = func(i, j int) *Number { return c.At(j, i) }
				}
				alpha, beta := randomNumber(b, r, xs), randomNumber(b, r, xs)
				if k == 4 {
					alpha = b.NewNumber()
				}
				if k > 4 {
					beta = b.NewNumber()
				}
				var want []*Number
				for j := range n {
					for i := range m {
						s := b.NewNumber()
						for l := range inner {
							s = add(s, mul(aAt(i, l), bAt(l, j)))
						}
						s = mul(alpha, s)
						if !beta.IsZero() {
							s = add(s, mul(beta, d.At(i, j)))
						}
						want = append(want, s)
					}
				}
				o := withThreads(k % 3)
				done(Gemm(transpose(transA), transpose(transB), alpha, a, c, beta, d, &o))
				for j := range n {
					for i := range m {
						wantSame(t, "Gemm", d.At(i, j), want[i+j*m])
					}
				}
			}
		}

		const rows, cols = 30, 20
		ptr, index := []int{0}, []int32{}
		for range rows {
			for range r.IntN(6) {
				index = append(index, int32(r.IntN(cols)))
			}
			ptr = append(ptr, len(index))
		}
		values, x, y := randomVector(b, r, xs, len(index)), randomVector(b, r, xs, cols), randomVector(b, r, xs, rows)
		p, j := slices.Clone(ptr), slices.Clone(index)
		a, err := NewCSR(rows, cols, p, j, values)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p { // they are no storage
			p[k] = math.MaxInt32
		}
		for k := range j {
			j[k] = math.MaxInt32
		}
		if m, n := a.Dims(); m != rows || n != cols {
			t.Errorf("%d x %d, want %d x %d", m, n, rows, cols)
		}
		done(SpMV(a, x, y, nil))
		for i := range rows {
			s := b.NewNumber()
			for k := ptr[i]; k < ptr[i+1]; k++ {
				s = add(s, mul(values.At(k), x.At(int(index[k]))))
			}
			wantSame(t, "SpMV", y.At(i), s)
		}
		for _, c := range []struct {
			rows, cols int
			ptr        []int
			index      []int32
		}{{1, 1, []int{0}, nil}, {1, 1, []int{1, 1}, nil}, {2, 1, []int{0, 1, 0}, nil}, {1, 1, []int{0, 1}, nil}, {-1, 1, nil, nil}, {1, -1, []int{0, 0}, nil}} {
			if _, err := NewCSR(c.rows, c.cols, c.ptr, c.index, b.NewVector(len(c.index))); !errors.Is(err, ErrSparse) {
				t.Errorf("NewCSR %v: %v", c, err)
			}
		}
		for _, j := range []int32{-1, 1} {
			if _, err := NewCSR(1, 1, []int{0, 1}, []int32{j}, b.NewVector(1)); !errors.Is(err, ErrSparse) {
				t.Errorf("column %d: %v", j, err)
			}
		}
	}
}

func TestArrays(t *testing.T) {
	b, err := SummationBase(120)
	if err != nil {
		t.Fatal(err)
	}
	r := newRand(t, 36)
	xs := significands(b, r, 20)
	v := randomVector(b, r, xs, 10)
	a, off, inc := v.Array()
	if a.Base() != b || len(a.Digits) != b.Len()*a.Len() || len(a.Eval) != 2*a.Len() {
		t.Fatal("layout")
	}
	for i := range 10 {
		z, k := v.At(i), off+i*inc
		sign := int32(0)
		if z.Sign() < 0 {
			sign = 1
		}
		if a.Sign[k] != sign || int(a.Exp[k]) != z.Exponent() || (Interval{a.Eval[k], a.Eval[a.Len()+k]}) != z.Evaluation() {
			t.Fatalf("number %d", i)
		}
		for j, d := range z.Significand() {
			if a.Digits[k*b.Len()+j] != d {
				t.Fatalf("digit %d of number %d", j, i)
			}
		}
	}
	// A negative stride counts from the end, as in BLAS.
	data := []float64{1, 2, 3, 4, 5}
	w := b.VectorFloat64(data)
	back := w.arr.Vector(0, 3, -2)
	for i, want := range []float64{5, 3, 1} {
		if got := back.At(i).Float64(); got != want {
			t.Errorf("entry %d of a reversed view: %v", i, got)
		}
	}
	if got := w.Slice(1, 3).At(1).Float64(); got != 3 {
		t.Errorf("entry of a slice: %v", got)
	}
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD, halfulp.MP(64)} {
		h := halfulp.NewVectorFloat64(5, 1, data).Convert(f)
		if !b.VectorOf(h).In(f).Same(h) {
			t.Errorf("there and back in %v", f)
		}
		m := halfulp.NewMatrixFloat64(2, 2, 3, data).Convert(f)
		if !b.MatrixOf(m).In(f).Same(m) {
			t.Errorf("there and back in %v", f)
		}
	}
	x, y := b.NewMatrix(3, 2), b.NewMatrix(3, 2)
	if !x.Same(y) || x.Same(b.NewMatrix(2, 3)) {
		t.Error("Same")
	}
	y.Set(2, 1, b.NewNumber().SetInt64(1))
	if x.Same(y) {
		t.Error("Same")
	}
}

func TestCheck(t *testing.T) {
	for _, b := range testBases(t) {
		r := newRand(t, 38)
		x := b.NewVector(40)
		xs := significands(b, r, 20)
		for i := range x.n {
			x.Set(i, mul(randomNumber(b, r, xs), randomNumber(b, r, xs)))
		}
		x.Set(0, b.NewNumber().SetFloat64(math.NaN()))
		x.Set(1, b.NewNumber())
		x.Set(2, b.NewNumber().SetInt64(100))
		a := x.arr
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
		above := b.Residues(new(big.Int).Add(b.limInt, big.NewInt(1)))
		for name, corrupt := range map[string]func(a *Array){
			"residue":       func(a *Array) { a.Digits[2*b.n] = b.m[0] },
			"another":       func(a *Array) { a.Digits[2*b.n] ^= 1 },
			"sign":          func(a *Array) { a.Sign[2] = 2 },
			"sign of 0":     func(a *Array) { a.Sign[1] = 1 },
			"exponent":      func(a *Array) { a.Exp[2] = maxExp + 1 },
			"exponent of 0": func(a *Array) { a.Exp[1] = 1 },
			"lower":         func(a *Array) { a.Eval[2] = a.Eval[2].Scale(1) },
			"upper":         func(a *Array) { a.Eval[a.Len()+2] = a.Eval[a.Len()+2].Scale(-1) },
			"wide":          func(a *Array) { a.Eval[2] = a.Eval[2].Scale(-1) },
			"no bound":      func(a *Array) { a.Eval[2] = XFloat{} },
			"infinity":      func(a *Array) { a.Eval[a.Len()+2] = xInf },
			"bound of 0":    func(a *Array) { a.Eval[1] = XFloat{1, -5} },
			"length":        func(a *Array) { a.Sign = a.Sign[1:] },
			"significand":   func(a *Array) { copy(a.Digits[2*b.n:], above) },
		} {
			c := x.Clone().arr
			corrupt(c)
			if err := c.Check(); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestShapePanics(t *testing.T) {
	b, err := SummationBase(60)
	if err != nil {
		t.Fatal(err)
	}
	c, err := SummationBase(120)
	if err != nil {
		t.Fatal(err)
	}
	one, v, m := b.NewNumber().SetInt64(1), b.NewVector(3), b.NewMatrix(3, 4)
	for name, f := range map[string]func(){
		errNegativeDim: func() { b.NewVector(-1) },
		errInc:         func() { v.arr.Vector(0, 1, 0) },
		errLD:          func() { b.NewMatrixLD(3, 4, 2) },
		errShort:       func() { v.arr.Vector(1, 3, 1) },
		errIndex:       func() { v.At(3) },
		errShape:       func() { done(Axpy(one, v, b.NewVector(4), nil)) },
		errTranspose:   func() { done(Gemv('x', one, m, v, one, v, nil)) },
		errNorm:        func() { sumOf(Nrm(7, v, nil)) },
		errSide:        func() { done(GeDiagScale(3, v, m, nil)) },
		errBase:        func() { done(Scal(c.NewNumber(), v, nil)) },
		errResidues:    func() { b.CRT([]uint32{1}) },
		errRange:       func() { b.Residues(b.Range()) },
		errScale:       func() { b.ScaleDown(make([]uint32, b.n), -1) },
	} {
		func() {
			defer func() {
				if e := recover(); e != name {
					t.Errorf("%s: %v", name, e)
				}
			}()
			f()
		}()
	}
	for name, f := range map[string]func(){
		"Gemv": func() { done(Gemv(halfulp.NoTrans, one, m, v, one, v, nil)) },
		"Gemm": func() { done(Gemm(halfulp.NoTrans, halfulp.NoTrans, one, m, m, one, m, nil)) },
		"Ger":  func() { done(Ger(one, v, v, m, nil)) },
		"Add":  func() { done(GeAdd(one, m, one, m, b.NewMatrix(4, 3), nil)) },
		"LR":   func() { done(GeLRScale(v, v, m, nil)) },
		"SpMV": func() {
			a, _ := NewCSR(1, 1, []int{0, 0}, nil, b.NewVector(0))
			done(SpMV(a, v, v, nil))
		},
	} {
		func() {
			defer func() {
				if e := recover(); e != errShape {
					t.Errorf("%s: %v", name, e)
				}
			}()
			f()
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	b, err := GemvBase(212)
	if err != nil {
		t.Fatal(err)
	}
	r := newRand(t, 37)
	xs := significands(b, r, 20)
	x, y := randomVector(b, r, xs, 1000), randomVector(b, r, xs, 1000)
	o := &Options{Options: halfulp.Options{Threads: 1}, Blocks: 2, BlockSize: 8}
	alpha := randomNumber(b, r, xs)
	for name, f := range map[string]func(){
		"Reduce1": func() { sumOf(Reduce1(x, nil)) },
		"Reduce2": func() { sumOf(Reduce2(x, nil)) },
		"Reduce3": func() { sumOf(Reduce3(x, o)) },
		"Dot":     func() { sumOf(Dot(x, y, o)) },
		"Axpy":    func() { done(Axpy(alpha, x, y, o)) },
	} {
		if n := testing.AllocsPerRun(3, f); n > 100 {
			t.Errorf("%s: %v allocations for 1000 numbers", name, n)
		}
	}
}

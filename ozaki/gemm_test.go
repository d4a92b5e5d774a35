package ozaki

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
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
	gemm := Gemm
	if opt.Slices == 0 {
		gemm = GemmDoubleFloat
	}
	if err := gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, a, b, beta, got, &opt); err != nil {
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
	rng := testseed.Rand(t, 1, 2)
	for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {5, 300, 7}, {20, 65, 9}} {
		for slices := 0; slices <= 9; slices++ { // 0: double-float
			for _, phi := range []float64{0.1, 2, 20} {
				a, b := testMatrix(rng, shape[0], shape[1], phi), testMatrix(rng, shape[1], shape[2], phi)
				c := testMatrix(rng, shape[0], shape[2], phi)
				name := fmt.Sprintf("%v K=%d phi=%g", shape, slices, phi)
				checkBound(t, name, 1, a, b, 0, c, Options{Slices: slices})
				checkBound(t, name, -0.7, a, b, 1.3, c, Options{Slices: slices, Block: 32, Options: halfulp.Options{MemoryLimit: 1}})
			}
		}
	}
}

// TestAdversaries checks entries against their bounds where rows and columns are of all
// kinds: zeros, 1e300 beside 1e-300, subnormal numbers, random bits.
func TestAdversaries(t *testing.T) {
	rng := testseed.Rand(t, 31, 32)
	for _, kindA := range adversaryKinds {
		for _, kindB := range adversaryKinds {
			for _, k := range []int{1, 7, 37} {
				x, y := adversaries(rng, kindA, 5, k), adversaries(rng, kindB, 4, k)
				a := halfulp.NewMatrixFloat64(k, 5, k, x.data).T()
				b := halfulp.NewMatrixFloat64(k, 4, k, y.data)
				c := testMatrix(rng, 5, 4, 3)
				for _, slices := range []int{0, 1, 2, 5, 16} {
					name := fmt.Sprintf("%s x %s, k = %d, K = %d", kindA, kindB, k, slices)
					checkBound(t, name, 1, a, b, 0, c, Options{Slices: slices})
					checkBound(t, name, 1e-200, a, b, 1e-150, c, Options{Slices: slices, Block: 16})
				}
			}
		}
	}
	// 1e300 and 1e-300 in one matrix, by rows and by entries.
	for range 20 {
		a, b := testMatrix(rng, 6, 9, 0), testMatrix(rng, 9, 6, 0)
		for i := range 6 {
			for h := range 9 {
				s := []float64{1e300, 1e-300, 1, 0x1p-1074 * 1e5}[i%4]
				a.SetFloat64(i, h, a.Float64(i, h)*s)
				b.SetFloat64(h, i, b.Float64(h, i)*[]float64{1e300, 1e-300, 0}[rng.IntN(3)])
			}
		}
		checkBound(t, "1e±300", 1, a, b, 0, halfulp.NewMatrix(halfulp.Float64, 6, 6), Options{Slices: 7})
	}
}

// TestScaling checks that powers of two on rows of A and columns of B come out again, bit for
// bit, and that rows and columns of zeros give zeros with bounds of zero.
func TestScaling(t *testing.T) {
	rng := testseed.Rand(t, 41, 42)
	a, b := testMatrix(rng, 7, 50, 1), testMatrix(rng, 50, 6, 1)
	c, scaled := halfulp.NewMatrix(halfulp.Float64, 7, 6), halfulp.NewMatrix(halfulp.Float64, 7, 6)
	bound := scaled.Clone()
	x, y := a.Clone(), b.Clone()
	shiftA, shiftB := []int{0, 900, -900, 300, -300, 1, 0}, []int{0, -800, 100, 5, 0, 0}
	for h := range 50 {
		for i := range 7 {
			x.SetFloat64(i, h, math.Ldexp(a.Float64(i, h), shiftA[i]))
		}
		for j := range 6 {
			y.SetFloat64(h, j, math.Ldexp(b.Float64(h, j), shiftB[j]))
		}
		x.SetFloat64(6, h, 0)
		y.SetFloat64(h, 5, math.Copysign(0, -1))
	}
	for slices := 1; slices <= 8; slices++ {
		mustGemm(t, 'N', 'N', 1, a, b, 0, c, &Options{Slices: slices})
		mustGemm(t, 'N', 'N', 1, x, y, 0, scaled, &Options{Slices: slices, Bound: bound})
		for i := range 7 {
			for j := range 6 {
				want := math.Ldexp(c.Float64(i, j), shiftA[i]+shiftB[j])
				if i == 6 || j == 5 {
					want = 0
					if bound.Float64(i, j) != 0 {
						t.Errorf("K = %d: bound [%d,%d] = %g of a zero", slices, i, j, bound.Float64(i, j))
					}
				}
				if got := scaled.Float64(i, j); math.Float64bits(got) != math.Float64bits(want) {
					t.Errorf("K = %d: c[%d,%d] = %g, want %g", slices, i, j, got, want)
				}
			}
		}
	}
}

func mustGemm(t *testing.T, tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt *Options) Stats {
	t.Helper()
	var s Stats
	o := *opt
	o.Stats = &s
	if err := Gemm(tA, tB, alpha, a, b, beta, c, &o); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReproducible checks that levels, threads, parts, transposes, views and overlapping
// operands change no bit.
func TestReproducible(t *testing.T) {
	rng := testseed.Rand(t, 51, 52)
	for _, n := range [][3]int{{40, 300, 30}, {45, 45, 45}} {
		m, k, n := n[0], n[1], n[2]
		a, b, c := testMatrix(rng, m, k, 1), testMatrix(rng, k, n, 1), testMatrix(rng, m, n, 1)
		want := c.Clone()
		base := Options{Slices: 4, Block: 100}
		mustGemm(t, 'N', 'N', 1.5, a, b, -0.5, want, &base)
		check := func(name string, got *halfulp.Matrix) {
			t.Helper()
			if !got.Same(want) {
				t.Errorf("%s: other bits", name)
			}
		}
		for _, level := range isa.Levels() {
			restore := isa.Force(level)
			for _, how := range []halfulp.Options{{Threads: 1}, {Threads: 5}, {MemoryLimit: 1}, {MemoryLimit: 100000}} {
				o := Options{Options: how, Slices: base.Slices, Block: base.Block}
				last := 0.0
				o.Progress = func(done float64) {
					if done <= last || done > 1 {
						t.Errorf("progress %g after %g", done, last)
					}
					last = done
				}
				got := c.Clone()
				mustGemm(t, 'N', 'N', 1.5, a, b, -0.5, got, &o)
				check(fmt.Sprintf("%s, %d threads, %d bytes", level, o.Threads, o.MemoryLimit), got)
				if last != 1 {
					t.Errorf("progress ended at %g", last)
				}
			}
			restore()
		}
		got := c.Clone()
		mustGemm(t, 'T', 'C', 1.5, a.T().Clone(), b.T().Clone(), -0.5, got, &base)
		check("transposes", got)
		wide := halfulp.NewMatrixLD(halfulp.Float64, n, m, n+3).T()
		for i := range m {
			for j := range n {
				wide.SetFloat64(i, j, c.Float64(i, j))
			}
		}
		mustGemm(t, 'N', 'N', 1.5, a, b, -0.5, wide, &base)
		check("rows of C", wide.Clone())
		if m == k && k == n {
			for _, x := range [][2]*halfulp.Matrix{{a, b}, {b, a}} {
				square := x[0].Clone()
				mustGemm(t, 'N', 'N', 1, x[0], x[1], 0, square, &base)
				over := x[0].Clone()
				mustGemm(t, 'N', 'N', 1, over, x[1], 0, over, &base)
				if !over.Same(square) {
					t.Error("C in place of A: other bits")
				}
				over = x[1].Clone()
				mustGemm(t, 'N', 'N', 1, x[0], over, 0, over, &base)
				if !over.Same(square) {
					t.Error("C in place of B: other bits")
				}
			}
		}
	}
}

// TestDoubleFloat checks the accuracy of double-float products, and that levels, threads and
// parts change no bit.
func TestDoubleFloat(t *testing.T) {
	rng := testseed.Rand(t, 91, 92)
	a, b, c := testMatrix(rng, 21, 300, 1), testMatrix(rng, 300, 13, 1), testMatrix(rng, 21, 13, 1)
	want := c.Clone()
	if err := GemmDoubleFloat('N', 'N', 2, a, b, -1, want, nil); err != nil {
		t.Fatal(err)
	}
	for j := range 13 {
		for i := range 21 {
			exact, _ := exactEntry(2, a, b, i, j, -1, c.Float64(i, j)).Float64()
			if d := math.Abs(want.Float64(i, j) - exact); d > 1e-11 {
				t.Errorf("c[%d,%d] = %g, exactly %g", i, j, want.Float64(i, j), exact)
			}
		}
	}
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for _, o := range []halfulp.Options{{Threads: 1}, {Threads: 3, MemoryLimit: 1}} {
			got := c.Clone()
			if err := GemmDoubleFloat('T', 'N', 2, a.T(), b, -1, got, &Options{Options: o}); err != nil {
				t.Fatal(err)
			}
			if !got.Same(want) {
				t.Errorf("%v, %d threads: other bits", level, o.Threads)
			}
		}
		restore()
	}
}

// TestSparse checks that zero slices are left out: integers need one slice.
func TestSparse(t *testing.T) {
	rng := testseed.Rand(t, 61, 62)
	a, b := halfulp.NewMatrix(halfulp.Float64, 30, 40), halfulp.NewMatrix(halfulp.Float64, 40, 20)
	for h := range 40 {
		for i := range 30 {
			a.SetFloat64(i, h, float64(rng.IntN(65)-32))
		}
		for j := range 20 {
			b.SetFloat64(h, j, float64(rng.IntN(65)-32))
		}
	}
	c := halfulp.NewMatrix(halfulp.Float64, 30, 20)
	if s := mustGemm(t, 'N', 'N', 1, a, b, 0, c, &Options{Slices: 5}); s.Products != 1 || s.Skipped != 14 {
		t.Errorf("%d products, %d left out", s.Products, s.Skipped)
	}
	if worst := checkBound(t, "integers", 1, a, b, 0, c, Options{Slices: 5}); worst != 0 {
		t.Errorf("error of integers: %g of the bound", worst)
	}
}

// TestTolerance checks that the number of slices chosen is the smallest whose bound holds.
func TestTolerance(t *testing.T) {
	rng := testseed.Rand(t, 71, 72)
	a, b := testMatrix(rng, 20, 200, 1), testMatrix(rng, 200, 15, 1)
	norm := func(x *halfulp.Vector) float64 {
		s := 0.0
		for i := range x.Len() {
			s = math.Hypot(s, x.Float64(i))
		}
		return s
	}
	c := halfulp.NewMatrix(halfulp.Float64, 20, 15)
	share := func(slices int) float64 {
		bound := c.Clone()
		mustGemm(t, 'N', 'N', 2, a, b, 0, c, &Options{Slices: slices, Bound: bound, Block: 64})
		most := 0.0
		for i := range 20 {
			for j := range 15 {
				most = max(most, bound.Float64(i, j)/(2*norm(a.Row(i))*norm(b.Col(j))))
			}
		}
		return most
	}
	last := 0
	for _, tolerance := range []float64{1, 1e-3, 1e-5, 1e-8, 1e-11, 1e-14} {
		s := mustGemm(t, 'N', 'N', 2, a, b, 0, c, &Options{Tolerance: tolerance, Block: 64})
		if got := share(s.Slices); got > tolerance {
			t.Errorf("tolerance %g: %d slices have %g", tolerance, s.Slices, got)
		}
		if s.Slices > 1 {
			if got := share(s.Slices - 1); got < tolerance*0.99 {
				t.Errorf("tolerance %g: %d slices chosen, but %d have %g", tolerance, s.Slices, s.Slices-1, got)
			}
		}
		if s.Slices < last {
			t.Errorf("tolerance %g: %d slices, a larger one %d", tolerance, s.Slices, last)
		}
		last = s.Slices
	}
	if err := Gemm('N', 'N', 1, a, b, 0, c, &Options{Tolerance: 1e-17}); !errors.Is(err, ErrTolerance) {
		t.Errorf("tolerance 1e-17: error %v", err)
	}
	zero := halfulp.NewMatrix(halfulp.Float64, 20, 200)
	if s := mustGemm(t, 'N', 'N', 1, zero, b, 1.0/3, c, &Options{Tolerance: 1e-15}); s.Slices != 1 {
		t.Errorf("%d slices of zeros", s.Slices)
	}
	if err := Gemm('N', 'N', 1, zero, b, 1.0/3, c, &Options{Tolerance: 1e-17}); !errors.Is(err, ErrTolerance) {
		t.Errorf("tolerance 1e-17 of zeros: error %v", err)
	}
}

// TestMoreSlices checks on the paper's data that more slices never have a larger bound.
func TestMoreSlices(t *testing.T) {
	rng := testseed.Rand(t, 81, 82)
	k := 2048
	if testlength.Slow() {
		k = 512
	}
	for _, phi := range []float64{0.1, 1, 2, 4} {
		a, b := testMatrix(rng, 12, k, phi), testMatrix(rng, k, 12, phi)
		c := halfulp.NewMatrix(halfulp.Float64, 12, 12)
		before := c.Clone()
		fill(rng, before, []float64{math.Inf(1)}, 1)
		for slices := 1; slices <= 7; slices++ {
			bound := c.Clone()
			mustGemm(t, 'N', 'N', 1, a, b, 0, c, &Options{Slices: slices, Bound: bound})
			for i := range 12 {
				for j := range 12 {
					if x, y := bound.Float64(i, j), before.Float64(i, j); x > y {
						t.Errorf("phi = %g: bound [%d,%d] is %g for %d slices, %g for one less", phi, i, j, x, slices, y)
					}
				}
			}
			before = bound
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, s := range [][3]int{{0, 0, 0}, {0, 3, 2}, {2, 3, 0}, {2, 0, 3}} {
		a, b := halfulp.NewMatrix(halfulp.Float64, s[0], s[1]), halfulp.NewMatrix(halfulp.Float64, s[1], s[2])
		c := halfulp.NewMatrix(halfulp.Float64, s[0], s[2])
		fill(testseed.Rand(t, 1, 1), c, []float64{3}, 1)
		bound := c.Clone()
		for _, o := range []Options{{Slices: 3, Bound: bound}, {Tolerance: 1e-5}} {
			mustGemm(t, 'N', 'N', 1, a, b, 0.5, c, &o)
		}
		if s[0] > 0 && s[1] == 0 && c.Float64(1, 2) != 0.75 {
			t.Errorf("%v: %g, want 0.75", s, c.Float64(1, 2))
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := halfulp.Identity(halfulp.Float64, 3)
	if err := Gemm('N', 'N', 1, a, a, 0, a.Clone(), &Options{Slices: 2, Options: halfulp.Options{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestEmptyAtTheEnd has empty views that begin beyond the storage of their matrix.
func TestEmptyAtTheEnd(t *testing.T) {
	a := halfulp.NewMatrix(halfulp.Float64, 3, 2).T().Slice(0, 2, 3, 3) // 2 x 0
	c := halfulp.NewMatrix(halfulp.Float64, 3, 3)
	for i := range 2 {
		c.SetFloat64(i, 1, 7)
	}
	d := c.Slice(0, 2, 0, 2)
	mustGemm(t, 'N', 'T', 1, a, a, 2, d, &Options{Slices: 2})
	for i := range 2 {
		if d.Float64(i, 0) != 0 || d.Float64(i, 1) != 14 {
			t.Errorf("row %d of 2 C: %v, %v", i, d.Float64(i, 0), d.Float64(i, 1))
		}
	}
	mustGemm(t, 'N', 'N', 1, c.Slice(0, 2, 0, 3), c.Slice(0, 3, 3, 3), 0, c.Slice(1, 3, 3, 3), &Options{Slices: 2})
}

// TestBackwards has matrices of negative strides.
func TestBackwards(t *testing.T) {
	rng := testseed.Rand(t, 71, 72)
	x, y, z := halfulp.NewVector(halfulp.Float64, 9), halfulp.NewVector(halfulp.Float64, 1), halfulp.NewVector(halfulp.Float64, 9)
	for _, v := range []*halfulp.Vector{x, y, z} {
		for i := range v.Len() {
			v.SetFloat64(i, rng.NormFloat64())
		}
	}
	back := func(v *halfulp.Vector) *halfulp.Matrix { return v.Stride(-2).Matrix() }
	for _, gemm := range []func(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, o *Options) error{Gemm, GemmDoubleFloat} {
		for _, beta := range []float64{0, 3} {
			c, bound := z.Clone(), z.Clone()
			want, wantBound := back(z).Clone(), back(z).Clone()
			if err := gemm('N', 'N', 2, back(x).Clone(), y.Matrix(), beta, want, &Options{Slices: 3, Bound: wantBound}); err != nil {
				t.Fatal(err)
			}
			if err := gemm('N', 'N', 2, back(x), y.Matrix(), beta, back(c), &Options{Slices: 3, Bound: back(bound)}); err != nil {
				t.Fatal(err)
			}
			if !back(c).Same(want) || !back(bound).Same(wantBound) {
				t.Errorf("beta %g: %v, bounds %v, want %v, bounds %v", beta, back(c), back(bound), want, wantBound)
			}
		}
	}
	// The factor is what the result overwrites.
	own := x.Clone()
	want := back(x).Clone()
	mustGemm(t, 'N', 'N', 1, back(x), y.Matrix(), 0, want, &Options{Slices: 3})
	mustGemm(t, 'N', 'N', 1, own.Slice(0, 9).Stride(2).Matrix(), y.Matrix(), 0, back(own), &Options{Slices: 3})
	for i := range 5 {
		if got, w := own.Float64(2*(4-i)), want.Float64(4-i, 0); got != w {
			t.Errorf("in place, entry %d: %v, want %v", i, got, w)
		}
	}
}

// TestManyThreads asks for more threads than have room in memory.
func TestManyThreads(t *testing.T) {
	a := halfulp.NewMatrix(halfulp.Float64, 120, 120)
	var s Stats
	err := Gemm('N', 'N', 1, a, a, 0, a, &Options{Slices: 1, Stats: &s, Options: halfulp.Options{Threads: math.MaxInt}})
	if most := 4*runtime.GOMAXPROCS(0) + 16; err != nil || s.Threads > most {
		t.Errorf("%d threads, error %v, want at most %d", s.Threads, err, most)
	}
}

func TestPanics(t *testing.T) {
	a, b := halfulp.NewMatrix(halfulp.Float64, 2, 3), halfulp.NewMatrix(halfulp.Float64, 3, 2)
	c := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	for message, f := range map[string]func(){
		errShape:     func() { mustGemm(t, 'N', 'N', 1, a, a, 0, c, &Options{Slices: 2}) },
		errTranspose: func() { mustGemm(t, 'X', 'N', 1, a, b, 0, c, &Options{Slices: 2}) },
		errAlias:     func() { mustGemm(t, 'N', 'N', 1, a, b, 0, c, &Options{Slices: 2, Bound: c}) },
	} {
		func() {
			defer func() {
				if got := recover(); got != message {
					t.Errorf("got %v, want %q", got, message)
				}
			}()
			f()
		}()
	}
}

// TestErrors checks errors, also of Validate if they depend on the options only.
func TestErrors(t *testing.T) {
	a, b := halfulp.NewMatrix(halfulp.Float64, 2, 3), halfulp.NewMatrix(halfulp.Float64, 3, 2)
	c := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name     string
		a, c     *halfulp.Matrix
		opt      *Options
		want     error
		validate bool // finds it too
	}{
		{"neither slices nor tolerance", a, c, nil, halfulp.ErrOptions, false},
		{"a negative tolerance", a, c, &Options{Tolerance: -1}, halfulp.ErrOptions, false},
		{"the tolerance NaN", a, c, &Options{Tolerance: math.NaN()}, halfulp.ErrOptions, false},
		{"too many slices", a, c, &Options{Slices: MaxSlices + 1}, halfulp.ErrOptions, true},
		{"-1 slices", a, c, &Options{Slices: -1}, halfulp.ErrOptions, true},
		{"a negative block", a, c, &Options{Slices: 2, Block: -1}, halfulp.ErrOptions, true},
		{"too large a block", a, c, &Options{Slices: 2, Block: MaxBlock + 1}, halfulp.ErrOptions, true},
		{"a method", a, c, &Options{Slices: 2, Options: halfulp.Options{Method: "residue"}}, halfulp.ErrMethod, true},
		{"an SGEMM", a, c, &Options{Slices: 2, SGEMM: "mkl"}, halfulp.ErrMethod, true},
		{"a device", a, c, &Options{Slices: 2, Options: halfulp.Options{Device: "tpu"}}, halfulp.ErrDevice, true},
		{"a cancelled context", a, c, &Options{Slices: 2, Options: halfulp.Options{Context: cancelled}}, context.Canceled, true},
		{"A in DD", a.Convert(halfulp.DD), c, &Options{Slices: 2}, halfulp.ErrFormat, false},
		{"C in Float32", a, c.Convert(halfulp.Float32), &Options{Slices: 2}, halfulp.ErrFormat, false},
		{"bounds in Float32", a, c, &Options{Slices: 2, Bound: c.Convert(halfulp.Float32)}, halfulp.ErrFormat, false},
	} {
		if err := Gemm('N', 'N', 1, test.a, b, 0, test.c, test.opt); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		want := test.want
		if !test.validate {
			want = nil
		}
		if err := test.opt.Validate(); !errors.Is(err, want) {
			t.Errorf("%s: Validate says %v, want %v", test.name, err, want)
		}
	}
	if err := (&Options{Options: halfulp.Options{Method: "auto"}, SGEMM: "auto"}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestProgress checks that the share of the work done rises to 1 where there is nothing to do, and
// in double-float arithmetic.
func TestProgress(t *testing.T) {
	rng := testseed.Rand(t, 3, 5)
	for _, s := range [][3]int{{0, 3, 2}, {2, 3, 0}, {2, 0, 3}, {40, 30, 50}} {
		for _, alpha := range []float64{0, 1, math.Inf(1)} {
			for name, gemm := range map[string]func(halfulp.Transpose, halfulp.Transpose, float64, *halfulp.Matrix, *halfulp.Matrix, float64, *halfulp.Matrix, *Options) error{
				"Gemm": Gemm, "GemmDoubleFloat": GemmDoubleFloat,
			} {
				last := 0.0
				o := Options{Slices: 2, Options: halfulp.Options{MemoryLimit: 1, Progress: func(done float64) {
					if done <= last || done > 1 {
						t.Errorf("%s %v, alpha = %g: progress %g after %g", name, s, alpha, done, last)
					}
					last = done
				}}}
				a, b, c := testMatrix(rng, s[0], s[1], 1), testMatrix(rng, s[1], s[2], 1), testMatrix(rng, s[0], s[2], 1)
				if err := gemm('N', 'N', alpha, a, b, 1, c, &o); err != nil || last != 1 {
					t.Errorf("%s %v, alpha = %g: progress ended at %g, error %v", name, s, alpha, last, err)
				}
			}
		}
	}
}

// BenchmarkGemm measures products of n x n matrices in K slices.
func BenchmarkGemm(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{64, 256, 1024} {
		x, y, c := testMatrix(rng, n, n, 1), testMatrix(rng, n, n, 1), halfulp.NewMatrix(halfulp.Float64, n, n)
		for _, slices := range []int{1, 2, 6} {
			b.Run(fmt.Sprintf("n=%d/K=%d", n, slices), func(b *testing.B) {
				for b.Loop() {
					if err := Gemm('N', 'N', 1, x, y, 0, c, &Options{Slices: slices}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

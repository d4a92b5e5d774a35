package grid

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/grid/gridtest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// together runs f in every process of a grid.
func together(t *testing.T, rows, cols, block int, f func(g *Grid) error) {
	t.Helper()
	gridtest.Run(t, rows*cols, func(to gridtest.Process) error {
		g, err := New(to, rows, cols, block, new(Local))
		if err != nil {
			return err
		}
		return f(g)
	})
}

// matrix returns a matrix of the host, by columns, of numbers with spread exponents and some zeros.
func matrix(r *rand.Rand, f num.Format, m, n, spread int) num.Mat {
	a := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: max(m, 1), Rows: m, Cols: n}
	for i := range m * n {
		x := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: []uint64{r.Uint64() | 1, r.Uint64() >> r.IntN(64)}, Exp: int64(-r.IntN(spread + 1))}
		switch r.IntN(10) {
		case 0:
			x = num.Real{Neg: x.Neg}
		case 1:
			x.Mag = []uint64{math.MaxUint64, math.MaxUint64} // rounded up to a power of two
		}
		a.Arr.Set(i, x)
	}
	return a
}

// viewOf returns a part of m: transposed, upside down, every other column, or unchanged.
func viewOf(r *rand.Rand, m num.Mat) num.Mat {
	i, j := r.IntN(m.Rows), r.IntN(m.Cols)
	v := m
	v.Off, v.Rows, v.Cols = m.At(i, j), 1+r.IntN(m.Rows-i), 1+r.IntN(m.Cols-j)
	switch r.IntN(4) {
	case 0:
		v = v.T()
	case 1:
		v.Off, v.RS = v.At(v.Rows-1, 0), -v.RS
	case 2:
		v.CS, v.Cols = 2*v.CS, (v.Cols+1)/2
	}
	return v
}

// TestGrid compares results of grids for parts of matrices with results of the host, and bounds of
// rows with exact sums, on grids of several shapes with small blocks.
func TestGrid(t *testing.T) {
	seed := testseed.Of(t)
	formats := []num.Format{num.Float64, num.Float32, {Kind: num.MP, Prec: 24}, {Kind: num.MP, Prec: 106}, {Kind: num.MP, Prec: 700}}
	for trial := range testlength.Of(60, 180, 3000) {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		rows, cols, block := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(4)
		f := formats[r.IntN(len(formats))]
		m, n, spread := 1+r.IntN(20), 1+r.IntN(20), []int{0, 3, 60}[r.IntN(3)]
		h := matrix(r, f, m, n, spread)
		v := viewOf(r, h)
		k := 1 + r.IntN(6)
		right, old := matrix(r, f, v.Cols, k, spread), matrix(r, f, v.Rows, k, spread)
		alpha, beta := direct.One(r.IntN(2) == 0), num.Real{}
		if r.IntN(2) == 0 {
			beta = direct.One(true)
		}
		want := num.Mat{Arr: num.New(f, v.Rows*k), RS: 1, CS: v.Rows, Rows: v.Rows, Cols: k}
		work := direct.Work{Run: par.Run{Ctx: t.Context(), Threads: 1}}
		if err := direct.Entries(work, direct.Product{Alpha: alpha, A: v, B: right, Beta: beta, Old: old, C: want}, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		row, col, dot := r.IntN(v.Rows), r.IntN(k), num.New(f, 1)
		if _, _, err := direct.Dot.Round(work, v.T().Col(row), right.Col(col), dot); err != nil {
			t.Fatal(err)
		}
		c := place.Config{Run: par.Run{Ctx: t.Context(), Threads: 1 + r.IntN(3), Memory: 1 << 30}}
		together(t, rows, cols, block, func(g *Grid) error {
			there := func(h num.Mat) (num.Mat, error) {
				z := h
				var err error
				if z.Arr, err = g.New(c.Ctx, f, h.Rows, h.Cols); err != nil {
					return z, err
				}
				return z, g.Set(c.Ctx, z, h)
			}
			all, err := there(h)
			if err != nil {
				return err
			}
			a := v
			a.Arr = all.Arr
			b, err := there(right)
			if err != nil {
				return err
			}
			o, err := there(old)
			if err != nil {
				return err
			}
			if _, err := g.Gemm(c, alpha, a, b, beta, o, o); err != nil {
				return err
			}
			if err := g.same(c.Ctx, "A B", o, want); err != nil {
				return err
			}
			if err := g.same(c.Ctx, "a view", a, v); err != nil {
				return err
			}
			z := num.New(f, 1)
			if _, _, err := g.Reduce(c, direct.Dot, a.T().Col(row), b.Col(col), z); err != nil {
				return err
			}
			if !z.SameBits(0, dot, 0) {
				return fmt.Errorf("the product of row %d and column %d differs", row, col)
			}
			if f.Kind != num.MP {
				return nil
			}
			return g.checkExtents(c, a, v)
		})
		if t.Failed() {
			t.Fatalf("seed %d, trial %d: %d x %d processes, blocks of %d, %v %d x %d, view %+v", seed, trial, rows, cols, block, f, m, n, v)
		}
	}
}

// same compares a matrix with a matrix of the host.
func (g *Grid) same(ctx context.Context, what string, a, want num.Mat) error {
	got, err := g.Get(ctx, a)
	if err != nil {
		return err
	}
	for j := range want.Cols {
		for i := range want.Rows {
			if !got.Arr.SameBits(got.At(i, j), want.Arr, want.At(i, j)) {
				return fmt.Errorf("entry (%d, %d) of %s differs", i, j, what)
			}
		}
	}
	return nil
}

// checkExtents compares Extents with the exact values for a matrix of the host.
func (g *Grid) checkExtents(c place.Config, a, h num.Mat) error {
	list, _, err := g.Extents(c, nil, a)
	if err != nil {
		return err
	}
	x := list[0]
	for i := range h.Rows {
		sum := new(big.Float).SetPrec(2000)
		for j := range h.Cols {
			class, top, low := h.Arr.Span(h.At(i, j))
			if class != num.Finite {
				continue
			}
			if top > x.Top[i] || low < x.Top[i]-x.Width {
				return fmt.Errorf("number (%d, %d): exponents %d to %d, bounds %d, width %d", i, j, top, low, x.Top[i], x.Width)
			}
			v := h.Arr.Value(h.At(i, j), make([]uint64, num.MaxValueWords))
			mag := new(big.Int)
			for k := len(v.Mag) - 1; k >= 0; k-- {
				mag.Or(mag.Lsh(mag, 64), new(big.Int).SetUint64(v.Mag[k]))
			}
			sum.Add(sum, new(big.Float).SetMantExp(new(big.Float).SetInt(mag), int(v.Exp)))
		}
		bound := new(big.Float).SetMantExp(big.NewFloat(x.Norm[i]), int(max(x.Top[i], math.MinInt32)))
		if sum.Cmp(bound) > 0 {
			return fmt.Errorf("row %d: the sum of magnitudes is %.20g, its bound %.20g", i, sum, bound)
		}
		if far := new(big.Float).Mul(sum, big.NewFloat(1.001)); sum.Sign() > 0 && far.Cmp(bound) < 0 {
			return fmt.Errorf("row %d: the bound %.20g is far from %.20g", i, bound, sum)
		}
	}
	return nil
}

// TestShare shares rows, columns or rectangles of a matrix with all processes. They are consecutive
// in memory, or lie between other entries that must not change.
func TestShare(t *testing.T) {
	seed := testseed.Of(t)
	inPlace := 0
	for trial := range testlength.Of(100, 300, 3000) {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		rows, cols := 1+r.IntN(3), 1+r.IntN(3)
		f := []num.Format{num.Float64, num.Float32, {Kind: num.DD}, {Kind: num.MP, Prec: 106}}[r.IntN(4)]
		m, n, off := r.IntN(9), r.IntN(9), r.IntN(3)
		z := num.Mat{Off: off, RS: 1, CS: max(m+r.IntN(2), 1), Rows: m, Cols: n}
		size := off + max(m, n, 1)*(max(m, n)+2)
		switch r.IntN(4) {
		case 0:
			z.RS, z.CS = max(n+r.IntN(2), 1), 1
		case 1:
			z.RS, z.CS, size = 2, 2*max(m, 1), 2*size
		}
		all := matrix(r, f, size, 1, 3).Arr
		triangle := []byte{0, 'U', 'L'}[r.IntN(3)]
		if m != n {
			triangle = 0
		}
		at := func(p int) ([]int, []int) {
			if triangle != 0 {
				return slope(m, p, rows*cols, triangle), count(n)
			}
			return between(m, p/cols, rows), between(n, p%cols, cols)
		}
		together(t, rows, cols, 1, func(g *Grid) error {
			z := z
			z.Arr = num.New(f, size)
			want := num.New(f, size) // numbers that are no entries stay zero
			own, others := at(g.to.Rank())
			for j := range n {
				for i := range m {
					want.CopyFrom(z.At(i, j), all, z.At(i, j))
				}
			}
			for _, j := range others {
				for _, i := range own {
					z.Arr.CopyFrom(z.At(i, j), all, z.At(i, j))
				}
			}
			if err := g.share(t.Context(), z, at); err != nil {
				return err
			}
			a := num.Mat{Arr: z.Arr, RS: 1, CS: size, Rows: size, Cols: 1}
			b := num.Mat{Arr: want, RS: 1, CS: size, Rows: size, Cols: 1}
			if err := same(a, b); err != nil {
				return fmt.Errorf("seed %d, trial %d: %v, triangle %q of %d x %d, strides %d and %d, process %d of %s: %w", seed, trial, f, triangle, m, n, z.RS, z.CS, g.to.Rank(), g, err)
			}
			if _, ok := oneByOne([]patch{patchOf(z, count(m), count(n), z.CS == 1 && z.RS != 1)}); ok && g.to.Rank() == 0 {
				inPlace++
			}
			return nil
		})
	}
	if inPlace < 20 {
		t.Errorf("%d matrices in place", inPlace)
	}
}

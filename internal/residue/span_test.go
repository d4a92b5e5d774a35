package residue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// zeroPatterns say which entries (i, j) of an m x n matrix are zeros.
var zeroPatterns = []struct {
	name string
	zero func(i, j, m, n int) bool
}{
	{"none", func(i, j, m, n int) bool { return false }},
	{"lower", func(i, j, m, n int) bool { return j > i }},
	{"upper", func(i, j, m, n int) bool { return i > j }},
	{"strictly lower", func(i, j, m, n int) bool { return j >= i }},
	{"lower from below", func(i, j, m, n int) bool { return i+j < m-1 }},
	{"band", func(i, j, m, n int) bool { return j > i+3 || i > j+9 }},
	{"half of the rows", func(i, j, m, n int) bool { return i < m/2 }},
	{"half of the columns", func(i, j, m, n int) bool { return j < n/2 }},
	{"two blocks", func(i, j, m, n int) bool { return (i < m/2) != (j < n/2) }},
	{"all", func(i, j, m, n int) bool { return true }},
}

// strided returns numbers like randomMat, zeros of a pattern among them, in a view with strides.
func strided(rng *rand.Rand, f num.Format, rows, cols, pattern int) num.Mat {
	z := randomMat(rng, f, 2*rows+1, cols+1, 3)
	z.Off, z.RS, z.Rows, z.Cols = z.At(1, 1), 2*z.RS, rows, cols
	if rng.IntN(2) == 0 {
		y := randomMat(rng, f, cols, rows, 3).T()
		z = y
	}
	for i := range rows {
		for j := range cols {
			if zeroPatterns[pattern].zero(i, j, rows, cols) {
				z.Arr.Set(z.At(i, j), num.Real{Class: num.Zero, Neg: rng.IntN(2) == 0})
			}
		}
	}
	return z
}

// TestZerosLeftOut pits products of matrices with zeros around what is not zero, and triangles of
// them, against exact accumulators.
func TestZerosLeftOut(t *testing.T) { eachUnit(t, testZerosLeftOut) }

func testZerosLeftOut(t *testing.T) {
	rng := testseed.Rand(t, 3, 5)
	formats := []num.Format{num.Float64, {Kind: num.MP, Prec: 53}, {Kind: num.MP, Prec: 200}, num.Float32, num.DDouble}
	for trial := range testlength.Of(12, 18, 150) {
		x, y := trial%len(zeroPatterns), rng.IntN(len(zeroPatterns))
		f, g, h := formats[rng.IntN(len(formats))], formats[rng.IntN(len(formats))], formats[rng.IntN(len(formats))]
		triangle := []byte{0, 'U', 'L'}[rng.IntN(3)]
		m, k := 1+rng.IntN(120), 1+rng.IntN(120)
		n := m
		if triangle == 0 {
			n = 1 + rng.IntN(120)
		}
		if rng.IntN(2) == 0 {
			k = m
		}
		a, b := strided(rng, f, m, k, x), strided(rng, g, k, n, y)
		alpha, beta := scalar(f, []float64{1, -1, 3}[rng.IntN(3)]), scalar(f, []float64{0, 0, -1, 1.5}[rng.IntN(4)])
		if rng.IntN(8) == 0 { // special values are among the numbers
			v := []num.Class{num.Inf, num.NaN}[rng.IntN(2)]
			a.Arr.Set(a.At(rng.IntN(m), rng.IntN(k)), num.Real{Class: v})
			b.Arr.Set(b.At(rng.IntN(k), rng.IntN(n)), num.Real{Class: v})
		}
		c := randomMat(rng, h, m, n, 3)
		want, before := c.Copy(), c.Copy()
		cfg := Config{Run: par.Run{Ctx: context.Background(), Threads: []int{1, 5}[rng.IntN(2)], Memory: 1 << 30, Check: trial%2 == 0}, Triangle: triangle}
		if rng.IntN(4) == 0 {
			cfg.Memory = 1 << 18
		}
		what := fmt.Sprintf("trial %d: %s %v x %s %v -> %v, %d x %d x %d, triangle %q, %d threads, %d bytes",
			trial, zeroPatterns[x].name, f, zeroPatterns[y].name, g, h, m, k, n, triangle, cfg.Threads, cfg.Memory)
		q, err := Plan(cfg, alpha, a, b, beta, c, c, NewPrepared(a), NewPrepared(b.T()))
		if err == nil {
			_, err = q.Run()
		}
		if err == ErrMemory && cfg.Memory < 1<<30 {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		work := direct.Work{Run: par.Run{Ctx: cfg.Ctx, Threads: 2}}
		if err := direct.Entries(work, direct.Product{Alpha: alpha, A: a, B: b, Beta: beta, Old: before, C: want, Triangle: triangle}, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		for i := range m {
			for j := range n {
				if !c.Arr.SameBits(c.At(i, j), want.Arr, want.At(i, j)) {
					var b1, b2 [num.MaxValueWords]uint64
					t.Fatalf("%s: entry (%d, %d) is %v, want %v", what, i, j, c.Arr.Value(c.At(i, j), b1[:]), want.Arr.Value(want.At(i, j), b2[:]))
				}
			}
		}
	}
}

// TestSpans compares the spans of vectors with what a look at every number finds, for an expansion
// whose first term is 0, too.
func TestSpans(t *testing.T) {
	rng := testseed.Rand(t, 1, 9)
	for pattern := range zeroPatterns {
		for _, f := range []num.Format{num.Float64, num.DDouble, {Kind: num.MP, Prec: 90}} {
			m := strided(rng, f, 70+rng.IntN(9), 40, pattern)
			if f == num.DDouble {
				m.Arr.F64[0][m.At(3, 0)], m.Arr.F64[1][m.At(3, 0)] = 0, 1
			}
			o, err := scan(context.Background(), 2, m)
			if err != nil {
				t.Fatal(err)
			}
			for v := range m.Rows {
				want := span{}
				for h := range m.Cols {
					if c, _, _ := m.Arr.Span(m.At(v, h)); c != num.Zero {
						want = want.or(span{h, h + 1})
					}
				}
				if got := o.spans[v]; got != want {
					t.Errorf("%s, %v, vector %d: span %v, want %v", zeroPatterns[pattern].name, f, v, got, want)
				}
			}
		}
	}
}

// TestRegions counts what is multiplied in products of triangles.
func TestRegions(t *testing.T) { eachUnit(t, testRegions) }

func testRegions(t *testing.T) {
	const n = 500
	rng := testseed.Rand(t, 1, 9)
	f := num.Format{Kind: num.MP, Prec: 80}
	m := make([]num.Mat, len(zeroPatterns))
	for i := range m[:3] {
		m[i] = randomMat(rng, f, n, n, 3)
		for row := range n {
			for col := range n {
				if zeroPatterns[i].zero(row, col, n, n) {
					m[i].Arr.Set(m[i].At(row, col), num.Real{Class: num.Zero})
				}
			}
		}
	}
	whole, lower, upper := m[0], m[1], m[2]
	for _, c := range []struct {
		name     string
		a, b     num.Mat
		triangle byte
		least    float64 // of n³ multiply-adds
	}{
		{"whole", whole, whole, 0, 1},
		{"triangle of the result", whole, whole, 'L', 1. / 2},
		{"triangular by whole", lower, whole, 0, 1. / 2},
		{"whole by transposed, upper triangle", whole, lower.T(), 'U', 1. / 3},
		{"whole by transposed, lower triangle", whole, lower.T(), 'L', 1. / 6},
		{"lower by lower", lower, lower, 0, 1. / 6},
		{"lower by its transposed, a triangle", lower, lower.T(), 'L', 1. / 6},
		{"lower by upper", lower, upper, 0, 1. / 3},
	} {
		p, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 40}, Triangle: c.triangle},
			scalar(num.Float64, 1), c.a, c.b, num.Real{}, num.Mat{}, num.Mat{Arr: num.New(f, 1), Rows: n, Cols: n}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := p.p
		residues := func(o *operand, s side) *residues {
			r := newResidues(q.plan.kernels, q.plan.base, s, n, n, 80)
			r.spans = o.panelSpans(r)
			return r
		}
		ra, rb := residues(q.l, left), residues(q.r, right)
		unit, _ := ra.unit()
		sum := 0
		for _, r := range q.regions(nil, ra, rb, 0, 0, ra.panels, rb.panels, 0, 0) {
			sum += r.mp * ra.panel * r.np * rb.panel * r.length() * unit
		}
		got := float64(sum) / (n * n * n)
		if got < c.least || got > 1.05*c.least+0.12 {
			t.Errorf("%s: %.3f n³ multiply-adds, at least %.3f", c.name, got, c.least)
		}
	}
}

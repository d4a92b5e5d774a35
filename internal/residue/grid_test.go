package residue

import (
	"context"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestGrid checks that the blocks of results of many shapes have every panel once, and that none is
// larger than the first.
func TestGrid(t *testing.T) {
	rng := testseed.Rand(t, 5, 9)
	guidedOnes := 0
	for range 300 {
		m, n := 1+rng.IntN(2500), 1+rng.IntN(2500)
		p := &product{cfg: Config{Run: par.Run{Threads: 1 + rng.IntN(40)}}}
		p.plan.kernels = kernels{kernel: modgemm.Best(), bytes: modgemm.ByteEmulation}
		if rng.IntN(4) == 0 {
			p.plan.kernels.bytes = nil
		}
		if rng.IntN(4) == 0 {
			p.cfg.Triangle = 'U'
		}
		mp, np := p.plan.panels(left, m), p.plan.panels(right, n)
		list := p.grid(m, n)
		if len(list) > 1 && list[len(list)-1].rows*list[len(list)-1].cols*4 < list[0].rows*list[0].cols {
			guidedOnes++
		}
		seen := make([]bool, mp*np)
		for _, b := range list {
			if b.rows < 1 || b.cols < 1 || b.rows > list[0].rows || b.cols > list[0].cols || b.pi+b.rows > mp || b.pj+b.cols > np {
				t.Fatalf("%d x %d panels, %d threads: block %+v after %+v", mp, np, p.cfg.Threads, b, list[0])
			}
			for i := b.pi; i < b.pi+b.rows; i++ {
				for j := b.pj; j < b.pj+b.cols; j++ {
					if seen[i*np+j] {
						t.Fatalf("%d x %d panels, %d threads: panel %d, %d twice", mp, np, p.cfg.Threads, i, j)
					}
					seen[i*np+j] = true
				}
			}
		}
		for at, there := range seen {
			if !there {
				t.Fatalf("%d x %d panels, %d threads: no panel %d, %d", mp, np, p.cfg.Threads, at/np, at%np)
			}
		}
	}
	if guidedOnes == 0 {
		t.Error("no result has small blocks last")
	}
}

// TestGuidedProduct checks that a product on many threads, whose last blocks are small, has the
// bits of one thread, with planes that take turns in memory.
func TestGuidedProduct(t *testing.T) {
	testlength.SkipLevel(t, "products in bytes take no other instructions there")
	testlength.SkipSlow(t, "tiles are emulated, and TestGrid covers the blocks")
	defer modgemm.ForceBytes()()
	rng := testseed.Rand(t, 6, 9)
	const n, k = 300, 3
	a, b := randomMat(rng, num.Float64, n, k, 3), randomMat(rng, num.Float64, k, n, 3)
	multiply := func(threads int) *num.Array {
		c := num.Mat{Arr: num.New(num.Float64, n*n), RS: n, CS: 1, Rows: n, Cols: n}
		q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: threads, Memory: math.MaxInt64}}, one, a, b, num.Real{}, c, c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Run(); err != nil {
			t.Fatal(err)
		}
		return c.Arr
	}
	want := multiply(1)
	for range 2 {
		got := multiply(8)
		for i := range n * n {
			if !got.SameBits(i, want, i) {
				t.Fatalf("entry %d, %d is %g, want %g", i/n, i%n, got.F64[0][i], want.F64[0][i])
			}
		}
	}
}

package factors_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestRookSeed checks that float64 arithmetic finds the pivots of RookOf in many bits and
// approximates its factors, with the same numbers at all instruction-set levels. Orders span
// several panels, and blocks of both sizes cross the borders of panels.
func TestRookSeed(t *testing.T) {
	r := testseed.Rand(t, 2, 12)
	for _, n := range []int{1, 2, seed.RookPanel - 1, seed.RookPanel, seed.RookPanel + 1, seed.RookPanel + 2, 90, 150} {
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		pairs := r.IntN(2) == 0 // a diagonal that is small: nearly all blocks are 2 x 2
		for i := range n {
			for j := range i + 1 {
				x := r.NormFloat64()
				if i == j && (pairs || r.IntN(3) == 0) {
					x /= 64
				}
				a.SetFloat64(i, j, x)
				a.SetFloat64(j, i, x)
			}
		}
		s := prooftest.Run(t, runtime.GOMAXPROCS(0))
		want := &factors.Rook{X: seed.LowerTriangle(a.View(), 300), Order: call.All(n)}
		for k := 0; k < n; {
			size := want.Pivot(k)
			if ok, err := factors.EliminateRook(s, want, k, size, 300); !ok || err != nil {
				t.Fatalf("n = %d: no pivot %d (%v)", n, k, err)
			}
			want.Blocks = append(want.Blocks, size)
			k += size
		}
		var flat []float64
		for _, l := range isa.Levels() {
			restore := isa.Force(l)
			got, err := seed.NewRookSeed(s, a.View(), scale.Unscaled(n, n))
			restore()
			if got == nil || err != nil {
				t.Fatalf("n = %d: no seed (%v)", n, err)
			}
			if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Blocks, want.Blocks) {
				t.Fatalf("n = %d: pivots %v %v, want %v %v", n, got.Order, got.Blocks, want.Order, want.Blocks)
			}
			var entries []float64
			for i, row := range got.X {
				entries = append(entries, row...)
				for j, x := range row {
					if w, _ := want.X[i][j].Float64(); !(math.Abs(x-w) <= 1e-9*max(1, math.Abs(w))) {
						t.Fatalf("n = %d: entry (%d, %d) is %g, want %g", n, i, j, x, w)
					}
				}
			}
			if flat != nil && !slices.Equal(entries, flat) {
				t.Errorf("n = %d: other numbers at level %v", n, l)
			}
			flat = entries
			s.Release()
		}
	}
}

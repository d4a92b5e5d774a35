package newton_test

import (
	"fmt"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// TestColumns solves for all columns and for some at a time, by an X that is improved and by one
// that is not. Results are the same, the counted memory is less for fewer columns, and all of it is
// given back except the caller's own.
func TestColumns(t *testing.T) {
	const n = 60
	for _, c := range []struct {
		f halfulp.Format
		k int // columns; 0 is an inverse
	}{{halfulp.Float64, 40}, {halfulp.MP(300), 50}, {halfulp.MP(300), 0}} {
		f := c.f.View()
		a, b := gallery.Random(c.f, n, n, 0, 3).View(), gallery.Random(c.f, n, max(c.k, 1), 0, 4).View()
		if c.k == 0 {
			b = num.Identity(num.Float64, n)
		}
		solve := func(by newton.Columns) (x *halfulp.Matrix, open int, most int64) {
			s := prooftest.Run(t, 2)
			defer s.Release()
			s.Reuse = true
			lu, err := seed.NewFactors(s, a, scale.Of(a))
			if err != nil {
				t.Fatal(err)
			}
			p, err := seed.FirstInverse(s, a, lu)
			if err != nil || p.Rho == nil {
				t.Fatalf("no inverse: %v", err)
			}
			z := call.TakeMatrix(f, n, b.Cols)
			todo := ziv.NewEntries(s, a, b, z)
			if err := newton.SolveMany(s, p, a, b, z, todo, by); err != nil {
				t.Fatal(err)
			}
			return halfulp.MatrixOf(z), ziv.CountOpen(todo), s.Budget.Most()
		}
		whole, open, most := solve(newton.Columns{Width: b.Cols})
		if open > 0 {
			t.Fatalf("%v: %d entries are open", c.f, open)
		}
		for _, by := range []newton.Columns{{Width: b.Cols, Coarse: true}, {Width: b.Cols / 2}, {Width: 7}, {Width: 7, Coarse: true}} {
			name := fmt.Sprintf("%v for %d columns, %+v", c.f, c.k, by)
			x, open, less := solve(by)
			if open > 0 || !x.Same(whole) {
				t.Errorf("%s: %d entries are open, or another result", name, open)
			}
			if by.Width == 7 && less >= most {
				t.Errorf("%s: %d bytes, %d for all at a time", name, less, most)
			}
			most = min(most, less)
		}
	}
}

package grid

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/trsv"
)

// Products with band, symmetric and triangular matrices are left to the host, except Syrk.

// Solve solves some of the columns in each process. Every process gets the whole triangle.
func (g *Grid) Solve(c place.Config, s direct.Structured, alpha num.Real, b, x num.Mat, flag func(num.Flags)) (st residue.Stats, done bool, err error) {
	at := func(p int) (rows, cols []int) { return count(b.Rows), between(b.Cols, p, g.size()) }
	l := s.Layout()
	triangle, err := g.Get(c.Ctx, l.View)
	if err != nil {
		return st, false, err
	}
	part, err := g.moved(c.Ctx, b, func(v view) layout { return dealtColumns{g, v.Rows, v.Cols} })
	if err != nil {
		return st, false, err
	}
	cfg := product.Config{Run: c.Reporting(nil), Method: c.Method}
	y, st, err := trsv.Solve(trsv.Config{
		Run: c.Run, Vectors: true,
		Multiply: func(alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
			return product.Run(cfg, product.Problem{Alpha: alpha, A: a, B: b, Beta: beta, Old: old, C: c})
		},
	}, direct.Triangular(triangle, !s.IsLower(), l.Unit), alpha, part, x.Arr.Format)
	if err = g.agree(c.Ctx, err); err != nil {
		return st, false, err
	}
	all := num.Mat{Arr: num.New(x.Arr.Format, x.Rows*x.Cols), RS: 1, CS: max(x.Rows, 1), Rows: x.Rows, Cols: x.Cols}
	_, cols := at(g.to.Rank())
	mine := rectangle(all, count(x.Rows), cols)
	for j := range y.Cols {
		for i := range y.Rows {
			all.Arr.CopyFrom(mine.At(i, j), y.Arr, y.At(i, j))
		}
	}
	if err := g.share(c.Ctx, all, at); err != nil {
		return st, false, err
	}
	if st, err = g.together(c.Ctx, st, onHost); err != nil {
		return st, false, err
	}
	for range st.Overflow {
		flag(num.Overflow)
	}
	for range st.Underflow {
		flag(num.Underflow)
	}
	return st, true, g.Set(c.Ctx, x, all)
}

// dealtColumns is the layout in which every process has some consecutive columns of an m x n
// matrix, with all rows.
type dealtColumns struct {
	g    *Grid
	m, n int
}

func (l dealtColumns) part(row, col int) (rows, cols []int) {
	return count(l.m), between(l.n, row*l.g.cols+col, l.g.size())
}

// Widens returns false. Widen converts only between formats of one term, and callers do not ask
// about these.
func (g *Grid) Widens(num.Format, num.Format) bool { return false }

// Widen converts numbers of a narrower format of one term.
func (g *Grid) Widen(c place.Config, to, from num.Mat) error {
	v, err := g.look(to)
	if err != nil {
		return err
	}
	m, err := g.beside(c.Ctx, from, v)
	if err != nil {
		return err
	}
	_, err = v.entries(c, func(_ *scratch, e entry) int64 {
		v.s.local.Convert(e.at, m.Arr, m.At(e.a, e.b))
		return 0
	})
	return g.agree(c.Ctx, err)
}

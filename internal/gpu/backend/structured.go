package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/gpu/rows"
	"github.com/halfulp/halfulp/internal/gpu/triangular"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

func (p *gpus) Dense(c place.Config, of direct.Structured, i0, i1 int) (m num.Mat, first int, err error) {
	first, end := of.Columns(i0, i1)
	m = num.Mat{RS: 1, CS: max(i1-i0, 1), Rows: i1 - i0, Cols: end - first}
	if m.Arr, err = p.New(c.Ctx, of.Array().Format, m.Rows, m.Cols); err != nil {
		return m, first, err
	}
	err = p.do(c.Ctx, func(s *cuda.Stream) error {
		l := of.Layout()
		return rows.Fill(s, l, Matrix(l.View), i0, first, Matrix(m))
	})
	if err != nil {
		m.Arr.Away.Free()
	}
	return m, first, err
}

func (p *gpus) Plain(c place.Config, m num.Mat) (plain bool, err error) {
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		plain, err = rows.Plain(s, Matrix(m))
		return err
	})
	return plain, err
}

func (p *gpus) MendZeros(c place.Config, of direct.Structured, alpha num.Real, m num.Mat, i0, first int, b num.Mat, beta num.Real, old, z num.Mat) error {
	if beta.Class == num.Zero {
		old = z // is not read
	}
	return p.do(c.Ctx, func(s *cuda.Stream) error {
		return rows.MendZeros(s, of.Layout(), alpha, Matrix(m), i0, first, Matrix(b), beta, Matrix(old), Matrix(z))
	})
}

func (p *gpus) Solve(c place.Config, of direct.Structured, alpha num.Real, b, x num.Mat, count func(num.Flags)) (st residue.Stats, done bool, err error) {
	cfg := product.Config{Run: c.Run, Limit: c.Limit}
	err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
		l := of.Layout()
		st, done, err = triangular.Solve(s, cfg, l, Matrix(l.View), alpha, Matrix(b), Matrix(x), count)
		return err
	})
	return st, done, err
}

func (p *gpus) Widens(f, g num.Format) bool { return rows.Widens(f, g) }

func (p *gpus) Widen(c place.Config, to, from num.Mat) error {
	return p.do(c.Ctx, func(s *cuda.Stream) error { return rows.Widen(s, Matrix(from), Matrix(to)) })
}

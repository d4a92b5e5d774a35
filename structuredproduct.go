package halfulp

import (
	"errors"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// structuredProduct computes C = alpha S B + beta Old with a symmetric or triangular matrix S.
// Blocks of rows of S are gathered as dense matrices, with zeros outside a triangle, and
// multiplied. Those zeros would change the results for columns of B with infinities or NaN. Such
// columns are computed by exact sums over the entries of the triangle.
type structuredProduct struct {
	place.Settings
	s           direct.Structured
	alpha, beta num.Real
	b, old, c   num.Mat
	stats       residue.Stats
	special     []int // columns of B with infinities or NaN
	share       float64
}

// leastBlock is the smallest number of rows of a triangle that are gathered at a time: with fewer,
// the conversion of B to residues would take a considerable part of the time.
const leastBlock = 256

// blockRows returns the number of rows to gather at a time. It is all rows, or an eighth of a
// triangle, whose zeros cost little then, or fewer if they would take more than a quarter of the
// memory allowed.
func (p *structuredProduct) blockRows() int {
	rows := p.s.Rows
	if !p.s.Full() {
		rows = max(leastBlock, (rows+7)/8)
	}
	fit := p.Memory / 4 / (num.SizeOf(p.s.Array().Format) * int64(max(p.s.Cols, 1)))
	return int(max(1, min(int64(rows), max(fit, 16))))
}

func (p *structuredProduct) run() error {
	if p.alpha.Class == num.Zero {
		unread := num.Mat{Arr: &num.Array{}, Rows: p.s.Rows, Cols: p.s.Cols}
		return p.multiply(unread, p.b, 0, p.s.Rows, 1)
	}
	p.stats.Device, p.stats.Method = place.Host, methodDirect
	b := p.b
	if !p.s.Full() {
		b = p.finite()
	}
	work := direct.Work{Run: p.Run}
	if len(p.special) < b.Cols {
		block := p.blockRows()
		for i0 := 0; i0 < p.s.Rows; i0 += block {
			i1 := min(i0+block, p.s.Rows)
			m, first, err := p.s.Gather(work, i0, i1)
			if err != nil {
				return err
			}
			rows := b
			rows.Off, rows.Rows = b.At(first, 0), m.Cols
			if err := p.multiply(m, rows, i0, i1, float64(i1-i0)/float64(p.s.Rows)); err != nil {
				return err
			}
		}
		if !p.s.Full() {
			if err := p.mend(b); err != nil {
				return err
			}
		}
	}
	return p.exactColumns(work)
}

// finite records the columns of B with infinities or NaN in p.special, all columns if alpha is not
// finite, and returns B with zeros in these columns.
func (p *structuredProduct) finite() num.Mat {
	for j := range p.b.Cols {
		if p.alpha.Class != num.Finite || !direct.Finite(p.b.Col(j)) {
			p.special = append(p.special, j)
		}
	}
	if len(p.special) == 0 || len(p.special) == p.b.Cols {
		return p.b
	}
	z := p.b.Copy()
	for _, j := range p.special {
		for i := range z.Rows {
			z.Arr.Set(z.At(i, j), num.Real{})
		}
	}
	return z
}

// mend corrects the signs of zeros. beta is 0, as S is a triangle.
func (p *structuredProduct) mend(b num.Mat) error {
	return par.For(p.Ctx, p.Threads, b.Cols, func(_, j int) {
		for i := range p.c.Rows {
			p.s.MendZero(p.c.Arr, p.c.At(i, j), i, p.alpha, b.Col(j), num.Real{}, num.Real{})
		}
	})
}

// exactColumns computes the columns of C that finite recorded.
func (p *structuredProduct) exactColumns(w direct.Work) error {
	var over, under atomic.Int64
	z := num.New(p.c.Arr.Format, p.c.Rows)
	for _, j := range p.special {
		_, err := p.s.Gemv(w, p.alpha, p.b.Col(j), p.beta, p.old.Col(j), z, func(f num.Flags) {
			if f&num.Overflow != 0 {
				over.Add(1)
			}
			if f&num.Underflow != 0 {
				under.Add(1)
			}
		}, nil)
		if err != nil {
			return err
		}
		for i := range p.c.Rows {
			p.c.Arr.CopyFrom(p.c.At(i, j), z, i)
		}
	}
	p.stats.Exact += int64(len(p.special) * p.c.Rows)
	if p.Check {
		p.stats.Check.Unchecked += int64(len(p.special) * p.c.Rows)
	}
	p.stats.Overflow += over.Load()
	p.stats.Underflow += under.Load()
	return p.Ctx.Err()
}

// multiply computes rows i0 <= i < i1 of C as the product of a, these rows of S, and b.
func (p *structuredProduct) multiply(a, b num.Mat, i0, i1 int, share float64) error {
	s, old, c := p.part(i0, i1, share)
	st, err := s.Multiply(&place.Gemm{Problem: product.Problem{Alpha: p.alpha, A: a, B: b, Beta: p.beta, Old: old, C: c}})
	p.stats.Add(st)
	return residue.Shifted(err, i0, 0)
}

// part returns rows i0 <= i < i1 of Old and of C, and the settings of their computation, which is
// the given share of the work.
func (p *structuredProduct) part(i0, i1 int, share float64) (s place.Settings, old, c num.Mat) {
	old, c = p.old, p.c
	old.Off, old.Rows = old.At(i0, 0), i1-i0
	c.Off, c.Rows = c.At(i0, 0), i1-i0
	s = p.Settings
	if from := p.share; s.Progress != nil {
		// may fuse: progress
		s.Progress = func(done float64) { p.Progress(min(1, from+share*done)) }
	}
	p.share += share
	return s, old, c
}

// ondeviceProduct is a structuredProduct whose operands all live on one device.
type ondeviceProduct struct {
	structuredProduct
	at    place.Place
	dense place.Structured // of the place
}

// run reports whether the device computes the product. It leaves the product to the host where the
// zeros that fill in for entries outside the triangle would change the result.
func (p *ondeviceProduct) run() (bool, error) {
	cfg := p.Config()
	if p.Method == methodDirect {
		return true, product.ErrDirect
	}
	if err := p.Ctx.Err(); err != nil {
		return true, err
	}
	c := p.c
	if c.Arr.Away == p.s.Array().Away || p.at.Overlap(c, p.b) || c != p.old && p.at.Overlap(c, p.old) {
		var err error
		p.c = num.Mat{RS: 1, CS: max(c.Rows, 1), Rows: c.Rows, Cols: c.Cols}
		if p.c.Arr, err = p.at.New(p.Ctx, c.Arr.Format, c.Rows, c.Cols); err != nil {
			return true, err
		}
		defer p.c.Arr.Away.Free()
	}
	if p.alpha.Class == num.Zero || p.s.Rows == 0 { // no addends
		a, b := c, p.b
		a.Cols, b.Rows = 0, 0
		if err := p.multiply(a, b, 0, p.s.Rows, 1); err != nil {
			return true, err
		}
	} else {
		var ok bool
		if p.dense, ok = place.Part[place.Structured](p.at); !ok {
			return false, nil
		}
		if !p.s.Full() {
			if p.alpha.Class != num.Finite {
				return false, nil
			}
			if plain, err := p.dense.Plain(cfg, p.b); err != nil || !plain {
				return err != nil, err
			}
		}
		if done, err := p.blocks(cfg); err != nil || !done {
			return err != nil, err
		}
	}
	if p.c.Arr != c.Arr {
		return true, p.at.Copy(cfg, c, p.c)
	}
	return true, nil
}

// blocks computes C by blocks of rows, as large as memory allows, and reports whether it could.
// Otherwise C is unspecified; beta is 0 in this case.
func (p *ondeviceProduct) blocks(cfg place.Config) (bool, error) {
	block := p.s.Rows
	if p.Limit > 0 {
		fit := p.Limit / 4 / (num.SizeOf(p.s.Array().Format) * int64(max(p.s.Cols, 1)))
		block = int(max(1, min(int64(block), max(fit, 16))))
	}
	for i0 := 0; i0 < p.s.Rows; {
		i1 := min(i0+block, p.s.Rows)
		m, first, err := p.dense.Dense(cfg, p.s, i0, i1)
		if errors.Is(err, place.ErrMemory) && block > 16 {
			block /= 2
			continue
		}
		if err != nil {
			return false, err
		}
		done, err := p.block(cfg, m, first, i0, i1)
		m.Arr.Away.Free()
		if err != nil || !done {
			return false, err
		}
		i0 = i1
	}
	return true, nil
}

// block computes rows i0 <= i < i1 of C from m, these rows of S without the columns before column
// first.
func (p *ondeviceProduct) block(cfg place.Config, m num.Mat, first, i0, i1 int) (bool, error) {
	full := p.s.Full()
	if !full && m.Arr.Terms() > 1 {
		if plain, err := p.dense.Plain(cfg, m); err != nil || !plain {
			return false, err
		}
	}
	b, c := p.b, p.c
	b.Off, b.Rows = b.At(first, 0), m.Cols
	if err := p.multiply(m, b, i0, i1, float64(i1-i0)/float64(p.s.Rows)); err != nil || full {
		return true, err
	}
	c.Off, c.Rows = c.At(i0, 0), i1-i0
	return true, p.dense.MendZeros(cfg, p.s, p.alpha, m, i0, first, b, p.beta, num.Mat{}, c)
}

// multiply computes rows i0 <= i < i1 of C as the product of a, these rows of S, and b.
func (p *ondeviceProduct) multiply(a, b num.Mat, i0, i1 int, share float64) error {
	s, old, c := p.part(i0, i1, share)
	g := place.Gemm{Problem: product.Problem{Alpha: p.alpha, A: a, B: b, Beta: p.beta, Old: old, C: c}}
	if i0 == 0 && i1 == p.s.Rows && a.Cols == p.s.Cols {
		g.Factors[0] = p.s.Triangle()
	}
	st, err := s.GemmAt(p.at, &g)
	p.stats.Add(st)
	return residue.Shifted(err, i0, 0)
}

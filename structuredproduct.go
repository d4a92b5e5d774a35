package halfulp

import (
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// structuredProduct is C = alpha S B + beta Old with a symmetric or triangular matrix S: blocks of
// its rows are gathered as dense matrices, with zeros outside of a triangle, and multiplied.
// Columns of B with infinities or NaN, which such zeros would change, take the exact sums of what
// there is.
type structuredProduct struct {
	settings
	s           direct.Structured
	alpha, beta num.Real
	b, old, c   num.Mat
	stats       exact.Stats
	special     []int // columns of B with infinities or NaN
	share       float64
}

// leastBlock is the fewest rows of a triangle that are gathered at a time: with fewer, B's
// conversion to residues would count.
const leastBlock = 256

// blockRows returns how many rows to gather at a time: all, or an eighth of a triangle, whose
// zeros then cost little, if they fit a quarter of the memory allowed.
func (p *structuredProduct) blockRows() int {
	rows := p.s.Rows
	if !p.s.Full() {
		rows = max(leastBlock, (rows+7)/8)
	}
	fit := p.memory / 4 / (num.SizeOf(p.s.Array().Format) * int64(max(p.s.Cols, 1)))
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
	work := direct.Work{Context: p.ctx, Threads: p.threads}
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

// finite notes the columns of B with infinities or NaN, all if alpha is one, and returns B with
// zeros in their place.
func (p *structuredProduct) finite() num.Mat {
	for j := range p.b.Cols {
		if p.alpha.Class != num.Finite || !direct.Finite(p.b.Col(j)) {
			p.special = append(p.special, j)
		}
	}
	if len(p.special) == 0 || len(p.special) == p.b.Cols {
		return p.b
	}
	z := copyMat(p.b)
	for _, j := range p.special {
		for i := range z.Rows {
			z.Arr.Set(z.At(i, j), num.Real{})
		}
	}
	return z
}

// mend puts the signs of zeros right, beta being 0 for triangles.
func (p *structuredProduct) mend(b num.Mat) error {
	return par.For(p.ctx, p.threads, b.Cols, func(_, j int) {
		for i := range p.c.Rows {
			p.s.MendZero(p.c.Arr, p.c.At(i, j), i, p.alpha, b.Col(j), num.Real{}, num.Real{})
		}
	})
}

// exactColumns computes the columns of C that finite has noted.
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
	p.stats.Overflow += over.Load()
	p.stats.Underflow += under.Load()
	return p.ctx.Err()
}

// multiply computes rows i0 <= i < i1 of C, with a the rows of S and b what they are multiplied by.
func (p *structuredProduct) multiply(a, b num.Mat, i0, i1 int, share float64) error {
	old, c := p.old, p.c
	old.Off, old.Rows = old.At(i0, 0), i1-i0
	c.Off, c.Rows = c.At(i0, 0), i1-i0
	s := p.settings
	if from := p.share; s.progress != nil {
		// may fuse: progress
		s.progress = func(done float64) { p.progress(min(1, from+share*done)) }
	}
	st, err := s.multiply(p.alpha, a, b, p.beta, old, c, nil, nil, 0, nil)
	p.share += share
	p.stats.Add(st)
	return err
}

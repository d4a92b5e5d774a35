package several

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// Band, symmetric and triangular matrices are copied to the first GPU. Products with the dense
// matrices that it makes of them run on all GPUs.

// whole returns all numbers of the array of a structured matrix.
func whole(s direct.Structured) num.Mat {
	return numbers(s.Array(), 0, s.Array().Len())
}

// Dense returns a matrix that the first GPU stores.
func (p *Place) Dense(c place.Config, s direct.Structured, i0, i1 int) (m num.Mat, first int, err error) {
	err = p.first(c, []num.Mat{whole(s)}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		m, first, err = g.Dense(c, s.On(in[0].Arr), i0, i1)
		return err
	})
	if err == nil {
		m.Arr = p.held(0, m.Arr, m.Arr.Len())
	}
	return m, first, err
}

// Plain runs on all GPUs.
func (p *Place) Plain(c place.Config, m num.Mat) (bool, error) {
	plain := make([]bool, len(p.parts))
	for d := range plain {
		plain[d] = true
	}
	err := p.each(c, m, nil, func(c place.Config, g GPU, q piece, _ []num.Mat) (err error) {
		plain[q.d], err = g.Plain(c, q.m)
		return err
	})
	for _, is := range plain {
		if !is {
			return false, err
		}
	}
	return true, err
}

// MendZeros runs on the first GPU.
func (p *Place) MendZeros(c place.Config, s direct.Structured, alpha num.Real, m num.Mat, i0, first int, b num.Mat, beta num.Real, old, z num.Mat) error {
	if beta.Class == num.Zero {
		old = num.Mat{}
	}
	return p.first(c, []num.Mat{m, b, old}, []num.Mat{z}, func(g GPU, in, out []num.Mat) error {
		return g.MendZeros(c, s, alpha, in[0], i0, first, in[1], beta, in[2], out[0])
	})
}

// Solve runs on the first GPU.
func (p *Place) Solve(c place.Config, s direct.Structured, alpha num.Real, b, x num.Mat, count func(num.Flags)) (st residue.Stats, done bool, err error) {
	err = p.first(c, []num.Mat{whole(s), b}, []num.Mat{x}, func(g GPU, in, out []num.Mat) (err error) {
		st, done, err = g.Solve(c, s.On(in[0].Arr), alpha, in[1], out[0], count)
		return err
	})
	return st, done, err
}

// Widens returns the answer of one GPU.
func (p *Place) Widens(f, g num.Format) bool { return p.parts[0].Widens(f, g) }

// Widen runs on all GPUs.
func (p *Place) Widen(c place.Config, to, from num.Mat) error {
	return p.each(c, to, []num.Mat{from}, func(c place.Config, g GPU, q piece, in []num.Mat) error {
		return g.Widen(c, q.m, in[0])
	})
}

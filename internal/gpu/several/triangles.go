package several

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// An Across is a pair of blocks of a symmetric matrix in MP that should be equal: A of one GPU, and
// B, which is transposed, of another or the same. They are compared below the diagonal of A ('L'),
// above it ('U'), or everywhere if Triangle is 0.
type Across struct {
	A, B     num.Mat
	Triangle byte
}

// Triangle runs on all GPUs if they can access each other's memory or need not, else on the first
// GPU, which does not use the tally.
func (p *Place) Triangle(c place.Config, op place.TriangleOperation, a num.Mat, tally *num.Array) (int, error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	list := p.shares(a)
	if op == place.HalveDiagonal || op == place.CountNotPositive {
		if len(list) > 0 {
			return p.diagonal(c, op, a, tally)
		}
	} else if linked, err := p.link.Linked(c.Ctx); err != nil {
		return 0, err
	} else if linked && len(list) > 0 {
		if op == place.CountAsymmetric {
			counters := make([]*num.Array, len(p.parts))
			for d := range counters {
				if counters[d], err = tallyOf(c.Ctx, tally, d); err != nil {
					return 0, err
				}
			}
			return p.link.CountAsymmetric(c.Ctx, facing(list), counters)
		}
		p.changed(a)
		return 0, p.link.Mirror(c.Ctx, mirrored(list))
	}
	in, out, count := []num.Mat{a}, []num.Mat(nil), 0
	if op == place.HalveDiagonal || op == place.MirrorLower {
		in, out = nil, in
	}
	err := p.first(c, in, out, func(g GPU, in, out []num.Mat) (err error) {
		count, err = g.Triangle(c, op, append(in, out...)[0], nil)
		return err
	})
	return count, err
}

// diagonal runs operations on the diagonal of a matrix that is distributed by columns.
func (p *Place) diagonal(c place.Config, op place.TriangleOperation, a num.Mat, tally *num.Array) (int, error) {
	var count atomic.Int64
	err := p.each(c, a, nil, func(c place.Config, g GPU, q piece, _ []num.Mat) error {
		t, err := tallyOf(c.Ctx, tally, q.d)
		if err != nil {
			return err
		}
		n, err := g.Triangle(c, op, block(q.m, q.j0, q.j1, 0, q.j1-q.j0), t)
		count.Add(int64(n))
		return err
	})
	return int(count.Load()), err
}

// HalfLessSquares runs on all GPUs, which all support the numbers or none.
func (p *Place) HalfLessSquares(c place.Config, d, z num.Mat, tally *num.Array) (bool, error) {
	done := make([]bool, len(p.parts))
	err := p.each(c, d, []num.Mat{z}, func(c place.Config, g GPU, q piece, in []num.Mat) error {
		t, err := tallyOf(c.Ctx, tally, q.d)
		if err != nil {
			return err
		}
		done[q.d], err = g.HalfLessSquares(c, q.m, in[0], t)
		return err
	})
	return slices.Contains(done, true), err
}

// facing returns, for each GPU, the blocks that it compares in a matrix that is distributed by
// columns: its diagonal block, and one half of each pair of blocks that it shares with another GPU.
func facing(list []piece) [][]Across {
	all := make([][]Across, len(list))
	for d, q := range list {
		own := block(q.m, q.j0, q.j1, 0, q.j1-q.j0)
		all[d] = append(all[d], Across{own, own.T(), 'L'})
		for e, r := range list[d+1:] {
			half := (r.j0 + r.j1) / 2
			for _, h := range []struct{ d, from, to int }{{d, r.j0, half}, {d + 1 + e, half, r.j1}} {
				below := block(q.m, h.from, h.to, 0, q.j1-q.j0)
				beside := block(r.m, q.j0, q.j1, h.from-r.j0, h.to-r.j0)
				if h.d == d {
					all[d] = append(all[d], Across{below, beside.T(), 0})
				} else {
					all[h.d] = append(all[h.d], Across{beside, below.T(), 0})
				}
			}
		}
	}
	return all
}

// mirrored returns, for each GPU, the blocks that it copies from the lower triangle of a matrix
// that is distributed by columns.
func mirrored(list []piece) [][]Across {
	all := make([][]Across, len(list))
	for d, q := range list {
		own := block(q.m, q.j0, q.j1, 0, q.j1-q.j0)
		all[d] = append(all[d], Across{own, own.T(), 'U'})
		for _, r := range list[:d] { // blocks above the diagonal
			all[d] = append(all[d], Across{block(q.m, r.j0, r.j1, 0, q.j1-q.j0), block(r.m, q.j0, q.j1, 0, r.j1-r.j0).T(), 0})
		}
	}
	return all
}

package several

import (
	"context"
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Products of triangles, and products of which only a triangle is wanted, take GPUs longer for some
// columns than for others. Where GPUs can access each other's memory, and enough is known about the
// factors, each GPU computes columns that take about the same time, wherever they are stored: it
// computes residues of the factors directly from other GPUs' memory, and stores results where they
// belong.

// rowTile is a multiple of the rows of a tile of products.
const rowTile = 2 * tile

// direct returns a job for each GPU if the product can be computed directly.
func (m *multiplication) direct(c place.Config) (jobs []job, ok bool, err error) {
	b, rows, cols := c.Bound, m.z.Rows, m.z.Cols
	if b == nil || b.Within == 0 || b.A == nil || b.B == nil || b.Tally == nil || c.Check || c.Triangle == 0 && c.Factors == [2]byte{} ||
		m.alpha.Class != num.Finite || min(rows, cols) < leastBalanced || len(m.p.shares(m.z)) == 0 ||
		m.beta.Class != num.Zero && m.old.Arr == m.z.Arr {
		return nil, false, nil
	}
	if linked, err := m.p.link.Linked(c.Ctx); err != nil || !linked {
		return nil, false, err
	}
	shares := m.p.chunks(m.quickest(c), func(from, to int) piece { return piece{i1: rows, j0: from, j1: to} })
	for _, q := range shares {
		list := m.products(c, q)
		if len(list) != 1 {
			return nil, false, nil
		}
		x := list[0]
		j := job{d: q.d, in: []num.Mat{{}}}
		of := &place.Elsewhere{C: m.blocksOf(m.z, x.i0, x.i1, x.j0, x.j1)}
		if m.beta.Class != num.Zero {
			j.in[0] = block(m.old, x.i0, x.i1, x.j0, x.j1)
		}
		if of.A, of.B = m.factorsOf(x); !tiled(of.A, rowTile, tile) || !tiled(of.B, tile, tile) || len(of.C) == 0 {
			return nil, false, nil
		}
		j.run = m.runDirect(c, x, of)
		jobs = append(jobs, j)
	}
	return jobs, true, nil
}

// runDirect returns the function that runs a job.
func (m *multiplication) runDirect(whole place.Config, x product, of *place.Elsewhere) func(c place.Config, g GPU, in []num.Mat) error {
	return func(c place.Config, g GPU, in []num.Mat) error {
		shape := func(b place.Block, rows, cols int) num.Mat {
			b.M.Rows, b.M.Cols = rows, cols
			return b.M
		}
		a, b, z := shape(of.A[0], x.i1-x.i0, x.k1-x.k0), shape(of.B[0], x.k1-x.k0, x.j1-x.j0), shape(of.C[0], x.i1-x.i0, x.j1-x.j0)
		old := in[0]
		if old.Arr == nil {
			old = z
		}
		d := slices.Index(m.p.parts, g)
		c.Triangle, c.Factors, c.Before, c.Elsewhere = x.triangle, x.factors, x.before, of
		c.Bound = m.bound(whole, d, x.i0, x.i1, x.j0, x.j1)
		st, err := g.Gemm(c, m.alpha, a, b, m.beta, old, z)
		return m.add(st, err, x.i0, x.j0)
	}
}

// factorsOf returns the blocks of A and of B that a product uses. If A is lower triangular, or B is
// upper triangular, products leave out the tiles beyond the diagonal: the blocks begin at the first
// row, or column, whose tiles use some of their numbers.
func (m *multiplication) factorsOf(x product) (a, b []place.Block) {
	a, b = m.blocksOf(m.a, x.i0, x.i1, x.k0, x.k1), m.blocksOf(m.b, x.k0, x.k1, x.j0, x.j1)
	switch x.factors {
	case [2]byte{'L', 0}:
		for k, q := range a {
			if from := (q.Col - x.before[0]) / rowTile * rowTile; from > q.Row && from < q.Row+q.M.Rows {
				a[k] = place.Block{Row: from, Col: q.Col, M: block(q.M, from-q.Row, q.M.Rows, 0, q.M.Cols)}
			}
		}
	case [2]byte{0, 'U'}:
		for k, q := range b {
			if from := (q.Row - x.before[1]) / tile * tile; from > q.Col && from < q.Col+q.M.Cols {
				b[k] = place.Block{Row: q.Row, Col: from, M: block(q.M, 0, q.M.Rows, from-q.Col, q.M.Cols)}
			}
		}
	}
	return a, b
}

// blocksOf returns the blocks in which rows i0 <= i < i1 and columns j0 <= j < j1 of a matrix are
// stored, or nil if a column or row is split between GPUs.
func (m *multiplication) blocksOf(a num.Mat, i0, i1, j0, j1 int) (list []place.Block) {
	pieces, ok := m.p.pieces(block(a, i0, i1, j0, j1))
	if !ok {
		return nil
	}
	for _, q := range pieces {
		list = append(list, place.Block{Row: q.i0, Col: q.j0, M: q.m})
	}
	return list
}

// tiled reports whether list is not empty and all its blocks begin at tiles.
func tiled(list []place.Block, rows, cols int) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(b place.Block) bool { return b.Row%rows != 0 || b.Col%cols != 0 })
}

// directly computes C by direct jobs, if possible.
func (m *multiplication) directly(c place.Config) (done bool, err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	jobs, ok, err := m.direct(c)
	if !ok || err != nil {
		return false, err
	}
	if err := m.workDirect(c, jobs); !errors.Is(err, place.ErrApart) {
		return true, err
	}
	m.did = did{}
	return false, nil
}

// workDirect runs the jobs of direct; the GPUs meet before and after.
func (m *multiplication) workDirect(c place.Config, jobs []job) error {
	m.p.changed(m.z)
	return m.p.workBy(c, jobs, func(c place.Config, f *fetching, jobs []job, in [][]num.Mat) error {
		if !f.met {
			if err := m.p.link.Meet(c.Ctx); err != nil {
				return err
			}
		}
		if err := m.p.runAll(c, f, jobs, in); err != nil {
			return err
		}
		return m.p.link.Meet(c.Ctx)
	})
}

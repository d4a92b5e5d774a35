package several

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// sharedFrom is the order from which all GPUs make an approximate inverse: two H100s took 7.2 ms
// where one took 8.0 for n = 4096, 28.4 and 41.6 ms for 8192.
var sharedFrom = 3072

// Inverse runs on all GPUs, if each has the same columns of both matrices and they reach each
// other's memory, else on the first one.
func (p *Place) Inverse(c place.Config, a, x num.Mat) (rows, cols []int64, ok bool, err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	if of, to := p.shares(a), p.shares(x); a.Rows >= sharedFrom && sameColumns(of, to) {
		p.changed(x)
		rows, cols, ok, possible, err := p.link.Inverse(c.Ctx, matrices(of), matrices(to))
		if err != nil || possible {
			return rows, cols, ok, err
		}
	}
	err = p.first(c, []num.Mat{a}, []num.Mat{x}, func(g place.Place, in, out []num.Mat) (err error) {
		rows, cols, ok, err = g.Inverse(c, in[0], out[0])
		return err
	})
	return rows, cols, ok, err
}

// InverseRoot runs where Inverse does.
func (p *Place) InverseRoot(c place.Config, a, x num.Mat) (exps []int64, ok bool, err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	if of, to := p.shares(a), p.shares(x); a.Rows >= sharedFrom && sameColumns(of, to) {
		p.changed(x)
		exps, ok, possible, err := p.link.InverseRoot(c.Ctx, matrices(of), matrices(to))
		if err != nil || possible {
			return exps, ok, err
		}
	}
	err = p.first(c, []num.Mat{a}, []num.Mat{x}, func(g place.Place, in, out []num.Mat) (err error) {
		exps, ok, err = g.InverseRoot(c, in[0], out[0])
		return err
	})
	return exps, ok, err
}

// shares returns the columns that all GPUs have of a matrix, or nothing.
func (p *Place) shares(m num.Mat) []piece {
	list, ok := p.pieces(m)
	if !ok || byRows(m) || len(list) != len(p.parts) {
		return nil
	}
	for d, q := range list {
		if q.d != d {
			return nil
		}
	}
	return list
}

// sameColumns reports whether GPUs have the same columns of two matrices.
func sameColumns(a, b []piece) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for d := range a {
		if a[d].j0 != b[d].j0 || a[d].j1 != b[d].j1 {
			return false
		}
	}
	return true
}

// matrices returns what GPUs have.
func matrices(list []piece) (m []num.Mat) {
	for _, q := range list {
		m = append(m, q.m)
	}
	return m
}

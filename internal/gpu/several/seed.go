package several

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// sharedFrom is the order from which on all GPUs compute an approximate inverse: two H100 took 7.2
// ms and one took 8.0 ms for n = 4096, 28.4 and 41.6 ms for 8192.
var sharedFrom = 3072

// rootSharedFrom is sharedFrom for inverses of Cholesky factors. Each panel of 256 columns waits
// for the panel before, so two GPUs gain little: on two H200 the seed and its matrices took 5.7 ms,
// and 3.8 on one, for n = 4096, 13.6 and 15.2 for 8192 (bench/records/h200-two.json.gz).
var rootSharedFrom = 6144

// Inverse runs on all GPUs if each stores the same columns of both matrices and they can access
// each other's memory, else on the first GPU. It waits for the result. Its only attempt includes
// all attempts of one GPU.
func (p *Place) Inverse(c place.Config, a, x num.Mat, attempt int) (rows, cols []int64, begun place.Seed, err error) {
	if attempt > 0 {
		return nil, nil, nil, nil
	}
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	if of, to := p.shares(a), p.shares(x); a.Rows >= sharedFrom && sameColumns(of, to) {
		p.changed(x)
		rows, cols, ok, possible, err := p.link.Inverse(c.Ctx, matrices(of), matrices(to))
		if err != nil || possible {
			return rows, cols, place.Made(ok), err
		}
	}
	ok := false
	err = p.first(c, []num.Mat{a}, []num.Mat{x}, func(g GPU, in, out []num.Mat) (err error) {
		for attempt := 0; !ok; attempt++ {
			if rows, cols, begun, err = g.Inverse(c, in[0], out[0], attempt); err != nil || begun == nil {
				return err
			}
			if ok, err = begun.Settle(c); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, cols, place.Made(ok), err
}

// InverseRoot runs where Inverse does, and waits for the result.
func (p *Place) InverseRoot(c place.Config, a, x num.Mat) (exps []int64, begun place.Seed, err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	if of, to := p.shares(a), p.shares(x); a.Rows >= rootSharedFrom && sameColumns(of, to) {
		p.changed(x)
		exps, ok, possible, err := p.link.InverseRoot(c.Ctx, matrices(of), matrices(to))
		if err != nil || possible {
			return exps, place.Made(ok), err
		}
	}
	ok := false
	err = p.first(c, []num.Mat{a}, []num.Mat{x}, func(g GPU, in, out []num.Mat) (err error) {
		if exps, begun, err = g.InverseRoot(c, in[0], out[0]); err != nil || begun == nil {
			return err
		}
		ok, err = begun.Settle(c)
		return err
	})
	return exps, place.Made(ok), err
}

// shares returns the columns of a matrix that each GPU stores; nil unless every GPU has some, in
// order.
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

// sameColumns reports whether the GPUs store the same columns of two matrices.
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

// matrices returns the views of the pieces on their GPUs.
func matrices(list []piece) (m []num.Mat) {
	for _, q := range list {
		m = append(m, q.m)
	}
	return m
}

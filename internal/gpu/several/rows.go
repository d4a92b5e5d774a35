package several

import (
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/superacc"
)

// one serializes the calls of count, which several GPUs make.
func one(count func(num.Flags)) func(num.Flags) {
	var mu sync.Mutex
	return func(f num.Flags) {
		mu.Lock()
		defer mu.Unlock()
		count(f)
	}
}

// vector returns a view of one row or column as a vector.
func vector(m num.Mat) num.Vec {
	if m.Cols == 1 {
		return num.Vec{Arr: m.Arr, Off: m.Off, Inc: m.RS, N: m.Rows}
	}
	return num.Vec{Arr: m.Arr, Off: m.Off, Inc: m.CS, N: m.Cols}
}

// matrix returns a vector as a column; a vector without an array becomes a matrix without one.
func matrix(v num.Vec) num.Mat {
	m := v.Mat()
	m.CS = 1
	return m
}

// Gemv computes on each GPU the rows of the result whose rows of M it stores, if M is distributed
// by rows, and on the first GPU if M is small. Otherwise each GPU gets some rows of M, and keeps
// them until M changes.
func (p *Place) Gemv(c place.Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y, z num.Vec, count func(num.Flags)) (int64, error) {
	if z.Arr.Away == nil {
		return p.parts[0].Gemv(c, alpha, m, x, beta, y, z, count)
	}
	list, ok := p.pieces(m)
	if !ok || len(list) == 0 || !byRows(m) && !p.small(m) {
		list = p.chunks(p.even(m.Rows, 1), func(from, to int) piece { return piece{i0: from, i1: to, j1: m.Cols} })
	}
	count = one(count)
	var exact atomic.Int64
	var jobs []job
	for _, q := range list {
		in := []num.Mat{q.of(m), matrix(x), {}}
		if beta.Class != num.Zero {
			in[2] = block(matrix(y), q.i0, q.i1, 0, 1)
		}
		out := block(matrix(z), q.i0, q.i1, 0, 1)
		jobs = append(jobs, job{d: q.d, in: in, keep: []bool{true, false, false}, out: out, written: true,
			run: func(c place.Config, g GPU, in []num.Mat) error {
				old := in[2]
				if old.Arr == nil {
					old = in[3]
				}
				n, err := g.Gemv(c, alpha, in[0], vector(in[1]), beta, vector(old), vector(in[3]), count)
				exact.Add(n)
				return err
			}})
	}
	err := p.work(c, jobs)
	return exact.Load(), err
}

// Reduce runs on the first GPU.
func (p *Place) Reduce(c place.Config, r direct.Reduction, x, y num.Vec, z *num.Array) (flags num.Flags, exact bool, err error) {
	err = p.first(c, []num.Mat{matrix(x), matrix(y)}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		flags, exact, err = g.Reduce(c, r, vector(in[0]), vector(in[1]), z)
		return err
	})
	return flags, exact, err
}

// Norm runs on the first GPU.
func (p *Place) Norm(c place.Config, x num.Vec, z *num.Array) (flags num.Flags, exact bool, err error) {
	err = p.first(c, []num.Mat{matrix(x)}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		flags, exact, err = g.Norm(c, vector(in[0]), z)
		return err
	})
	return flags, exact, err
}

// Iamax runs on the first GPU.
func (p *Place) Iamax(c place.Config, x num.Vec) (best int, err error) {
	err = p.first(c, []num.Mat{matrix(x)}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		best, err = g.Iamax(c, vector(in[0]))
		return err
	})
	return best, err
}

// Moments runs on the first GPU.
func (p *Place) Moments(c place.Config, x num.Vec, list ...direct.Moment) (sums []*superacc.Acc, err error) {
	err = p.first(c, []num.Mat{matrix(x)}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		sums, err = g.Moments(c, vector(in[0]), list...)
		return err
	})
	return sums, err
}

// each runs a routine for every piece of a matrix, with the same rows and columns of the operands,
// which have its shape; operands without an array are passed on unchanged. If the matrix has no
// pieces, the routine runs for the whole matrix on the first GPU.
func (p *Place) each(c place.Config, z num.Mat, operands []num.Mat, run func(c place.Config, g GPU, q piece, in []num.Mat) error) error {
	p.changed(z)
	list, ok := p.pieces(z)
	if !ok || len(list) == 0 {
		return p.first(c, operands, []num.Mat{z}, func(g GPU, in, out []num.Mat) error {
			return run(c, g, piece{i1: z.Rows, j1: z.Cols, m: out[0]}, in)
		})
	}
	var jobs []job
	for _, q := range list {
		var in []num.Mat
		for _, m := range operands {
			in = append(in, q.of(m))
		}
		jobs = append(jobs, job{d: q.d, in: in, run: func(c place.Config, g GPU, in []num.Mat) error { return run(c, g, q, in) }})
	}
	return p.work(c, jobs)
}

// Scal runs on all GPUs.
func (p *Place) Scal(c place.Config, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) error {
	if x.Arr.Away == nil {
		return p.parts[0].Scal(c, alpha, x, z, count)
	}
	count = one(count)
	return p.each(c, matrix(x), nil, func(c place.Config, g GPU, q piece, _ []num.Mat) error {
		return g.Scal(c, alpha, vector(q.m), nil, count)
	})
}

// Copy runs on all GPUs.
func (p *Place) Copy(c place.Config, to, from num.Mat) error {
	return p.each(c, to, []num.Mat{from}, func(c place.Config, g GPU, q piece, in []num.Mat) error {
		return g.Copy(c, q.m, in[0])
	})
}

// Update runs on all GPUs.
func (p *Place) Update(c place.Config, alpha num.Real, x, y num.Vec, a num.Mat, z *num.Array, count func(num.Flags)) error {
	if a.Arr.Away == nil {
		return p.parts[0].Update(c, alpha, x, y, a, z, count)
	}
	count = one(count)
	if y.Arr == nil {
		a = matrix(a.Col(0))
	}
	p.changed(a)
	list, ok := p.pieces(a)
	if !ok || len(list) == 0 {
		return p.first(c, []num.Mat{matrix(x), matrix(y)}, []num.Mat{a}, func(g GPU, in, out []num.Mat) error {
			return g.Update(c, alpha, vector(in[0]), vector(in[1]), out[0], nil, count)
		})
	}
	var jobs []job
	for _, q := range list {
		in := []num.Mat{block(matrix(x), q.i0, q.i1, 0, 1), {}}
		if y.Arr != nil {
			in[1] = block(matrix(y), q.j0, q.j1, 0, 1)
		}
		jobs = append(jobs, job{d: q.d, in: in, run: func(c place.Config, g GPU, in []num.Mat) error {
			return g.Update(c, alpha, vector(in[0]), vector(in[1]), q.m, nil, count)
		}})
	}
	return p.work(c, jobs)
}

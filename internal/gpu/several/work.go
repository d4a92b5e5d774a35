package several

import (
	"context"
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// A job is work of GPU d on views of the place, which it gets.
type job struct {
	d    int
	in   []num.Mat // without an array: no operand
	keep []bool    // copies of these to keep; nil for none
	// out is a view of the place that the job changes, passed to run as the last operand if it has
	// an array. If other GPUs store some of its entries, the job gets a copy, which is copied back.
	// If out is only written, the entries of the copy are unspecified before.
	out     num.Mat
	written bool
	// columns of in[0] that arrive while the job runs, or nil: see gathered
	comes *coming
	run   func(c place.Config, g GPU, in []num.Mat) error
}

// coming are the columns from <= j < until of a matrix; known tells whether the results of a scan
// are known.
type coming struct {
	from, until int
	known       bool
}

// work runs jobs in parallel, but jobs of one GPU in turn. The first error stops the others.
func (p *Place) work(c place.Config, jobs []job) error {
	return p.workBy(c, jobs, p.runAll)
}

// workBy is work for jobs that run runs, with their fetched operands. If memory is short, kept
// copies are freed.
func (p *Place) workBy(c place.Config, jobs []job, run func(c place.Config, f *fetching, jobs []job, in [][]num.Mat) error) error {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	for _, j := range jobs {
		p.changed(j.out)
	}
	f, in, err := p.fetched(c, jobs)
	if errors.Is(err, place.ErrMemory) && p.keeps() {
		f.free(err)
		p.drop(nil)
		f, in, err = p.fetched(c, jobs)
	}
	defer func() { f.free(err) }()
	if err != nil {
		return err
	}
	if err = run(c, f, jobs, in); err != nil {
		return err
	}
	err = p.back(f, jobs, in)
	return err
}

// fetched returns the operands of the jobs, which are present or being copied.
func (p *Place) fetched(c place.Config, jobs []job) (*fetching, [][]num.Mat, error) {
	f, in, err := p.arranged(c, jobs)
	if err == nil {
		err = f.run()
	}
	return f, in, err
}

// arranged returns the operands of the jobs, which are present once the fetching has run.
func (p *Place) arranged(c place.Config, jobs []job) (*fetching, [][]num.Mat, error) {
	f := p.fetching(c)
	all := make([][]num.Mat, len(jobs))
	for k, j := range jobs {
		var in []num.Mat
		for i, m := range j.in {
			var z num.Mat
			var err error
			if j.comes != nil && i == 0 {
				f.gathered.known = j.comes.known
				z, err = f.gathered.add(f, j.d, m, j.comes.from, j.comes.until)
			} else {
				z, err = f.look(j.d, m, j.keep != nil && j.keep[i])
			}
			if err != nil {
				return f, nil, err
			}
			in = append(in, z)
		}
		if j.out.Arr != nil {
			z, err := f.target(j)
			if err != nil {
				return f, nil, err
			}
			in = append(in, z)
		}
		all[k] = in
	}
	return f, all, nil
}

// local reports whether GPU d stores all of a view.
func local(d int, m num.Mat) bool {
	s := storageOf(m.Arr)
	lo, hi := span(m)
	return lo < hi && lo >= s.start[d] && hi <= s.start[d+1]
}

// target returns the destination of the results of a job.
func (f *fetching) target(j job) (num.Mat, error) {
	if !j.written || local(j.d, j.out) {
		return f.get(j.d, j.out)
	}
	m := j.out
	a, err := f.room(j.d, m.Arr.Format, m.Rows, m.Cols)
	z := num.Mat{Arr: a, RS: 1, CS: max(m.Rows, 1), Rows: m.Rows, Cols: m.Cols}
	if byRows(m) {
		z.RS, z.CS = max(m.Cols, 1), 1
	}
	return z, err
}

// runAll runs jobs with their fetched operands.
func (p *Place) runAll(c place.Config, f *fetching, jobs []job, in [][]num.Mat) error {
	works := func(d int) bool { return slices.ContainsFunc(jobs, func(j job) bool { return j.d == d }) }
	return p.share(c, works, func(c place.Config, d int) error {
		c.Panels = f.gathered.of(d)
		for k, j := range jobs {
			if j.d != d {
				continue
			}
			if err := j.run(c, p.parts[d], in[k]); err != nil {
				return err
			}
		}
		return nil
	})
}

// share runs f for the GPUs with work concurrently. The first error cancels the others.
func (p *Place) share(c place.Config, works func(d int) bool, f func(c place.Config, d int) error) error {
	var cancel context.CancelFunc
	c.Ctx, cancel = context.WithCancel(c.Ctx)
	defer cancel()
	c.Threads = max(1, c.Threads/len(p.parts))
	return p.some(works, func(d int) error {
		c := c
		if d > 0 {
			c.Progress = nil // must be called by one goroutine
		}
		err := f(c, d)
		if err != nil {
			cancel()
		}
		return err
	})
}

// back copies results to the GPUs that store them.
func (p *Place) back(f *fetching, jobs []job, in [][]num.Mat) error {
	g := p.fetching(f.cfg)
	var err error
	for k, j := range jobs {
		if j.out.Arr == nil || local(j.d, j.out) || j.out.Rows*j.out.Cols == 0 {
			continue
		}
		if err = g.spread(j.out, j.d, in[k][len(in[k])-1]); err != nil {
			break
		}
	}
	if err == nil {
		err = g.run()
	}
	g.free(err)
	return err
}

// spread copies a matrix of GPU d to a view. The columns or rows of the matrix must be contiguous,
// in the same direction as the view's.
func (f *fetching) spread(to num.Mat, d int, from num.Mat) error {
	if byRows(to) {
		to, from = to.T(), from.T()
	}
	list, ok := f.p.pieces(to)
	if !ok {
		panic("several: results that lie apart")
	}
	for _, q := range list {
		x := q.of(from)
		if q.d == d {
			f.stores[d] = append(f.stores[d], func() error { return f.p.parts[d].Copy(f.cfg, q.m, x) })
			continue
		}
		z := q.m
		if !compact(z) {
			a, err := f.room(q.d, z.Arr.Format, z.Rows, z.Cols)
			if err != nil {
				return err
			}
			z = num.Mat{Arr: a, RS: 1, CS: z.Rows, Rows: z.Rows, Cols: z.Cols}
			f.stores[q.d] = append(f.stores[q.d], func() error { return f.p.parts[q.d].Copy(f.cfg, q.m, z) })
		}
		f.pull(q.d, z.Arr, z.Off, d, x.Arr, x.Off, x.Rows*x.Cols)
	}
	return nil
}

// compact reports whether the entries of m are contiguous, column by column.
func compact(m num.Mat) bool {
	return (m.RS == 1 || m.Rows == 1) && (m.CS == m.Rows || m.Cols == 1)
}

// keeps reports whether there are kept copies.
func (p *Place) keeps() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.kept) > 0
}

package several

import (
	"context"
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// A job is what GPU d does with views of the place, which it gets.
type job struct {
	d    int
	in   []num.Mat // without an array: none
	keep []bool    // of these, copies that are kept; nil for none
	// out is a view of the place that the job changes, last of what it gets, if it has an array: if
	// others have some of its entries, a copy that goes back. A view that is only written has no
	// known entries in the copy.
	out     num.Mat
	written bool
	// of in[0] columns come while the job is done, or nil: see gathered
	comes *coming
	run   func(c place.Config, g GPU, in []num.Mat) error
}

// coming are columns from <= j < until of a matrix of which it is known, or not, what a scan would
// find.
type coming struct {
	from, until int
	known       bool
}

// work does jobs, those of a GPU one after the other. The first error ends the others.
func (p *Place) work(c place.Config, jobs []job) error {
	return p.workBy(c, jobs, p.runAll)
}

// workBy is work for jobs that run does for what they get. Where memory is short the copies that
// are kept make room.
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

// fetched returns what jobs get, which is there or on its way.
func (p *Place) fetched(c place.Config, jobs []job) (*fetching, [][]num.Mat, error) {
	f, in, err := p.arranged(c, jobs)
	if err == nil {
		err = f.run()
	}
	return f, in, err
}

// arranged returns what jobs get, once it has run.
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

// local reports whether GPU d has all of a view.
func local(d int, m num.Mat) bool {
	s := storageOf(m.Arr)
	lo, hi := span(m)
	return lo < hi && lo >= s.start[d] && hi <= s.start[d+1]
}

// target returns where a job puts its results.
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

// runAll runs jobs for what they have got.
func (p *Place) runAll(c place.Config, f *fetching, jobs []job, in [][]num.Mat) error {
	return p.share(c, func(c place.Config, d int) error {
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

// share runs f for all GPUs side by side. The first error ends the others.
func (p *Place) share(c place.Config, f func(c place.Config, d int) error) error {
	var cancel context.CancelFunc
	c.Ctx, cancel = context.WithCancel(c.Ctx)
	defer cancel()
	c.Threads = max(1, c.Threads/len(p.parts))
	return p.together(func(d int) error {
		c := c
		if d > 0 {
			c.Progress = nil // which is one goroutine's
		}
		err := f(c, d)
		if err != nil {
			cancel()
		}
		return err
	})
}

// back copies results to where they live.
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

// spread copies a matrix of GPU d, whose columns or rows lie one after the other as those of a view
// do, to the view.
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

// compact reports whether the entries of m lie one after the other, column by column.
func compact(m num.Mat) bool {
	return (m.RS == 1 || m.Rows == 1) && (m.CS == m.Rows || m.Cols == 1)
}

// keeps reports whether copies are kept.
func (p *Place) keeps() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.kept) > 0
}

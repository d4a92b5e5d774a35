package several

import (
	"context"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// fetching brings operands to the GPUs that need them. Operands that a GPU stores itself are used
// in place. Scattered operands are first packed in the memory of the GPU that stores them, and then
// pulled at once.
type fetching struct {
	p     *Place
	cfg   place.Config
	got   map[wanted]num.Mat
	taken []*num.Array // to be freed at the end
	fresh []*copied    // to be kept
	using []*copied    // kept copies in use
	// operations of each GPU, in this order: packing, pulling copies from others, storing results
	packs, pulls, stores [][]func() error
	gathered             gathered
	met                  bool // the GPUs met after all copies
}

// wanted is a view that GPU d needs.
type wanted struct {
	d int
	m num.Mat
}

func (p *Place) fetching(c place.Config) *fetching {
	lists := func() [][]func() error { return make([][]func() error, len(p.parts)) }
	return &fetching{p: p, cfg: c, got: map[wanted]num.Mat{}, packs: lists(), pulls: lists(), stores: lists()}
}

// room returns an array on GPU d, which free frees.
func (f *fetching) room(d int, format num.Format, rows, cols int) (*num.Array, error) {
	a, err := f.p.parts[d].Room(f.cfg, format, rows, cols)
	if err == nil {
		f.taken = append(f.taken, a)
	}
	return a, err
}

// get returns a view on GPU d with the entries of m, which are valid once f has run: m itself if d
// stores it, or a copy.
func (f *fetching) get(d int, m num.Mat) (z num.Mat, err error) { return f.look(d, m, false) }

// look is get; if keep is set, the copy is kept until m changes.
func (f *fetching) look(d int, m num.Mat, keep bool) (z num.Mat, err error) {
	if m.Arr == nil || m.Arr.Away == nil {
		return m, nil
	}
	if byRows(m) {
		z, err = f.look(d, m.T(), keep)
		return z.T(), err
	}
	if z, ok := f.got[wanted{d, m}]; ok {
		return z, nil
	}
	if keep {
		if x := f.p.known(wanted{d, m}); x != nil {
			f.using = append(f.using, x)
			f.got[x.wanted] = x.is
			return x.is, nil
		}
	}
	taken := len(f.taken)
	if z, err = f.find(d, m); err != nil {
		return z, err
	}
	f.got[wanted{d, m}] = z
	if keep && len(f.taken) > taken && f.taken[taken] == z.Arr {
		f.taken = slices.Delete(f.taken, taken, taken+1)
		f.fresh = append(f.fresh, &copied{wanted: wanted{d, m}, is: z, users: 1})
	}
	return z, nil
}

func (f *fetching) find(d int, m num.Mat) (num.Mat, error) {
	s := storageOf(m.Arr)
	lo, hi := span(m)
	if lo < hi && lo >= s.start[d] && hi <= s.start[d+1] {
		m.Arr = s.parts[d]
		m.Off -= s.start[d]
		return m, nil
	}
	list, ok := f.p.pieces(m)
	if !ok || hi-lo <= m.Rows*m.Cols { // all numbers among which m is stored
		z, err := f.room(d, m.Arr.Format, hi-lo, 1)
		if err != nil {
			return m, err
		}
		f.stretch(d, z, lo, hi, s)
		m.Arr = z
		m.Off -= lo
		return m, nil
	}
	a, err := f.room(d, m.Arr.Format, m.Rows, m.Cols)
	if err != nil {
		return m, err
	}
	z := num.Mat{Arr: a, RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	for _, q := range list {
		if err := f.piece(d, q.of(z), q); err != nil {
			return m, err
		}
	}
	return z, nil
}

// piece moves a piece, with all rows of a view, to a matrix on GPU d that is stored by columns.
func (f *fetching) piece(d int, to num.Mat, q piece) error {
	if q.d == d {
		f.packs[d] = append(f.packs[d], func() error { return f.p.parts[d].Copy(f.cfg, to, q.m) })
		return nil
	}
	from := q.m
	if !compact(from) {
		a, err := f.room(q.d, from.Arr.Format, from.Rows, from.Cols)
		if err != nil {
			return err
		}
		from = num.Mat{Arr: a, RS: 1, CS: from.Rows, Rows: from.Rows, Cols: from.Cols}
		f.packs[q.d] = append(f.packs[q.d], func() error { return f.p.parts[q.d].Copy(f.cfg, from, q.m) })
	}
	f.pull(d, to.Arr, to.Off, q.d, from.Arr, from.Off, to.Rows*to.Cols)
	return nil
}

// stretch moves the numbers lo <= i < hi of an array to an array of GPU d.
func (f *fetching) stretch(d int, z *num.Array, lo, hi int, s *storage) {
	for e, a := range s.parts {
		i, end := max(lo, s.start[e]), min(hi, s.start[e+1])
		if i >= end {
			continue
		}
		if e != d {
			f.pull(d, z, i-lo, e, a, i-s.start[e], end-i)
			continue
		}
		f.packs[d] = append(f.packs[d], func() error {
			return f.p.parts[d].Copy(f.cfg, numbers(z, i-lo, end-i), numbers(a, i-s.start[e], end-i))
		})
	}
}

// numbers returns n numbers of an array, from number at on, as a column.
func numbers(a *num.Array, at, n int) num.Mat {
	return num.Mat{Arr: a, Off: at, RS: 1, CS: n, Rows: n, Cols: 1}
}

func (f *fetching) pull(to int, z *num.Array, j, from int, a *num.Array, i, n int) {
	f.pulls[to] = append(f.pulls[to], func() error { return f.p.link.Pull(f.cfg.Ctx, to, z, j, from, a, i, n) })
}

// run queues all copies before the GPUs' later work. The GPUs meet, so that no GPU changes data
// that is being copied.
func (f *fetching) run() error {
	if err := f.all(f.packs); err != nil {
		return err
	}
	if slices.ContainsFunc(f.pulls, func(list []func() error) bool { return len(list) > 0 }) {
		if err := f.p.link.Meet(f.cfg.Ctx); err != nil {
			return err
		}
		if err := f.all(f.pulls); err != nil {
			return err
		}
		if err := f.p.link.Meet(f.cfg.Ctx); err != nil {
			return err
		}
		f.met = true
	}
	// Last: panels would delay the other copies, which are small where panels come.
	if err := f.gathered.begin(f); err != nil {
		return err
	}
	f.using = append(f.using, f.p.store(f.fresh)...)
	f.fresh = nil
	return f.all(f.stores)
}

// all runs the operations of each GPU, all GPUs concurrently.
func (f *fetching) all(lists [][]func() error) error {
	return f.p.some(func(d int) bool { return len(lists[d]) > 0 }, func(d int) error {
		for _, do := range lists[d] {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
}

// free frees the copies. If f has failed, it first waits until no copy is in progress.
func (f *fetching) free(err error) {
	if err != nil {
		_ = f.p.link.Meet(context.WithoutCancel(f.cfg.Ctx)) // fails only if a GPU is lost
	}
	f.gathered.end(f)
	freeAll(f.taken)
	for _, x := range f.fresh {
		x.is.Arr.Away.Free()
	}
	f.p.leave(f.using)
}

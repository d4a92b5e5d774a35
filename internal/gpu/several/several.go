// Package several is a place that is several GPUs of one host: the columns of a matrix are dealt
// out to them, the first ones to the first GPU and so on, and every GPU computes what it has of a
// result, from operands of which it gets what others have.
//
// It knows GPUs as places of one each. What it adds are the parts of an array and of its views
// (pieces.go), how operands get to where they are needed (fetch.go, panels.go), and how routines
// are cut (gemm.go, direct.go, rows.go, triangles.go, newton.go, seed.go). What is not cut runs on
// the first GPU, which gets all of its operands for that: whole in first.go.
//
// Every entry of a result is computed by one GPU from all that it depends on, or from exact parts
// of it, and rounded once, so that its bits are those of one GPU.
package several

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// A Link is how GPUs reach each other's memory. They are counted as the parts of a place are.
type Link interface {
	// Meet lets whatever GPUs do from now on wait for what all of them have been told to do so far.
	Meet(ctx context.Context) error
	// Pull copies n numbers of an array of GPU from, from number i on, to those of an array of GPU
	// to from number j on. It does not wait, for what makes them either.
	Pull(ctx context.Context, to int, z *num.Array, j, from int, a *num.Array, i, n int) error
	// Gather copies columns start[d] <= j < start[d+1] of a matrix, which GPU d has, from[d], to
	// other GPUs, matrix to[d] on GPU d, which has no array for none, both by columns without gaps.
	// GPU d wants columns want[d][0] <= j < want[d][1]. It does not wait: product d gets what it
	// returns, until Release. From changes only when the products are done. Products that are known
	// to have a bound, and what is known of their factors, may take less than all.
	Gather(ctx context.Context, start []int, from, to []num.Mat, want [][2]int, known bool) ([]place.Panels, error)
	// Release ends what Gather has begun. Products are done, or have failed and GPUs have met.
	Release(ctx context.Context, list []place.Panels)
	// Lent returns copies of a matrix of the host that GPUs have, for products there.
	Lent(m num.Mat, on []num.Mat) place.Prepared
	// Inverse is that of place.Newton for matrices of which each GPU has the same columns, in the
	// order of the GPUs, if it is possible.
	Inverse(ctx context.Context, a, x []num.Mat) (rows, cols []int64, ok, possible bool, err error)
	// InverseRoot is that of place.Factors, as Inverse.
	InverseRoot(ctx context.Context, a, x []num.Mat) (exps []int64, ok, possible bool, err error)
	// Magnitudes returns bounds of |A| x for matrices of finite numbers of MP that GPU d has, none
	// of them empty, and vectors x ≥ 0, which stand for ones where they are nil.
	Magnitudes(ctx context.Context, d int, list []num.Mat, x [][]float64) (z [][]float64, err error)
	// CountAsymmetric counts on GPU d the numbers that differ of blocks list[d], A there, for GPUs
	// that are linked.
	CountAsymmetric(ctx context.Context, list [][]Across) (count int, err error)
	// Mirror sets on GPU d all A of list[d] to B, likewise. It does not wait.
	Mirror(ctx context.Context, list [][]Across) error
	// Linked reports whether kernels of each GPU reach the memory of all others, and lets them.
	Linked(ctx context.Context) (bool, error)
	// Refine is that of place.Refiner for GPUs that are linked, which have columns of F and of X,
	// and the rows of G and of Z from the first one's on, as many: there[d] are these, of GPU d.
	Refine(ctx context.Context, r place.Refinement, there [][]num.Mat) (lengths [][]int, ok bool, err error)
	// Memory returns how many bytes each GPU has for operands.
	Memory() int64
}

// A GPU is a place that is one GPU, which offers all parts.
type GPU interface {
	place.Place
	place.Newton
	place.Refiner
	place.Factors
	place.Splitting
	place.Determinant
	place.Structured
	place.Solver
	place.Widener
}

// Place is several GPUs.
type Place struct {
	name  string
	parts []GPU       // one GPU each
	host  place.Place // shares products of matrices of the host
	link  Link
	crew  par.Crew

	mu   sync.Mutex
	kept []*copied // guarded by mu
}

// New returns the place of that name which the parts are, at least two. host shares products of
// matrices of the host.
func New(name string, parts []GPU, host place.Place, link Link) *Place {
	return &Place{name: name, parts: parts, host: host, link: link}
}

// String is the place's name.
func (p *Place) String() string { return p.name }

// First is the first GPU.
func (p *Place) First() place.Place { return p.parts[0] }

// storage is an array in parts.
type storage struct {
	p     *Place
	start []int        // part d has the numbers start[d] <= i < start[d+1]
	parts []*num.Array // nil where there are none

	freed   atomic.Bool
	mu      sync.Mutex
	tallies []*num.Array // of each GPU, where the array is a tally; guarded by mu
}

func (s *storage) Len() int           { return s.start[len(s.start)-1] }
func (s *storage) Place() place.Place { return s.p }
func (s *storage) Freed() bool        { return s.freed.Load() }

func (s *storage) Free() {
	if !s.freed.CompareAndSwap(false, true) {
		return
	}
	s.p.drop(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	freeAll(s.parts)
	freeAll(s.tallies)
}

// freeAll frees arrays of GPUs, some of which may be nil.
func freeAll(list []*num.Array) {
	for _, a := range list {
		if a != nil {
			a.Away.Free()
		}
	}
}

// storageOf returns the parts of an array of the place.
func storageOf(a *num.Array) *storage { return a.Away.(*storage) }

// owner is the part that has number i.
func (s *storage) owner(i int) int {
	d := 0
	for i >= s.start[d+1] {
		d++
	}
	return d
}

// Columns that are dealt out come in multiples of a tile of products, where there are many.
const tile = 128

// tiles are those that each GPU gets at least, or columns are dealt out one by one. A variable for
// tests.
var tiles = 4

// multiple is what the numbers of columns that so many GPUs get of n are multiples of.
func multiple(n, gpus int) int {
	if n >= gpus*tiles*tile {
		return tile
	}
	return 1
}

// starts returns where the parts of a rows x cols matrix begin: parts have whole columns, or those
// of a vector some of its entries, about as many each.
func (p *Place) starts(rows, cols int) []int {
	unit, n := rows, cols
	if cols == 1 {
		unit, n = 1, rows
	}
	count := len(p.parts)
	step := multiple(n, count)
	list := make([]int, count+1)
	for d := 1; d < count; d++ {
		list[d] = ((n*d+count-1)/count + step/2) / step * step * unit
	}
	list[count] = rows * cols
	return list
}

// array returns an array in parts, which make makes.
func (p *Place) array(f num.Format, start []int, make func(g GPU, n int) (*num.Array, error)) (*num.Array, error) {
	s := &storage{p: p, start: start}
	for d, g := range p.parts {
		var a *num.Array
		if n := start[d+1] - start[d]; n > 0 {
			var err error
			if a, err = make(g, n); err != nil {
				freeAll(s.parts)
				return nil, err
			}
		}
		s.parts = append(s.parts, a)
	}
	return &num.Array{Format: f, Away: s}, nil
}

// New returns zeros.
func (p *Place) New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error) {
	if err := p.countable(rows, cols); err != nil {
		return nil, err
	}
	return p.array(f, p.starts(rows, cols), func(g GPU, n int) (*num.Array, error) { return g.New(ctx, f, n, 1) })
}

// Room returns numbers with unspecified contents.
func (p *Place) Room(c place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	if err := p.countable(rows, cols); err != nil {
		return nil, err
	}
	return p.array(f, p.starts(rows, cols), func(g GPU, n int) (*num.Array, error) { return g.Room(c, f, n, 1) })
}

func (p *Place) countable(rows, cols int) error {
	if cols > 0 && rows > math.MaxInt/cols {
		return fmt.Errorf("%v: %w: %d x %d numbers", p, place.ErrMemory, rows, cols)
	}
	return nil
}

// held makes an array of n numbers of GPU d one of the place.
func (p *Place) held(d int, a *num.Array, n int) *num.Array {
	s := &storage{p: p, start: make([]int, len(p.parts)+1), parts: make([]*num.Array, len(p.parts))}
	for e := d; e < len(p.parts); e++ {
		s.start[e+1] = n
	}
	s.parts[d] = a
	return &num.Array{Format: a.Format, Away: s}
}

// Clone copies every part.
func (p *Place) Clone(ctx context.Context, m num.Mat) (num.Mat, error) {
	s := storageOf(m.Arr)
	d := -1
	a, err := p.array(m.Arr.Format, s.start, func(_ GPU, n int) (*num.Array, error) {
		for d++; s.parts[d] == nil; {
			d++
		}
		z, err := p.parts[d].Clone(ctx, num.Mat{Arr: s.parts[d], RS: 1, CS: n, Rows: n, Cols: 1})
		return z.Arr, err
	})
	m.Arr = a
	return m, err
}

// Set copies to every part what it has of the matrix.
func (p *Place) Set(ctx context.Context, to, from num.Mat) error {
	p.changed(to)
	list, ok := p.pieces(to)
	if !ok { // what lies between the entries travels with them
		line, at := p.line(to)
		h, err := p.Get(ctx, line)
		if err != nil {
			return err
		}
		to.Arr, to.Off = h.Arr, to.Off-at
		copyEntries(to, from)
		return p.Set(ctx, line, h)
	}
	return p.together(func(d int) error {
		for _, q := range list {
			if q.d == d {
				if err := p.parts[d].Set(ctx, q.m, q.of(from)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Get copies every part.
func (p *Place) Get(ctx context.Context, from num.Mat) (num.Mat, error) {
	list, ok := p.pieces(from)
	if !ok {
		line, at := p.line(from)
		h, err := p.Get(ctx, line)
		from.Arr, from.Off = h.Arr, from.Off-at
		return from, err
	}
	z := num.Mat{Arr: num.New(from.Arr.Format, from.Rows*from.Cols), RS: 1, CS: max(from.Rows, 1), Rows: from.Rows, Cols: from.Cols}
	return z, p.together(func(d int) error {
		for _, q := range list {
			if q.d != d {
				continue
			}
			h, err := p.parts[d].Get(ctx, q.m)
			if err != nil {
				return err
			}
			copyEntries(q.of(z), h)
		}
		return nil
	})
}

// line returns the numbers of an array that a view lies among, as a vector, and the first of them.
func (p *Place) line(m num.Mat) (line num.Mat, at int) {
	lo, hi := span(m)
	return num.Mat{Arr: m.Arr, Off: lo, RS: 1, CS: max(hi-lo, 1), Rows: hi - lo, Cols: 1}, lo
}

// copyEntries copies a matrix of the host to another one.
func copyEntries(to, from num.Mat) {
	for j := range to.Cols {
		if to.RS == 1 && from.RS == 1 {
			copyNumbers(to.Arr.Slice(to.At(0, j), to.At(0, j)+to.Rows), from.Arr.Slice(from.At(0, j), from.At(0, j)+to.Rows))
			continue
		}
		for i := range to.Rows {
			to.Arr.CopyFrom(to.At(i, j), from.Arr, from.At(i, j))
		}
	}
}

// copyNumbers copies an array of the host to another one of its length.
func copyNumbers(to, from *num.Array) {
	copy(to.F32, from.F32)
	copy(to.Sig, from.Sig)
	copy(to.Exp, from.Exp)
	copy(to.Cls, from.Cls)
	for t := range to.F64 {
		copy(to.F64[t], from.F64[t])
	}
}

// together runs f for all GPUs side by side, and returns the first of their errors.
func (p *Place) together(f func(d int) error) error {
	errs := make([]error, len(p.parts))
	p.crew.Do(len(p.parts), func(d int) { errs[d] = f(d) })
	return firstOf(errs)
}

// firstOf returns the first error, one that is no cancellation if there is one: the GPUs that stop
// because another one has failed are cancelled.
func firstOf(errs []error) (first error) {
	for _, err := range errs {
		if err != nil && (first == nil || cancelled(first) && !cancelled(err)) {
			first = err
		}
	}
	return first
}

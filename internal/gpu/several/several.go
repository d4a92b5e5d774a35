// Package several implements a place that consists of several GPUs of one host. The columns of a
// matrix are distributed over the GPUs, the first ones to the first GPU and so on. Every GPU
// computes the part of a result that it stores, and gets copies of the operands that other GPUs
// store.
//
// It uses each GPU as a place of its own. It adds the parts of an array and of its views
// (pieces.go), the transport of operands to the GPUs that need them (fetch.go, panels.go), and the
// division of routines into parts (gemm.go, direct.go, rows.go, triangles.go, newton.go, seed.go).
// Routines that are not divided run on the first GPU, which gets all of their operands (first.go).
//
// Every entry of a result is computed by one GPU from all the data it depends on, or from exact
// parts of that data, and rounded once. Its bits are therefore the same as on one GPU.
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

// A Link is the access of GPUs to each other's memory. GPUs are numbered like the parts of a place.
type Link interface {
	// Meet makes all later work of every GPU wait for the work so far of all GPUs.
	Meet(ctx context.Context) error
	// Pull copies n numbers of array a of GPU from, from number i on, to the numbers of array z of
	// GPU to from number j on. It does not wait, not even for the work that computes them.
	Pull(ctx context.Context, to int, z *num.Array, j, from int, a *num.Array, i, n int) error
	// Gather copies the columns start[d] <= j < start[d+1] of a matrix, which GPU d stores as
	// from[d], to other GPUs, into matrix to[d] on GPU d; a to[d] without an array gets nothing.
	// Both are stored by columns without gaps. GPU d needs the columns want[d][0] <= j <
	// want[d][1]. Gather does not wait. The product of GPU d gets element d of the result, which is
	// valid until Release. from must not change before the products are done. If known is set, the
	// products have a bound and the extents of their factors are known, and they may read fewer
	// columns.
	Gather(ctx context.Context, start []int, from, to []num.Mat, want [][2]int, known bool) ([]place.Panels, error)
	// Release ends what Gather has begun. The products must be done, or have failed and the GPUs
	// have met.
	Release(ctx context.Context, list []place.Panels)
	// Lent returns a host matrix prepared with copies that the GPUs already store, for products
	// there.
	Lent(m num.Mat, on []num.Mat) place.Prepared
	// Inverse is the method of place.Newton for matrices of which each GPU stores the same columns,
	// in the order of the GPUs, if that is possible.
	Inverse(ctx context.Context, a, x []num.Mat) (rows, cols []int64, ok, possible bool, err error)
	// InverseRoot is the method of place.Factors, under the conditions of Inverse.
	InverseRoot(ctx context.Context, a, x []num.Mat) (exps []int64, ok, possible bool, err error)
	// Magnitudes returns upper bounds of |A| x for nonempty matrices of finite numbers in MP that
	// GPU d stores, and vectors x ≥ 0; a nil x stands for ones.
	Magnitudes(ctx context.Context, d int, list []num.Mat, x [][]float64) (z [][]float64, err error)
	// CountAsymmetric counts, on each GPU d, the entries that differ in the blocks list[d], whose A
	// it stores, in counters[d], or returns the count if that is nil. The GPUs must be linked.
	CountAsymmetric(ctx context.Context, list [][]Across, counters []*num.Array) (count int, err error)
	// Mirror copies, on each GPU d, B to A for all of list[d], under the same condition. It does
	// not wait.
	Mirror(ctx context.Context, list [][]Across) error
	// Linked enables kernels of each GPU to access the memory of all others, and reports whether
	// all of them can.
	Linked(ctx context.Context) (bool, error)
	// Refine is the method of place.Refiner for GPUs that are linked. there[d] are the columns of F
	// and X that GPU d stores, and the rows of G and Z with the same numbers as these columns.
	Refine(ctx context.Context, r place.Refinement, there [][]num.Mat) (lengths [][]int, ok bool, err error)
	// Memory returns the bytes that each GPU has free for operands.
	Memory() int64
}

// A GPU is a place that is a single GPU and implements all optional interfaces.
type GPU interface {
	place.Place
	place.Newton
	place.Refiner
	place.Factors
	place.Squares
	place.Splitting
	place.Determinant
	place.Structured
	place.Solver
	place.Widener
}

// A Place is several GPUs.
type Place struct {
	name  string
	parts []GPU       // one GPU each
	host  place.Place // for products of host matrices on all GPUs
	link  Link
	crew  par.Crew

	mu   sync.Mutex
	kept []*copied // guarded by mu
}

// New returns the place that consists of parts, at least two GPUs. host computes products of host
// matrices on all of them.
func New(name string, parts []GPU, host place.Place, link Link) *Place {
	return &Place{name: name, parts: parts, host: host, link: link}
}

// String returns the name of the place.
func (p *Place) String() string { return p.name }

// Crew returns the goroutines that work for the GPUs.
func (p *Place) Crew() *par.Crew { return &p.crew }

// First returns the first GPU.
func (p *Place) First() place.Place { return p.parts[0] }

// storage is an array in parts.
type storage struct {
	p     *Place
	start []int        // part d has the numbers start[d] <= i < start[d+1]
	parts []*num.Array // nil for parts without numbers

	freed   atomic.Bool
	mu      sync.Mutex
	tallies []*num.Array // one for each GPU, if the array is a tally; guarded by mu
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

// storageOf returns the storage of an array of the place.
func storageOf(a *num.Array) *storage { return a.Away.(*storage) }

// owner returns the part that has number i.
func (s *storage) owner(i int) int {
	d := 0
	for i >= s.start[d+1] {
		d++
	}
	return d
}

// Numbers of columns of a GPU are multiples of a tile of products, if there are many columns.
const tile = 128

// tiles is the fewest tiles of columns a GPU for which columns are distributed by tiles; otherwise
// they are distributed one by one. Tests change it.
var tiles = 4

// multiple returns a divisor of the numbers of columns of all GPUs, for n columns.
func multiple(n, gpus int) int {
	if n >= gpus*tiles*tile {
		return tile
	}
	return 1
}

// starts returns the first numbers of the parts of a rows x cols matrix in format f. Parts have
// whole columns, or, for a vector, entries, about the same number each. The first GPU stores small
// matrices.
func (p *Place) starts(f num.Format, rows, cols int) []int {
	if min(rows, cols) > 1 && max(rows, cols) < AloneBelow.Products && int64(rows)*int64(cols) <= aloneBytes/num.SizeOf(f) {
		list := make([]int, len(p.parts)+1)
		for d := range p.parts {
			list[d+1] = rows * cols
		}
		return list
	}
	return p.even(rows, cols)
}

// even is starts for large matrices.
func (p *Place) even(rows, cols int) []int {
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

// array returns an array in parts, which make allocates.
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

// New returns an array of zeros.
func (p *Place) New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error) {
	if err := p.countable(rows, cols); err != nil {
		return nil, err
	}
	return p.array(f, p.starts(f, rows, cols), func(g GPU, n int) (*num.Array, error) { return g.New(ctx, f, n, 1) })
}

// Room returns an array with unspecified contents.
func (p *Place) Room(c place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	if err := p.countable(rows, cols); err != nil {
		return nil, err
	}
	return p.array(f, p.starts(f, rows, cols), func(g GPU, n int) (*num.Array, error) { return g.Room(c, f, n, 1) })
}

// Zeros returns an array of zeros for kernels.
func (p *Place) Zeros(c place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	if err := p.countable(rows, cols); err != nil {
		return nil, err
	}
	return p.array(f, p.starts(f, rows, cols), func(g GPU, n int) (*num.Array, error) { return g.Zeros(c, f, n, 1) })
}

func (p *Place) countable(rows, cols int) error {
	if cols > 0 && rows > math.MaxInt/cols {
		return fmt.Errorf("%v: %w: %d x %d numbers", p, place.ErrMemory, rows, cols)
	}
	return nil
}

// held returns an array of the place that consists of an array of n numbers of GPU d.
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

// Set copies to every GPU the entries that it stores.
func (p *Place) Set(ctx context.Context, to, from num.Mat) error {
	p.changed(to)
	list, ok := p.pieces(to)
	if !ok { // numbers between the entries are copied to the host and back
		line, at := p.line(to)
		h, err := p.Get(ctx, line)
		if err != nil {
			return err
		}
		to.Arr, to.Off = h.Arr, to.Off-at
		copyEntries(to, from)
		return p.Set(ctx, line, h)
	}
	return p.some(on(list), func(d int) error {
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

// Get copies the entries from every GPU.
func (p *Place) Get(ctx context.Context, from num.Mat) (num.Mat, error) {
	list, ok := p.pieces(from)
	if !ok {
		line, at := p.line(from)
		h, err := p.Get(ctx, line)
		from.Arr, from.Off = h.Arr, from.Off-at
		return from, err
	}
	z := num.Mat{Arr: num.New(from.Arr.Format, from.Rows*from.Cols), RS: 1, CS: max(from.Rows, 1), Rows: from.Rows, Cols: from.Cols}
	return z, p.some(on(list), func(d int) error {
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

// line returns the numbers of an array among which the entries of a view are stored, as a vector,
// and the index of the first of them.
func (p *Place) line(m num.Mat) (line num.Mat, at int) {
	lo, hi := span(m)
	return num.Mat{Arr: m.Arr, Off: lo, RS: 1, CS: max(hi-lo, 1), Rows: hi - lo, Cols: 1}, lo
}

// copyEntries copies a host matrix to another one.
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

// copyNumbers copies a host array to another one of the same length.
func copyNumbers(to, from *num.Array) {
	copy(to.F32, from.F32)
	copy(to.Sig, from.Sig)
	copy(to.Exp, from.Exp)
	copy(to.Cls, from.Cls)
	for t := range to.F64 {
		copy(to.F64[t], from.F64[t])
	}
}

// together runs f for all GPUs concurrently, and returns the first error.
func (p *Place) together(f func(d int) error) error {
	return p.some(func(int) bool { return true }, f)
}

// some is together for the GPUs with work.
func (p *Place) some(works func(d int) bool, f func(d int) error) error {
	var list []int
	for d := range p.parts {
		if works(d) {
			list = append(list, d)
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1: // no goroutine wakes
		return f(list[0])
	}
	errs := make([]error, len(list))
	p.crew.Do(len(list), func(k int) { errs[k] = f(list[k]) })
	return firstOf(errs)
}

// firstOf returns the first error that is not a cancellation, or else the first error: GPUs that
// stop because another one has failed are cancelled.
func firstOf(errs []error) (first error) {
	for _, err := range errs {
		if err != nil && (first == nil || cancelled(first) && !cancelled(err)) {
			first = err
		}
	}
	return first
}

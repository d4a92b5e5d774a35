// Package seed inverts matrices, and triangular and Cholesky factors of matrices, approximately in
// float64 arithmetic on NVIDIA GPUs, where they live: kernels/seed/seed.cu, partial.cu and root.cu
// have the methods.
package seed

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// MaxOrder is the most rows of a matrix.
const MaxOrder = 1<<16 - abi.SeedBlock

const (
	block = abi.SeedBlock
	node  = abi.SeedNode

	threads = 256 // of a block of most kernels
	panel   = 32  // columns that a block of pivotPanels takes
	tall    = 128 // rows that a block of rankUpdate takes

	updateShared = 8 * block * (block + tall)
)

// lookAhead is the order from which pivots are sought beside the update before them. For smaller
// matrices an update takes no longer than what the two streams cost.
const lookAhead = 1536

// Inverse stores an approximate inverse of F = diag(2^rows) A diag(2^cols) in the n x n matrix x of
// Float64, whose entries share none with A, and returns the exponents, which bring the largest
// magnitude of each row and column near 1. Nothing is known of the error. It is not ok, and x
// unspecified, if a pivot is 0, or numbers are not finite or F's beyond float64's.
//
// All is queued on the stream of s, and for large matrices on one beside it, each of which it waits
// for but once.
func Inverse(s *cuda.Stream, a, x mem.Matrix) (rows, cols []int64, ok bool, err error) {
	return inverse(s, a, x, searches, a.Rows >= lookAhead)
}

// A search is the way to choose pivot rows.
type search int

const (
	// The first NODE rows of the order have them, if nothing grows much.
	narrow search = iota
	tournament
	partial
)

// searches are those for seeds that may choose. A tournament has several rounds, one after the
// other, which take as long as all else that a step of a matrix of order 4096 waits for. Nearly all
// matrices have pivots that are good enough among so few rows: so these are tried first.
var searches = []search{narrow, tournament}

func inverse(s *cuda.Stream, a, x mem.Matrix, ways []search, ahead bool) (rows, cols []int64, ok bool, err error) {
	for _, way := range ways {
		if rows, cols, ok, err = invert(s, a, x, way, ahead); ok || err != nil {
			break
		}
	}
	return rows, cols, ok, err
}

func invert(s *cuda.Stream, a, x mem.Matrix, way search, ahead bool) (rows, cols []int64, ok bool, err error) {
	n := a.Rows
	if n == 0 || n > MaxOrder {
		return make([]int64, n), make([]int64, n), n == 0, nil
	}
	x.Changed()
	w, err := newWork(s, a, way)
	if err != nil {
		return nil, nil, false, err
	}
	defer w.free()
	for _, stage := range []func() error{w.equilibrate, w.fill, func() error { return w.eliminate(ahead) }, func() error { return w.unscramble(x) }} {
		if err := stage(); err != nil {
			return nil, nil, false, err
		}
	}
	return w.report()
}

// report returns the exponents, and whether all went well.
func (w *work) report() (rows, cols []int64, ok bool, err error) {
	n := int(w.q.A.N)
	told := make([]int64, 1+n+int(w.q.A.K))
	if err := cuda.Download(w.s, told, w.q.Status); err != nil {
		return nil, nil, false, err
	}
	exps := told[1:]
	for i, top := range exps {
		if exps[i] = -top; top == abi.NoTop {
			exps[i] = 0
		}
	}
	if w.way != narrow {
		told[0] &^= abi.SeedGrowth
	}
	return exps[:n], exps[n:], told[0] == 0, nil
}

// A work is an inversion under way.
type work struct {
	s       *cuda.Stream
	kernels *launch.Kernels
	memory  []*cuda.Memory
	q       abi.Equilibration
	g       abi.Elimination
	lists   cuda.Pointer   // of candidates of the tournament's nodes
	counts  cuda.Pointer   // a counter a node
	nodes   int            // of all levels, at most
	to      *abi.Triangles // what Triangles wants
	way     search
	partial abi.Pivoting // for partial pivoting
}

func (w *work) free() {
	for _, m := range w.memory {
		m.Free()
	}
}

// alloc returns the address of new memory.
func (w *work) alloc(bytes int) (cuda.Pointer, error) {
	m, err := w.s.Alloc(int64(bytes))
	if err != nil {
		return 0, err
	}
	w.memory = append(w.memory, m)
	return m.Pointer(), nil
}

// paddedRows returns N for a matrix of at least as many rows as columns: there is a row more for
// each column that is added.
func paddedRows(a mem.Matrix) int {
	more := (block - a.Cols%block) % block
	return (a.Rows + more + block - 1) / block * block
}

func newWork(s *cuda.Stream, a mem.Matrix, way search) (*work, error) {
	columns := (a.Cols + block - 1) / block * block
	padded := paddedRows(a)
	w := &work{s: s, kernels: launch.KernelsOf(s), way: way}
	w.q.A = abi.RowsOf(a)
	w.g.N, w.g.Columns = int32(padded), int32(columns)
	for nodes := (padded + node - 1) / node; nodes > 1; nodes = (nodes*block + node - 1) / node {
		w.nodes += nodes
	}
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&w.q.Status, 8 * (1 + a.Rows + a.Cols)}, // and rows and columns
		{&w.g.F, 8 * padded * columns},
		{&w.g.Order, 4 * padded},
		{&w.g.Slot, 4 * padded},
		{&w.g.Lower, 8 * block * block},
		{&w.g.Upper, 8 * block * block},
		{&w.g.Left, 8 * block * padded},
		{&w.g.Right, 8 * block * padded},
		{&w.lists, 4 * block * w.nodes},
		{&w.counts, 4 * w.nodes},
	} {
		var err error
		if *m.to, err = w.alloc(m.bytes); err != nil {
			w.free()
			return nil, err
		}
	}
	w.q.Rows = w.q.Status + 8
	w.q.Cols = w.q.Rows + cuda.Pointer(8*a.Rows)
	w.g.Status = w.q.Status
	return w, nil
}

// launch runs a kernel in stream s.
func (w *work) launch(s *cuda.Stream, kernel string, grid cuda.Dim, shared int, args ...any) error {
	f, err := w.kernels.Function(s, "seed/seed", kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, grid, cuda.Dim{X: threads}, shared, args...)
}

// equilibrate finds exponents that bring the largest entries of all rows, then of all columns, near
// 1.
func (w *work) equilibrate() error {
	m, n := int(w.q.A.N), int(w.q.A.K)
	if err := w.s.Zero(w.q.Status, 8); err != nil {
		return err
	}
	if err := w.s.Zero(w.counts, int64(4*w.nodes)); err != nil {
		return err
	}
	if err := w.s.Fill(w.q.Rows, abi.NoTopByte, int64(8*(m+n))); err != nil {
		return err
	}
	grid := cuda.Dim{X: (m + block - 1) / block, Y: (n + block - 1) / block}
	for columns := range int32(2) {
		if err := w.launch(w.s, "equilibrateTops", grid, 0, w.q, columns); err != nil {
			return err
		}
	}
	return nil
}

// fill makes F.
func (w *work) fill() error {
	n := int(w.g.N)
	return w.launch(w.s, "equilibrated", cuda.Dim{X: (n + threads - 1) / threads, Y: int(w.g.Columns)}, 0, w.q, w.g)
}

// eliminate inverts F but for the order of its rows and columns.
func (w *work) eliminate(ahead bool) error {
	if !ahead {
		for w.g.First = 0; w.g.First < w.g.Columns; w.g.First += block {
			if err := w.pivots(w.s, w.g); err != nil {
				return err
			}
			if err := w.panels(w.s); err != nil {
				return err
			}
			if err := w.update(w.s, 0, int(w.g.Columns)/block, math.MaxInt32); err != nil {
				return err
			}
		}
		return nil
	}
	beside, err := w.s.NewStream()
	if err != nil {
		return err
	}
	err = w.eliminateAhead(beside)
	if e := beside.Close(); err == nil {
		err = e
	}
	return err
}

// eliminateAhead seeks the pivots of a step as soon as its columns are there. What all wait for is
// in the other stream, whose blocks go first, the updates of all other columns in that of s, behind
// the beginning of the pivots' search, which would wait for room among them.
func (w *work) eliminateAhead(beside *cuda.Stream) error {
	var events [3]*cuda.Event
	for i := range events {
		var err error
		if events[i], err = w.s.NewEvent(); err != nil {
			return err
		}
		defer events[i].Close()
	}
	columns, updated, done := events[0], events[1], events[2]
	follow := func(s, t *cuda.Stream, e *cuda.Event) error {
		if err := t.Record(e); err != nil {
			return err
		}
		return s.Wait(e)
	}
	if err := follow(beside, w.s, updated); err != nil {
		return err
	}
	tiles := int(w.g.Columns) / block
	if err := w.pivots(beside, w.g); err != nil {
		return err
	}
	for k := range tiles {
		w.g.First = int32(k * block)
		if err := w.panels(beside); err != nil {
			return err
		}
		if k == tiles-1 {
			if err := w.update(beside, 0, tiles, math.MaxInt32); err != nil {
				return err
			}
			break
		}
		if err := w.update(beside, k+1, 1, math.MaxInt32); err != nil {
			return err
		}
		if err := beside.Record(columns); err != nil {
			return err
		}
		next := w.g
		next.First += block
		if err := w.pivots(beside, next); err != nil {
			return err
		}
		if err := w.s.Wait(columns); err != nil {
			return err
		}
		if err := w.update(w.s, 0, tiles-1, k+1); err != nil {
			return err
		}
		if err := follow(beside, w.s, updated); err != nil {
			return err
		}
	}
	return follow(w.s, beside, done)
}

// pivots chooses the pivot rows of a step in stream s.
func (w *work) pivots(s *cuda.Stream, g abi.Elimination) error {
	if w.way == partial {
		return w.partialPivots(s, g)
	}
	return w.tournament(s, g, 0)
}

// tournament picks the pivot rows of a step, or makes BLOCK rows of a list those, in this order, if
// there is one.
func (w *work) tournament(s *cuda.Stream, g abi.Elimination, given cuda.Pointer) error {
	nodes := (int(g.N-g.First) + node - 1) / node
	if given != 0 || w.way == narrow {
		nodes = 1
	}
	return w.launch(s, "pivots", cuda.Dim{X: nodes}, 0, g, w.lists, w.counts, given)
}

// panels makes the factors of the update in stream s.
func (w *work) panels(s *cuda.Stream) error {
	if err := w.launch(s, "pivotPanels", cuda.Dim{X: int(w.g.N) / panel, Y: 2}, 0, w.g); err != nil || w.to == nil {
		return err
	}
	return w.triangles(s)
}

// update updates so many blocks of columns from block begin on, but not block without.
func (w *work) update(s *cuda.Stream, begin, count, without int) error {
	return w.launch(s, "rankUpdate", cuda.Dim{X: (int(w.g.N) + tall - 1) / tall, Y: count}, updateShared, w.g, int32(begin), int32(without))
}

// unscramble stores the inverse.
func (w *work) unscramble(x mem.Matrix) error {
	w.g.First = w.g.N
	return w.launch(w.s, "unscrambled", cuda.Dim{X: (x.Rows + threads - 1) / threads, Y: int(w.g.N)}, 0, w.g, int32(x.Rows), first(x), int64(x.RS), int64(x.CS))
}

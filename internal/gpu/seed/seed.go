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
	strip   = 32  // columns, or rows, of factors that a block makes
	tall    = 128 // rows that a block of updates takes
	wide    = 128 // columns that a block of panelUpdate takes

	chunk, stages = 16, 3 // of updates
)

// panelWidth is how many columns a panel has: updates by so many do as many operations for a number
// that they read and write as the GPUs that there are can in that time.
const panelWidth = 256

// panelsFrom is the order from which columns are eliminated in panels, each beside the update
// before it. For smaller matrices an update takes no longer than what the two streams cost.
const panelsFrom = 1536

// widthFor returns the width of panels for a matrix of so many rows: that of a step where there are
// none.
func widthFor(rows int) int {
	if rows < panelsFrom {
		return block
	}
	return panelWidth
}

// Inverse stores an approximate inverse of F = diag(2^rows) A diag(2^cols) in the n x n matrix x of
// Float64, whose entries share none with A, and returns the exponents, which bring the largest
// magnitude of each row and column near 1. Nothing is known of the error. It is not ok, and x
// unspecified, if a pivot is 0, or numbers are not finite or F's beyond float64's.
//
// All is queued on the stream of s, and for large matrices on one beside it, each of which it waits
// for but once.
func Inverse(s *cuda.Stream, a, x mem.Matrix) (rows, cols []int64, ok bool, err error) {
	return inverse(s, a, x, searches, widthFor(a.Rows))
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

func inverse(s *cuda.Stream, a, x mem.Matrix, ways []search, width int) (rows, cols []int64, ok bool, err error) {
	for _, way := range ways {
		if rows, cols, ok, err = invert(s, a, x, way, width); ok || err != nil {
			break
		}
	}
	return rows, cols, ok, err
}

func invert(s *cuda.Stream, a, x mem.Matrix, way search, width int) (rows, cols []int64, ok bool, err error) {
	n := a.Rows
	if n == 0 || n > MaxOrder {
		return make([]int64, n), make([]int64, n), n == 0, nil
	}
	x.Changed()
	w, err := newWork(s, a, way, width)
	if err != nil {
		return nil, nil, false, err
	}
	defer w.free()
	for _, stage := range []func() error{w.equilibrate, w.fill, w.eliminate, func() error { return w.unscramble(x) }} {
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
	other   abi.Elimination // has the corner and the factors of every other panel
	lists   cuda.Pointer    // of candidates of the tournament's nodes
	counts  cuda.Pointer    // a counter a node
	nodes   int             // of all levels, at most
	to      *abi.Triangles  // what Triangles wants
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

func newWork(s *cuda.Stream, a mem.Matrix, way search, width int) (*work, error) {
	columns := (a.Cols + block - 1) / block * block
	padded := paddedRows(a)
	w := &work{s: s, kernels: launch.KernelsOf(s), way: way}
	w.q.A = abi.RowsOf(a)
	w.g.N, w.g.Columns, w.g.Width = int32(padded), int32(columns), int32(width)
	for nodes := (padded + node - 1) / node; nodes > 1; nodes = (nodes*block + node - 1) / node {
		w.nodes += nodes
	}
	type room struct {
		to    *cuda.Pointer
		bytes int
	}
	rooms := []room{
		{&w.q.Status, 8 * (1 + a.Rows + a.Cols)}, // and rows and columns
		{&w.g.F, 8 * padded * columns},
		{&w.g.Order, 4 * padded},
		{&w.g.Slot, 4 * padded},
		{&w.g.Upper, 8 * block * block},
		{&w.lists, 4 * block * w.nodes},
		{&w.counts, 4 * w.nodes},
	}
	factors := []*abi.Elimination{&w.g}
	if width > block {
		factors = append(factors, &w.other)
	}
	for _, g := range factors {
		rooms = append(rooms, room{&g.Corner, 8 * width * width}, room{&g.Left, 8 * width * padded}, room{&g.Right, 8 * width * padded})
	}
	for _, m := range rooms {
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

// A stretch is columns begin <= j < end, but not those of the skipped ones from skip on.
type stretch struct{ begin, end, skip, skipped int }

// columns returns those from begin to end.
func columns(begin, end int) stretch { return stretch{begin, end, end, 0} }

// count returns how many columns there are.
func (c stretch) count() int { return c.end - c.begin - c.skipped }

// eliminate inverts F but for the order of its rows and columns: step by step, each of which
// updates all columns, or by panels.
func (w *work) eliminate() error {
	if w.g.Width == block {
		all := columns(0, int(w.g.Columns))
		for first := 0; first < all.end; first += block {
			w.g.Panel = int32(first)
			if err := w.step(w.s, first, all); err != nil {
				return err
			}
			if err := w.triangles(w.s, first+block); err != nil {
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

// step eliminates the columns of a step, in the columns of its panel.
func (w *work) step(s *cuda.Stream, first int, panel stretch) error {
	w.g.First = int32(first)
	if err := w.pivots(s); err != nil {
		return err
	}
	if err := w.factors(s, panel); err != nil {
		return err
	}
	return w.update(s, "stepUpdate", first, block, panel)
}

// eliminateAhead eliminates a panel as soon as its columns are there. What all wait for is in the
// other stream, whose blocks go first, the updates of all other columns in that of s.
func (w *work) eliminateAhead(beside *cuda.Stream) error {
	var events [3]*cuda.Event
	for i := range events {
		var err error
		if events[i], err = w.s.NewEvent(); err != nil {
			return err
		}
		defer events[i].Close()
	}
	eliminated, updated, done := events[0], events[1], events[2]
	follow := func(s, t *cuda.Stream, e *cuda.Event) error {
		if err := t.Record(e); err != nil {
			return err
		}
		return s.Wait(e)
	}
	if err := follow(beside, w.s, updated); err != nil {
		return err
	}
	all, width := int(w.g.Columns), int(w.g.Width)
	for begin := 0; begin < all; begin += width {
		end := min(begin+width, all)
		next := min(end+width, all)
		w.g.Panel = int32(begin)
		for first := begin; first < end; first += block {
			if err := w.step(beside, first, columns(begin, end)); err != nil {
				return err
			}
		}
		if err := follow(w.s, beside, eliminated); err != nil {
			return err
		}
		// What the panel before has updated, and which has used what the next one is to use.
		if err := beside.Wait(updated); err != nil {
			return err
		}
		if err := w.panelUpdate(beside, "stepUpdate", end, columns(end, next)); err != nil {
			return err
		}
		if err := w.panelUpdate(w.s, "panelUpdate", end, stretch{0, all, begin, next - begin}); err != nil {
			return err
		}
		if err := w.triangles(w.s, end); err != nil {
			return err
		}
		if err := w.s.Record(updated); err != nil {
			return err
		}
		w.g.Corner, w.other.Corner = w.other.Corner, w.g.Corner
		w.g.Left, w.other.Left = w.other.Left, w.g.Left
		w.g.Right, w.other.Right = w.other.Right, w.g.Right
	}
	return follow(w.s, beside, done)
}

// panelUpdate updates columns other than those of the panel, which ends before column end.
func (w *work) panelUpdate(s *cuda.Stream, kernel string, end int, c stretch) error {
	if c.count() == 0 {
		return nil
	}
	steps := (end - int(w.g.Panel)) / block
	shared := 8 * block * (block + steps*strip)
	if err := w.launch(s, "rightFactor", cuda.Dim{X: c.count() / strip}, shared, w.g, int32(end), int32(c.begin), int32(c.skip), int32(c.skipped)); err != nil {
		return err
	}
	return w.update(s, kernel, int(w.g.Panel), end-int(w.g.Panel), c)
}

// pivots chooses the pivot rows of a step in stream s.
func (w *work) pivots(s *cuda.Stream) error {
	if w.way == partial {
		return w.partialPivots(s)
	}
	return w.tournament(s, 0)
}

// tournament picks the pivot rows of a step, or makes BLOCK rows of a list those, in this order, if
// there is one.
func (w *work) tournament(s *cuda.Stream, given cuda.Pointer) error {
	nodes := (int(w.g.N-w.g.First) + node - 1) / node
	if given != 0 || w.way == narrow {
		nodes = 1
	}
	return w.launch(s, "pivots", cuda.Dim{X: nodes}, 0, w.g, w.lists, w.counts, given)
}

// factors makes the factors of a step, for some columns.
func (w *work) factors(s *cuda.Stream, c stretch) error {
	return w.launch(s, "stepFactors", cuda.Dim{X: int(w.g.N) / strip, Y: 2}, 8*block*(block+strip), w.g, int32(c.begin), int32(c.end))
}

// update updates columns by the factors of depth columns, from column from on.
func (w *work) update(s *cuda.Stream, kernel string, from, depth int, c stretch) error {
	across, room := block, math.MaxInt
	if kernel == "panelUpdate" {
		across, room = wide, max(1, w.s.Device().Info().Multiprocessors-spare)
	}
	tiles := (int(w.g.N) + tall - 1) / tall * ((c.count() + across - 1) / across)
	f, err := w.kernels.Function(s, "seed/seed", kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, cuda.Dim{X: min(tiles, room)}, cuda.Dim{X: 4 * across}, 8*stages*chunk*(tall+across),
		w.g, int32(from), int32(depth), int32(c.begin), int32(c.end), int32(c.skip), int32(c.skipped))
}

// spare is how many multiprocessors an update leaves to what goes on in the other stream.
var spare = 16

// unscramble stores the inverse.
func (w *work) unscramble(x mem.Matrix) error {
	w.g.First = w.g.N
	return w.launch(w.s, "unscrambled", cuda.Dim{X: (x.Rows + threads - 1) / threads, Y: int(w.g.N)}, 0, w.g, int32(x.Rows), first(x), int64(x.RS), int64(x.CS))
}

// Package seed inverts matrices, and triangular and Cholesky factors of matrices, approximately in
// float64 arithmetic on NVIDIA GPUs, where they live: kernels/seed/seed.cu, partial.cu and root.cu
// have the methods.
package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// MaxOrder is the most rows of a matrix.
const MaxOrder = 1<<16 - abi.SeedBlock

const (
	block = abi.SeedBlock
	node  = abi.SeedNode

	threads = 256 // of a block of most kernels
	strip   = 16  // columns, or rows, of factors that a block makes
	tall    = 128 // rows that a block of updates takes
)

// Inverse begins to store an approximate inverse of F = diag(2^rows) A diag(2^cols) in the n x n
// matrix x of Float64, whose entries share none with A, and returns the exponents, which bring the
// largest magnitude of each row and column near 1. Nothing is known of the error. It is not ok, and
// x unspecified, if a pivot is 0, or numbers are not finite or F's beyond float64's.
//
// Pivots of a later attempt, the first one being 0, are good where those of the one before it may
// not be. There is no seed, but nil, if there is no such attempt, or if n is above MaxOrder.
//
// All is queued on the stream of s, and for large matrices on a sidestream, for which it waits.
// For s it waits as far as the exponents are known, which is when little has been done yet.
func Inverse(s *cuda.Stream, a, x mem.Matrix, attempt int) (rows, cols []int64, begun *Seed, err error) {
	if attempt >= len(searches) {
		return nil, nil, nil, nil
	}
	return invert(s, a, x, searches[attempt], widthFor(a.Rows, panelsFrom))
}

// A search is the way to choose pivot rows.
type search int

const (
	// A few of the first rows of the order have them, if nothing grows much.
	narrow search = iota
	tournament
	partial
)

func (way search) String() string { return [...]string{"narrow", "tournament", "partial"}[way] }

// bad are the bits of a status that tell of a failure: growth does not where pivots are good ones.
func (way search) bad() int64 {
	if way == narrow {
		return ^0
	}
	return ^abi.SeedGrowth
}

// searches are those for seeds that may choose. A tournament has several rounds, one after the
// other, which take as long as all else that a step of a matrix of order 4096 waits for. Nearly all
// matrices have pivots that are good enough among so few rows: so these are tried first.
var searches = []search{narrow, tournament}

func invert(s *cuda.Stream, a, x mem.Matrix, way search, width int) (rows, cols []int64, begun *Seed, err error) {
	n := a.Rows
	if n == 0 || n > MaxOrder {
		return make([]int64, n), make([]int64, n), trivial(n), nil
	}
	x.Changed()
	w, err := newWork(s, a, 0, a.Cols, way, width)
	if err != nil {
		return nil, nil, nil, err
	}
	defer w.free()
	if err := w.equilibrate(); err != nil {
		return nil, nil, nil, err
	}
	tops := make([]int64, 2*n)
	if begun, err = begin(s, w.q.Rows, tops, w.q.Status, way.bad(), w.fill, w.eliminate, func() error { return w.unscramble(x, w) }); err != nil {
		return nil, nil, nil, err
	}
	rows, cols = w.scales(tops)
	return rows, cols, begun, nil
}

// scales returns the exponents that bring numbers with these near 1.
func (w *work) scales(tops []int64) (rows, cols []int64) {
	for i, top := range tops {
		if tops[i] = -top; top == abi.NoTop {
			tops[i] = 0
		}
	}
	m := int(w.q.A.N)
	return tops[:m], tops[m:]
}

// report returns the exponents, and whether all went well.
func (w *work) report() (rows, cols []int64, ok bool, err error) {
	told := make([]int64, 1+w.q.A.N+w.q.A.K)
	if err := cuda.Download(w.s, told, w.q.Status); err != nil {
		return nil, nil, false, err
	}
	rows, cols = w.scales(told[1:])
	return rows, cols, told[0]&w.way.bad() == 0, nil
}

// A work is an inversion under way, or what a GPU has of one.
type work struct {
	queue
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

// paddedRows returns N for a matrix of at least as many rows as columns: there is a row more for
// each column that is added.
func paddedRows(a mem.Matrix) int {
	more := (block - a.Cols%block) % block
	return (a.Rows + more + block - 1) / block * block
}

// newWork returns the work that has columns of a matrix, of which there are so many before these
// and in all.
func newWork(s *cuda.Stream, a mem.Matrix, before, all int, way search, width int) (*work, error) {
	whole := a
	whole.Cols = all
	padded, columns := paddedRows(whole), (all+block-1)/block*block
	w := &work{queue: newQueue(s, before, before+(a.Cols+block-1)/block*block, width), way: way}
	w.q.A = abi.RowsOf(a)
	w.g.N, w.g.Columns, w.g.Width = int32(padded), int32(columns), int32(width)
	for nodes := (padded + node - 1) / node; nodes > 1; nodes = (nodes*block + node - 1) / node {
		w.nodes += nodes
	}
	rooms := []room{
		{&w.q.Status, 8 * (1 + a.Rows + a.Cols)}, // and rows and columns
		{&w.g.F, 8 * padded * (w.end - w.begin)},
		{&w.g.Order, 2 * 4 * padded}, // and slots
		{&w.g.Upper, 8 * block * block},
		{&w.lists, 4 * block * w.nodes},
		{&w.counts, 4 * w.nodes},
	}
	factors := []*abi.Elimination{&w.g}
	if width > block {
		factors = append(factors, &w.other)
	}
	for _, g := range factors {
		rooms = append(rooms, room{&g.Corner, 8 * width * (width + padded)}, room{&g.Right, 8 * width * padded})
	}
	if err := w.allocAll(rooms); err != nil {
		return nil, err
	}
	for _, g := range factors {
		g.Left = g.Corner + cuda.Pointer(8*width*width)
	}
	w.g.F -= cuda.Pointer(8 * padded * before)
	w.g.Slot = w.g.Order + cuda.Pointer(4*padded)
	w.q.Rows = w.q.Status + 8
	w.q.Cols = w.q.Rows + cuda.Pointer(8*a.Rows)
	w.g.Status = w.q.Status
	return w, nil
}

// source returns which of the two files of a source has the kernels for a device.
func source(s *cuda.Stream, name string) string {
	if i := s.Device().Info(); i.Major == 9 && i.Minor == 0 {
		return name + "_sm90a"
	}
	return name
}

// launch runs a kernel in stream s.
func (w *work) launch(s *cuda.Stream, kernel string, grid cuda.Dim, shared int, args ...any) error {
	f, err := w.kernels.Function(s, source(s, "seed/seed"), kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, grid, cuda.Dim{X: threads}, shared, args...)
}

// equilibrate finds exponents that bring the largest entries of all rows, then of all columns, near
// 1.
func (w *work) equilibrate() error {
	if err := w.tops(false); err != nil {
		return err
	}
	return w.tops(true)
}

// tops finds the exponents of the largest entries of rows, or then of columns.
func (w *work) tops(ofColumns bool) error {
	m, n := int(w.q.A.N), int(w.q.A.K)
	columns := int32(1)
	if !ofColumns {
		columns = 0
		if err := w.s.Zero(w.q.Status, 8); err != nil {
			return err
		}
		if err := w.s.Zero(w.counts, int64(4*w.nodes)); err != nil {
			return err
		}
		if err := w.s.Fill(w.q.Rows, abi.NoTopByte, int64(8*(m+n))); err != nil {
			return err
		}
	}
	return w.launch(w.s, "equilibrateTops", cuda.Dim{X: (m + block - 1) / block, Y: (n + block - 1) / block}, 0, w.q, columns)
}

// fill makes F.
func (w *work) fill() error {
	g := w.g
	g.F += cuda.Pointer(8 * int(g.N) * w.begin)
	return w.launch(w.s, "equilibrated", cuda.Dim{X: (int(g.N) + threads - 1) / threads, Y: w.end - w.begin}, 0, w.q, g)
}

// unscramble stores what x has of the columns of the inverse, of those that some columns of F have.
func (w *work) unscramble(x mem.Matrix, of *work) error {
	g := w.g
	g.F = of.g.F
	return w.launch(w.s, "unscrambled", cuda.Dim{X: (x.Rows + threads - 1) / threads, Y: of.end - of.begin}, 0,
		g, int32(of.begin), int32(x.Rows), int32(w.begin), int32(w.begin+x.Cols), first(x), int64(x.RS), int64(x.CS))
}

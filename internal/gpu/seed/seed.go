// Package seed computes approximate inverses of matrices, and of their triangular and Cholesky
// factors, in float64 arithmetic on the NVIDIA GPUs that store them. kernels/seed/seed.cu,
// partial.cu and root.cu describe the methods.
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
	strip   = 16  // columns or rows of factors that a block computes
	tall    = 128 // rows of a block of an update
)

// Inverse starts to compute an approximate inverse of F = diag(2^rows) A diag(2^cols) in the n x n
// Float64 matrix x, which must not share entries with A. It returns the exponents, which bring the
// largest magnitude of each row and column near 1. The error has no known bound. The seed is not
// ok, and x unspecified, if a pivot is 0, if numbers are not finite, or if F exceeds the range of
// float64.
//
// Attempts are numbered from 0. A later attempt may have good pivots where an earlier attempt
// does not. The seed is nil if there is no such attempt, or if n is above MaxOrder.
//
// All work is queued on s and, for large matrices, on a sidestream, which Inverse waits for. It
// waits for s only until the exponents are known, when little has been done yet.
func Inverse(s *cuda.Stream, a, x mem.Matrix, attempt int) (rows, cols []int64, begun *Seed, err error) {
	if attempt >= len(searches) {
		return nil, nil, nil, nil
	}
	return invert(s, a, x, searches[attempt], widthFor(a.Rows, panelsFrom))
}

// A search is a way to choose pivot rows.
type search int

const (
	// Among a few of the first rows of the order; fails if entries grow much.
	narrow search = iota
	tournament
	partial
)

func (way search) String() string { return [...]string{"narrow", "tournament", "partial"}[way] }

// bad returns the status bits that mean failure. Growth is a failure only where pivots may be poor.
func (way search) bad() int64 {
	if way == narrow {
		return ^0
	}
	return ^abi.SeedGrowth
}

// searches are the searches in the order of attempts. A tournament has several rounds, one after
// the other, which take as long as everything else that a step of a matrix of order 4096 waits for.
// Nearly all matrices have good enough pivots among a few rows, so a few rows are tried first.
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

// scales returns the exponents that bring numbers with the exponents tops near 1.
func (w *work) scales(tops []int64) (rows, cols []int64) {
	for i, top := range tops {
		if tops[i] = -top; top == abi.NoTop {
			tops[i] = 0
		}
	}
	m := int(w.q.A.N)
	return tops[:m], tops[m:]
}

// report returns the exponents, and whether the elimination succeeded.
func (w *work) report() (rows, cols []int64, ok bool, err error) {
	told := make([]int64, 1+w.q.A.N+w.q.A.K)
	if err := cuda.Download(w.s, told, w.q.Status); err != nil {
		return nil, nil, false, err
	}
	rows, cols = w.scales(told[1:])
	return rows, cols, told[0]&w.way.bad() == 0, nil
}

// A work is an inversion in progress, or a GPU's part of one.
type work struct {
	queue
	q       abi.Equilibration
	g       abi.Elimination
	other   abi.Elimination // holds the corner and the factors of every other panel
	lists   cuda.Pointer    // candidates of the tournament's nodes
	counts  cuda.Pointer    // one counter for each node
	nodes   int             // the most nodes of all levels together
	to      *abi.Triangles  // the results of Triangles; nil if not wanted
	way     search
	partial abi.Pivoting // for partial pivoting
}

// paddedRows returns N for a matrix with at least as many rows as columns: each column that padding
// adds also adds a row.
func paddedRows(a mem.Matrix) int {
	more := (block - a.Cols%block) % block
	return (a.Rows + more + block - 1) / block * block
}

// newWork returns the work on the columns a of a matrix that has before columns to the left of a
// and all columns in total.
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
	if way == narrow && width == block {
		rooms = append(rooms, room{&w.g.Ahead, 8 * block * abi.SeedCandidates})
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

// source returns the name of the file, of the two of a source, with the kernels for the device.
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

// equilibrate computes exponents that bring the largest entries of all rows near 1, and then those
// that do the same for all columns.
func (w *work) equilibrate() error {
	if err := w.tops(false); err != nil {
		return err
	}
	return w.tops(true)
}

// tops computes the exponents of the largest entries of rows, or afterwards of columns.
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

// fill computes F.
func (w *work) fill() error {
	g := w.g
	g.F += cuda.Pointer(8 * int(g.N) * w.begin)
	return w.launch(w.s, "equilibrated", cuda.Dim{X: (int(g.N) + threads - 1) / threads, Y: w.end - w.begin}, 0, w.q, g)
}

// unscramble stores, in x, the columns of the inverse that x contains, as far as they come from the
// columns of F in of.
func (w *work) unscramble(x mem.Matrix, of *work) error {
	g := w.g
	g.F = of.g.F
	return w.launch(w.s, "unscrambled", cuda.Dim{X: (x.Rows + threads - 1) / threads, Y: of.end - of.begin}, 0,
		g, int32(of.begin), int32(x.Rows), int32(w.begin), int32(w.begin+x.Cols), first(x), int64(x.RS), int64(x.CS))
}

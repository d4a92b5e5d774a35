// Package grid is a place that is several processes: matrices are cut into blocks, which are dealt
// out to a grid of processes row by row and column by column, as ScaLAPACK does (2-D block-cyclic).
//
// All processes run the same program and call the same routines with the same arguments, where
// operands of the host are equal in all of them. Every entry of a result is computed by one process
// from all that it depends on, or from exact parts of it, so that its bits are those of one
// process; what is sent are numbers, and integers alone are added up on the way.
package grid

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/mpi"
)

// A Transport is what processes send each other. A *mpi.Comm is one.
type Transport interface {
	Rank() int
	Size() int
	Allreduce(ctx context.Context, op mpi.Op, x []int64) error
	Allgather(ctx context.Context, from, to []byte, counts []int) error
	AllgatherInPlace(ctx context.Context, all []byte, counts []int) error
	Alltoall(ctx context.Context, from, to []byte, sent, got []int) error
	Bcast(ctx context.Context, b []byte, root int) error
	// Leave makes operations of all processes fail, those too that wait.
	Leave() error
}

// Block is the number of rows, and of columns, of a block. Matrices of some thousand rows are dealt
// out evenly: 2000 columns to two processes as 1008 and 992, where blocks of 64 would make 1024 and
// 976. Columns of smaller blocks are short pieces of memory, which take longer to move.
const Block = 32

// A Grid is rows x cols processes, of which this is the one in row row and column col: number
// row cols + col of them.
type Grid struct {
	to         Transport
	on         *Local
	rows, cols int
	block      int
	row, col   int
	step       int64 // about how many bytes of a matrix processes give each other at a time
}

// step is that of grids: messages lie in caches then, and in memory that was there before.
const step = 8 << 20

// New returns the grid of the processes that a transport connects. It needs rows cols of them. This
// one computes its parts of products where on says.
func New(to Transport, rows, cols, block int, on *Local) (*Grid, error) {
	if rows < 1 || cols < 1 || rows*cols != to.Size() {
		return nil, fmt.Errorf("a grid of %d x %d processes: %w: there are %d", rows, cols, place.ErrDevice, to.Size())
	}
	return &Grid{to: leaving{to}, on: on, rows: rows, cols: cols, block: block, row: to.Rank() / cols, col: to.Rank() % cols, step: step}, nil
}

// Shape returns the rows and columns of the grid of n processes that is nearest to a square, with
// no more rows than columns.
func Shape(n int) (rows, cols int) {
	rows = 1
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			rows = d
		}
	}
	return rows, n / rows
}

// String is the place's name.
func (g *Grid) String() string { return fmt.Sprintf("%s:%dx%d", place.MPI, g.rows, g.cols) }

// First is g: there is nothing that a part of it does alone.
func (g *Grid) First() place.Place { return g }

// size is the number of processes.
func (g *Grid) size() int { return g.rows * g.cols }

// kinds are the errors that callers act on, so that all processes do the same.
var kinds = []error{nil, place.ErrMemory, product.ErrMethod, place.ErrUnsupported, residue.ErrHardware, place.ErrDevice, context.Canceled, context.DeadlineExceeded}

// agree returns an error in every process if one of them has one, of the same kind in all.
func (g *Grid) agree(ctx context.Context, err error) error {
	failed := []int64{0}
	if err != nil {
		kind := 0
		for k := range kinds[1:] {
			if errors.Is(err, kinds[1+k]) {
				kind = 1 + k
			}
		}
		failed[0] = int64((g.size()-g.to.Rank())*len(kinds) + kind) // the first process counts
	}
	if e := g.to.Allreduce(ctx, mpi.Max, failed); e != nil {
		return errors.Join(err, e)
	}
	if failed[0] == 0 {
		return nil
	}
	first, kind := g.size()-int(failed[0])/len(kinds), kinds[int(failed[0])%len(kinds)]
	switch {
	case first == g.to.Rank():
		return err
	case kind == nil:
		return fmt.Errorf("process %d of %s failed", first, g)
	}
	return fmt.Errorf("process %d of %s: %w", first, g, kind)
}

// storage is this process's part of an array: of the rows x cols numbers of a matrix by columns, or
// of n numbers as those of an n x 1 matrix, those in blocks of its own, by columns.
type storage struct {
	g          *Grid
	rows, cols int
	mu         sync.Mutex
	local      *num.Array // nil after Free
	tally      int64      // of this process, not yet asked for
}

func (s *storage) Len() int           { return s.rows * s.cols }
func (s *storage) Place() place.Place { return s.g }

func (s *storage) Free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local = nil
}

func (s *storage) Freed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.local == nil
}

// localRows is how many of its rows this process has.
func (s *storage) localRows() int { return share(s.rows, s.g.block, s.g.rows, s.g.row) }

// share is how many of n indices process p of procs has, which are dealt out in blocks.
func share(n, block, procs, p int) int {
	full := n / (block * procs) * block
	return full + min(max(n%(block*procs)-p*block, 0), block)
}

// owner is the process that has index i.
func owner(i, block, procs int) int { return i / block % procs }

// within is the place of index i among those of its process.
func within(i, block, procs int) int { return i/(block*procs)*block + i%block }

// New returns rows x cols numbers +0, by columns.
func (g *Grid) New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error) {
	if err := place.Ended(ctx, g); err != nil {
		return nil, err
	}
	n := share(rows, g.block, g.rows, g.row) * share(cols, g.block, g.cols, g.col)
	return &num.Array{Format: f, Away: &storage{g: g, rows: rows, cols: cols, local: num.New(f, n)}}, nil
}

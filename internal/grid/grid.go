// Package grid implements a place that consists of several processes. Matrices are cut into blocks,
// which are distributed over a grid of processes by rows and by columns, as in ScaLAPACK (2-D
// block-cyclic).
//
// All processes run the same program and call the same routines with the same arguments; operands
// of the host are equal in all processes. Every entry of a result is computed by one process from
// all numbers that it depends on, or from exact partial results, so that it has the same bits as
// with one process. Messages contain numbers; only integers are added in transit.
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

// A Transport sends messages between processes. A *mpi.Comm is a Transport.
type Transport interface {
	Rank() int
	Size() int
	Allreduce(ctx context.Context, op mpi.Op, x []int64) error
	Allgather(ctx context.Context, from, to []byte, counts []int) error
	AllgatherInPlace(ctx context.Context, all []byte, counts []int) error
	Alltoall(ctx context.Context, from, to []byte, sent, got []int) error
	Bcast(ctx context.Context, b []byte, root int) error
	// Leave makes the operations of all processes fail, including operations that already wait.
	Leave() error
}

// Block is the number of rows, and of columns, of a block. Small blocks distribute matrices of a
// few thousand rows evenly: 2000 columns on two processes are 1008 and 992, and with blocks of 64
// they would be 1024 and 976. The columns of smaller blocks are shorter pieces of memory, which
// take longer to move.
const Block = 32

// A Grid is a grid of rows x cols processes. This process is in row row and column col; its number
// is row cols + col.
type Grid struct {
	to         Transport
	on         *Local
	rows, cols int
	block      int
	row, col   int
	step       int64 // about how many bytes of a matrix are exchanged at a time
}

// step is Grid.step of new grids. Messages of this size fit in caches and reuse memory.
const step = 8 << 20

// New returns the grid of the processes that a transport connects. The error wraps place.ErrDevice
// unless there are rows cols processes. This process computes its parts of products on the devices
// of on.
func New(to Transport, rows, cols, block int, on *Local) (*Grid, error) {
	if rows < 1 || cols < 1 || rows*cols != to.Size() {
		return nil, fmt.Errorf("a grid of %d x %d processes: %w: there are %d", rows, cols, place.ErrDevice, to.Size())
	}
	return &Grid{to: leaving{to}, on: on, rows: rows, cols: cols, block: block, row: to.Rank() / cols, col: to.Rank() % cols, step: step}, nil
}

// Shape returns the rows and columns of the grid of n processes that is nearest to a square and has
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

// First returns g: all work is done by the whole grid.
func (g *Grid) First() place.Place { return g }

// size is the number of processes.
func (g *Grid) size() int { return g.rows * g.cols }

// kinds are the errors that callers react to. All processes must see the same kind, so that they
// react in the same way.
var kinds = []error{nil, place.ErrMemory, product.ErrMethod, place.ErrUnsupported, residue.ErrHardware, place.ErrDevice, context.Canceled, context.DeadlineExceeded}

// agree returns an error in every process if one process has an error. The errors have the same
// kind in all processes.
func (g *Grid) agree(ctx context.Context, err error) error {
	failed := []int64{0}
	if err != nil {
		kind := 0
		for k := range kinds[1:] {
			if errors.Is(err, kinds[1+k]) {
				kind = 1 + k
			}
		}
		failed[0] = int64((g.size()-g.to.Rank())*len(kinds) + kind) // the lowest rank counts
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

// storage is this process's part of an array. The array has the rows x cols numbers of a matrix, by
// columns; an array of n numbers counts as an n x 1 matrix. local has the numbers in this process's
// blocks, by columns.
type storage struct {
	g          *Grid
	rows, cols int
	mu         sync.Mutex
	local      *num.Array // nil after Free
	tally      int64      // count of this process since the last Extents
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

// localRows returns how many rows of the matrix this process has.
func (s *storage) localRows() int { return share(s.rows, s.g.block, s.g.rows, s.g.row) }

// share returns how many of n indices, distributed in blocks, process p of procs has.
func share(n, block, procs, p int) int {
	full := n / (block * procs) * block
	return full + min(max(n%(block*procs)-p*block, 0), block)
}

// owner returns the process that has index i.
func owner(i, block, procs int) int { return i / block % procs }

// within returns the position of index i among the indices of its process.
func within(i, block, procs int) int { return i/(block*procs)*block + i%block }

// New returns an array of rows x cols numbers +0, by columns.
func (g *Grid) New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error) {
	if err := place.Ended(ctx, g); err != nil {
		return nil, err
	}
	n := share(rows, g.block, g.rows, g.row) * share(cols, g.block, g.cols, g.col)
	return &num.Array{Format: f, Away: &storage{g: g, rows: rows, cols: cols, local: num.New(f, n)}}, nil
}

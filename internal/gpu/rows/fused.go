package rows

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
)

// This file runs the kernels of kernels/rows/fused.cuh: a single launch reads the numbers once,
// adds, rounds and writes its answer to a mailbox.

const (
	fusedThreads = 256 // of a block
	// Rows of a block, where columns are contiguous in memory. BenchmarkRows on an H100, µs of
	// products at 106 bits with 4 rows, which need no slices, 8 and 16: 30, 33, 32.
	fusedRows = 8
	fewerRows = 4
)

// fused reports whether the sums are computed by a kernel of one launch.
func (q *rowSums) fused() bool {
	file, _ := abi.DigitFile(q.digits)
	return q.outer(q.digits) || q.words(q.digits) || q.convolves(q.digits) || file == abi.FusedFile
}

// A fusedLaunch is a launch being prepared.
type fusedLaunch struct {
	f       *cuda.Function
	r       abi.FusedReduction
	grid    cuda.Dim
	threads int // of a block
	shared  int
}

// fuse is compute by a kernel of one launch.
func (q *rowSums) fuse(end func() abi.RowEnding) error {
	loaded := launch.KernelsOf(q.s)
	l := &fusedLaunch{r: abi.FusedReduction{A: abi.RowsOf(q.a), Digits: int32(q.digits), Magnitudes: abi.Flag(q.magnitudes)}}
	if q.x != nil {
		l.r.X = abi.RowsOf(*q.x)
	}
	divide := q.divide
	switch {
	case q.outer(q.digits):
		divide = q.divideOuter
	case q.words(q.digits):
		divide = q.divideWords
	case q.convolves(q.digits):
		divide = q.divideConvolve
	}
	if err := divide(loaded, l); err != nil {
		return err
	}
	parts := int64(0)
	if l.grid.Y > 1 {
		parts = 8 * int64(l.grid.X*l.grid.Y*(q.digits+4)) << l.r.LogRows
	}
	if err := q.alloc(parts); err != nil {
		return err
	}
	l.r.Columns, l.r.S = q.memory.Pointer(), spansOf(q.memory.At(q.spansAt()), q.a.Rows)
	l.r.Parts = q.memory.At(q.partsAt())
	l.r.End = end()
	switch {
	case q.words(q.digits):
		shape, _ := abi.WordShapeOf(q.digits)
		return l.f.Launch(q.s, l.grid, cuda.Dim{X: l.threads}, l.shared, shape.ReductionOf(l.r))
	case q.outer(q.digits):
		shape, _ := abi.OuterShapeOf(q.digits)
		return l.f.Launch(q.s, l.grid, cuda.Dim{X: l.threads}, l.shared,
			abi.OuterReduction{FusedReduction: l.r, First: shape.FetchingOf(l.r.A), Second: shape.FetchingOf(l.r.X)})
	case q.convolves(q.digits):
		return l.f.Launch(q.s, l.grid, cuda.Dim{X: l.threads}, l.shared, q.convolution(l))
	}
	return l.f.Launch(q.s, l.grid, cuda.Dim{X: l.threads}, l.shared, l.r)
}

// divide divides the work among blocks. The threads of a warp follow the order of memory.
func (q *rowSums) divide(loaded *launch.Kernels, l *fusedLaunch) (err error) {
	if l.f, err = loaded.Function(q.s, "rows/"+abi.FusedFile, q.kernelName()); err != nil {
		return err
	}
	l.threads = fusedThreads
	m, k := q.a.Rows, q.a.Cols
	perSM, err := loaded.Blocks(l.f, fusedThreads, fusedShared(q.digits, fusedRows, fusedRows))
	if err != nil {
		return err
	}
	slots := perSM * q.s.Device().Info().Multiprocessors
	rows, step := 1, 1
	down := abs(q.a.RS) < abs(q.a.CS) && m > 1
	if down {
		rows = min(fusedRows, 1<<bits.Len(uint(m-1)))
		switch {
		case m >= 32*slots:
			rows = 32
		// one block for each tile: no block waits for another
		case m <= fewerRows*slots && 2*m > fewerRows*slots:
			rows = fewerRows
		}
		step = rows
	} else {
		for rows < fusedThreads/32 && (m > rows*slots || fusedThreads/rows >= 2*k) {
			rows *= 2
		}
	}
	lanes := fusedThreads / rows
	l.r.LogRows, l.r.Across = int32(bits.Len(uint(rows))-1), abi.Flag(down)
	l.shared = fusedShared(q.digits, rows, step)
	l.grid.X = (m + rows - 1) / rows
	l.grid.Y = shares(l.grid.X, slots, (k+lanes-1)/lanes)
	return nil
}

// fusedShared returns the bytes of shared memory in which a block adds the sums of rows, step rows
// a warp, and rounds them, or adds the sums of slices.
func fusedShared(digits, rows, step int) int {
	words := (abi.RowDigit*digits + 64 + 31) / 32
	return max(8*(digits+1)*(fusedThreads/32)*step, (8*(digits+1)+4*words)*rows, 8*((digits+1)*rows+fusedThreads))
}

package rows

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
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

// The kinds of kernels of one launch.
type kind int

const (
	byDigits   kind = iota // kernels/rows/fused.cuh
	byOuter                // kernels/rows/outer.cuh
	byWords                // kernels/rows/words.cuh
	byConvolve             // kernels/rows/convolve.cuh
)

// kind returns the kind of the kernel of fused sums.
func (q *rowSums) kind() kind {
	switch {
	case q.outer(q.digits):
		return byOuter
	case q.words(q.digits):
		return byWords
	case q.convolves(q.digits):
		return byConvolve
	}
	return byDigits
}

// A division is a kernel and the way it divides its work among blocks.
type division struct {
	f               *cuda.Function
	grid            cuda.Dim
	threads         int // of a block
	shared          int
	logRows, across int32
}

// divided is all that a division depends on.
type divided struct {
	kind               kind
	products           bool
	a, x               num.Format
	rows, cols, rs, cs int
	digits             int
}

// mostDivisions bounds the divisions that are kept for a device. The value is a guess.
const mostDivisions = 256

// A fusedLaunch is a launch being prepared. Its arguments are kept from call to call, since all
// together they have a kilobyte.
type fusedLaunch struct {
	r        abi.FusedReduction
	words    abi.WordReduction
	outer    abi.OuterReduction
	convolve abi.Convolution
}

// division returns the division for a kind of kernel, which it finds once for a shape.
func (q *rowSums) division(k *kept, kind kind) (d division, err error) {
	key := divided{kind: kind, products: q.x != nil, a: q.a.Arr.Format, rows: q.a.Rows, cols: q.a.Cols, rs: q.a.RS, cs: q.a.CS, digits: q.digits}
	if q.x != nil {
		key.x = q.x.Arr.Format
	}
	d, ok := k.divisions[key]
	if ok {
		return d, nil
	}
	loaded := launch.KernelsOf(q.s)
	switch kind {
	case byOuter:
		err = q.divideOuter(loaded, &d)
	case byWords:
		err = q.divideWords(loaded, &d)
	case byConvolve:
		err = q.divideConvolve(loaded, &d)
	default:
		err = q.divide(loaded, &d)
	}
	if err != nil {
		return d, err
	}
	if len(k.divisions) >= mostDivisions {
		clear(k.divisions)
	}
	k.divisions[key] = d
	return d, nil
}

// fuse is compute by a kernel of one launch.
func (q *rowSums) fuse(end func() abi.RowEnding) error {
	k := keptOf(q.s)
	kind := q.kind()
	d, err := q.division(k, kind)
	if err != nil {
		return err
	}
	parts := int64(0)
	if d.grid.Y > 1 {
		parts = 8 * int64(d.grid.X*d.grid.Y*(q.digits+4)) << d.logRows
	}
	if err := q.alloc(parts); err != nil {
		return err
	}
	l := &k.fused
	l.r = abi.FusedReduction{A: abi.RowsOf(q.a), Parts: q.memory.At(q.partsAt()), S: spansOf(q.memory.At(q.spansAt()), q.a.Rows),
		Columns: q.memory.Pointer(), End: end(), Digits: int32(q.digits), Magnitudes: abi.Flag(q.magnitudes), LogRows: d.logRows, Across: d.across}
	if q.x != nil {
		l.r.X = abi.RowsOf(*q.x)
	}
	block := cuda.Dim{X: d.threads}
	switch kind {
	case byWords:
		shape, _ := abi.WordShapeOf(q.digits)
		l.words = shape.ReductionOf(l.r)
		return d.f.Launch(q.s, d.grid, block, d.shared, &l.words)
	case byOuter:
		shape, _ := abi.OuterShapeOf(q.digits)
		l.outer = abi.OuterReduction{FusedReduction: l.r, First: shape.FetchingOf(l.r.A), Second: shape.FetchingOf(l.r.X)}
		return d.f.Launch(q.s, d.grid, block, d.shared, &l.outer)
	case byConvolve:
		l.convolve = q.convolution(l.r, d)
		return d.f.Launch(q.s, d.grid, block, d.shared, &l.convolve)
	}
	return d.f.Launch(q.s, d.grid, block, d.shared, &l.r)
}

// divide divides the work among blocks. The threads of a warp follow the order of memory.
func (q *rowSums) divide(loaded *launch.Kernels, d *division) (err error) {
	if d.f, err = loaded.Function(q.s, "rows/"+abi.FusedFile, q.kernelName()); err != nil {
		return err
	}
	d.threads = fusedThreads
	m, k := q.a.Rows, q.a.Cols
	perSM, err := loaded.Blocks(d.f, fusedThreads, fusedShared(q.digits, fusedRows, fusedRows))
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
	d.logRows, d.across = int32(bits.Len(uint(rows))-1), abi.Flag(down)
	d.shared = fusedShared(q.digits, rows, step)
	d.grid.X = (m + rows - 1) / rows
	d.grid.Y = shares(d.grid.X, slots, (k+lanes-1)/lanes)
	return nil
}

// fusedShared returns the bytes of shared memory in which a block adds the sums of rows, step rows
// a warp, and rounds them, or adds the sums of slices.
func fusedShared(digits, rows, step int) int {
	words := (abi.RowDigit*digits + 64 + 31) / 32
	return max(8*(digits+1)*(fusedThreads/32)*step, (8*(digits+1)+4*words)*rows, 8*((digits+1)*rows+fusedThreads))
}

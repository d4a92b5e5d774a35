package gpu

import (
	"fmt"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/reduce.cuh: scanRows finds the references, then blocks add digits to columns
// in the device's memory, then roundRows rounds them.

const (
	rowThreads   = 128             // of a block of accumulating kernels
	scanThreads  = 256             // of a block of scanRows
	scanBatch    = 8               // numbers that a thread of it reads at a time
	roundThreads = 32              // of a block of roundRows
	rowTile      = 32              // rows of a block, if it does not work on one
	fewRows      = 16              // up to which a block works on one row
	scanBlocks   = 4               // a multiprocessor
	spanShared   = 24 * rowThreads // bytes of shared memory in which a block merges spans

	// stageBytes is what a block loads at a time, if that is more than an entry a thread.
	// BenchmarkRows on an H100, µs of products at 106 bits with 4, 8, 16, 32 KiB: 41, 41, 37, 45.
	stageBytes = 16 << 10
)

// The structures of kernels/reduce.cuh and reduce.cu.

type rowReduction struct {
	a, x                         vectors
	parts, s                     spans
	columns                      cuda.Pointer
	digits, products, magnitudes int32
	count, first                 int32
	rows, width, buffers         int32
	down, later, tiles           int32
	table                        cuda.Pointer
}

type rowRounding struct {
	s               spans
	columns         cuda.Pointer
	c               target
	rest            leftovers
	answer          cuda.Pointer
	unit            int64
	error           float64
	exact           int64
	digits, rows    int32
	neg, expansions int32
	ticket          uint32
}

// launches returns the number of terms, or of pairs of them.
func (q *rowSums) launches() int {
	n := termsOf(q.a.Arr.Format)
	if q.x != nil {
		n *= termsOf(q.x.Arr.Format)
	}
	return n
}

// term returns the vectors of term t of the numbers.
func (x vectors) term(t int) vectors {
	if x.a.kind == int32(num.DD) || x.a.kind == int32(num.TD) || x.a.kind == int32(num.QD) {
		x.a = numbers{plane: [4]cuda.Pointer{x.a.plane[t]}, kind: int32(num.F64)}
	}
	return x
}

// run computes the columns of digits.
func (q *rowSums) run() error {
	r, grid := q.arguments()
	parts := (spanBytes*int64(r.count)*int64(q.a.Rows) + 7) &^ 7
	if err := q.alloc(parts + q.tableBytes()); err != nil {
		return err
	}
	r.columns, r.s = q.memory.Pointer(), spansOf(q.memory.At(q.spansAt()), q.a.Rows)
	r.parts = spansOf(q.memory.At(q.partsAt()), int(r.count)*q.a.Rows)
	r.table = q.memory.At(q.partsAt() + parts)
	if err := q.eachTerm(r, func(r rowReduction) error { return q.scan(r, grid) }); err != nil {
		return err
	}
	if q.convolves(q.digits) {
		return q.convolve(r)
	}
	return q.eachTerm(r, q.accumulate)
}

// arguments returns those of the kernels, but for the vectors and the memory, and the grid of
// scanRows.
func (q *rowSums) arguments() (r rowReduction, grid cuda.Dim) {
	r = rowReduction{
		digits: int32(q.digits), rows: 1, products: flag(q.x != nil), magnitudes: flag(q.magnitudes),
		down: flag(abs(q.a.RS) < abs(q.a.CS) && q.a.Rows > fewRows),
	}
	if q.a.Rows > fewRows {
		r.rows = rowTile
	}
	if q.convolves(q.digits) {
		r.tiles = int32(convolveTiles(q.digits))
	}
	lanes := scanThreads
	grid.X = q.a.Rows
	if r.down != 0 {
		lanes = scanThreads / rowTile
		grid.X = (q.a.Rows + rowTile - 1) / rowTile
	}
	blocks := scanBlocks * q.s.Device().Info().Multiprocessors
	grid.Y = min((q.a.Cols+lanes*scanBatch-1)/(lanes*scanBatch), max(1, blocks/grid.X))
	r.count = int32(q.launches() * grid.Y)
	return r, grid
}

// eachTerm calls f for the terms of a, or for all pairs of terms of a and x.
func (q *rowSums) eachTerm(r rowReduction, f func(rowReduction) error) error {
	others := 1
	if q.x != nil {
		others = termsOf(q.x.Arr.Format)
	}
	for t := range termsOf(q.a.Arr.Format) {
		for u := range others {
			r.a = q.a.rows().term(t)
			if q.x != nil {
				r.x = q.x.rows().term(u)
			}
			r.first = r.count / int32(q.launches()) * int32(t*others+u)
			r.later = flag(t+u > 0)
			if err := f(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *rowSums) scan(r rowReduction, grid cuda.Dim) error {
	f, err := reducerOf(q.s).function(q.s, "reduce", "scanRows")
	if err != nil {
		return err
	}
	return f.Launch(q.s, grid, cuda.Dim{X: scanThreads}, 0, r)
}

func (q *rowSums) accumulate(r rowReduction) error {
	red := reducerOf(q.s)
	f, err := red.function(q.s, digitFile(q.digits), q.kernelName())
	if err != nil {
		return err
	}
	lanes, each := q.stage(int(r.rows))
	r.width = 1
	for r.width < 8 && 2*int(r.width)*each <= stageBytes && int(r.width)*lanes < q.a.Cols {
		r.width *= 2
	}
	// Two buffers, if they do not leave room for fewer blocks.
	perSM, shared := 0, 0
	for buffers := int32(1); buffers <= 2; buffers++ {
		bytes := q.sharedBytes(int(r.rows), int(buffers*r.width)*each)
		if bytes > q.s.Device().Info().SharedPerBlock {
			break
		}
		blocks, err := red.blocksOf(f, rowThreads, bytes)
		if err != nil {
			return err
		}
		if blocks >= perSM {
			perSM, shared, r.buffers = blocks, bytes, buffers
		}
	}
	grid := cuda.Dim{X: (q.a.Rows + int(r.rows) - 1) / int(r.rows)}
	stages := (q.a.Cols + lanes*int(r.width) - 1) / (lanes * int(r.width))
	slices := min(stages, max(1, perSM*q.s.Device().Info().Multiprocessors/grid.X))
	turns := (stages + slices - 1) / slices
	grid.Y = (stages + turns - 1) / turns
	return f.Launch(q.s, grid, cuda.Dim{X: rowThreads}, shared, r)
}

// stage returns how many threads of a block work on a row, and the bytes of shared memory that
// one entry a thread takes.
func (q *rowSums) stage(rows int) (lanes, bytes int) {
	lanes = rowThreads / rows
	bytes = rowThreads * numberBytes(q.a.Arr.Format)
	if q.x != nil {
		bytes += lanes * numberBytes(q.x.Arr.Format)
	}
	return lanes, bytes
}

// sharedBytes returns the shared memory of a block with buffers of so many bytes. In the end it
// holds the sums of warps.
func (q *rowSums) sharedBytes(rows, buffers int) int {
	sums := rowThreads / 32
	if rows > 1 {
		sums = rowThreads - rowTile
	}
	return max(buffers, spanShared, 8*(q.digits+1)*sums)
}

// fits reports whether the shared memory of a block holds an entry a thread.
func (q *rowSums) fits() bool {
	_, bytes := q.stage(1)
	return bytes <= q.s.Device().Info().SharedPerBlock
}

// numberBytes is what a number takes in shared memory.
func numberBytes(f num.Format) int {
	if f.Kind == num.MP {
		return 8 * (1 + (f.Limbs() | 1))
	}
	return 16
}

// kernelName returns the name of the kernel that adds.
func (q *rowSums) kernelName() string {
	if q.x != nil {
		return fmt.Sprint("products", q.digits)
	}
	return fmt.Sprint("sums", q.digits)
}

// roundRows is round for sums that there are.
func (q *rowSums) roundRows(alpha num.Real, c target) (int, error) {
	red := reducerOf(q.s)
	f, err := red.function(q.s, "reduce", "roundRows")
	if err != nil {
		return 0, err
	}
	box, err := red.box(q.s)
	if err != nil {
		return 0, err
	}
	exp := coefficientOf(alpha).exp
	errors, shift := q.error()
	n := q.a.Rows
	r := rowRounding{s: spansOf(q.memory.At(q.spansAt()), n), columns: q.memory.Pointer(), c: c,
		rest:   leftovers{q.memory.At(q.countAt()), q.memory.At(q.listAt()), int64(n)},
		answer: box.At(0), ticket: box.Ticket(), unit: q.unit() + exp, error: float64(errors) * float64(int64(1)<<shift), exact: q.exactSpread(q.digits),
		digits: int32(q.digits), rows: int32(n), neg: flag(alpha.Neg), expansions: flag(q.expansions())}
	words := (rowDigit*q.digits + 64 + 31) / 32
	if err := f.Launch(q.s, cuda.Dim{X: (n + roundThreads - 1) / roundThreads}, cuda.Dim{X: roundThreads}, 4*roundThreads*words, r); err != nil {
		return 0, err
	}
	return leftOver(box, q.s)
}

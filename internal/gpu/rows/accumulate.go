package rows

import (
	"strconv"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// This file runs the kernels of kernels/rows/reduce.cuh: scanRows finds the references, then blocks
// add digits to columns in device memory.

const (
	rowThreads  = 128             // threads of a block of accumulating kernels
	scanThreads = 256             // threads of a block of scanRows
	scanBatch   = 8               // numbers that such a thread reads at a time
	rowTile     = 32              // rows of a block, unless it works on a single row
	fewRows     = 16              // for at most so many rows a block works on a single row
	scanBlocks  = 4               // on a multiprocessor
	spanShared  = 24 * rowThreads // bytes of shared memory in which a block merges spans

	// declaredShared bounds the shared memory in bytes that kernels of this package declare, if
	// they take more dynamic shared memory for longer numbers.
	declaredShared = 2 << 10

	// stageBytes is the number of bytes that a block loads at a time, unless an entry for each
	// thread takes more. BenchmarkRows on an H100, µs of products at 106 bits with 4, 8, 16, 32
	// KiB: 41, 41, 37, 45.
	stageBytes = 16 << 10
)

// launches returns the number of terms, or of pairs of terms.
func (q *rowSums) launches() int {
	n := termsOf(q.a.Arr.Format)
	if q.x != nil {
		n *= termsOf(q.x.Arr.Format)
	}
	return n
}

// shares returns the number of blocks, at most most, that share each tile of rows, so that all
// blocks fit in the slots of the device.
func shares(tiles, slots, most int) int {
	if tiles > abi.MaxTiles {
		return 1
	}
	return min(most, max(1, slots/tiles))
}

// evenShares is shares for blocks that process consecutive stages, the same number each except for
// the last block. No block is left without a stage.
func evenShares(tiles, slots, stages int) int {
	share := shares(tiles, slots, stages)
	turns := (stages + share - 1) / share
	return (stages + turns - 1) / turns
}

// run is compute by the kernels of reduce.cuh.
func (q *rowSums) run(end func() abi.RowEnding) error {
	r, grid := q.arguments()
	if err := q.alloc((spanBytes*int64(r.Count)*int64(q.a.Rows) + 7) &^ 7); err != nil {
		return err
	}
	r.Columns, r.S = q.memory.Pointer(), spansOf(q.memory.At(q.spansAt()), q.a.Rows)
	r.Parts = spansOf(q.memory.At(q.partsAt()), int(r.Count)*q.a.Rows)
	if err := q.eachTerm(r, func(r abi.RowReduction) error { return q.scan(r, grid) }); err != nil {
		return err
	}
	return q.eachTerm(r, func(r abi.RowReduction) error {
		if r.First == r.Count-int32(grid.Y) { // the last one
			r.End = end()
		}
		return q.accumulate(r)
	})
}

// arguments returns the arguments of the kernels, without vectors and memory, and the grid of
// scanRows.
func (q *rowSums) arguments() (r abi.RowReduction, grid cuda.Dim) {
	r = abi.RowReduction{
		Digits: int32(q.digits), Rows: 1, Products: abi.Flag(q.x != nil), Magnitudes: abi.Flag(q.magnitudes),
		Down: abi.Flag(abs(q.a.RS) < abs(q.a.CS) && q.a.Rows > fewRows),
	}
	if q.a.Rows > fewRows {
		r.Rows = rowTile
	}
	lanes := scanThreads
	grid.X = q.a.Rows
	if r.Down != 0 {
		lanes = scanThreads / rowTile
		grid.X = (q.a.Rows + rowTile - 1) / rowTile
	}
	blocks := scanBlocks * q.s.Device().Info().Multiprocessors
	grid.Y = min((q.a.Cols+lanes*scanBatch-1)/(lanes*scanBatch), max(1, blocks/grid.X))
	r.Count = int32(q.launches() * grid.Y)
	return r, grid
}

// eachTerm calls f for the terms of a, or for all pairs of terms of a and x.
func (q *rowSums) eachTerm(r abi.RowReduction, f func(abi.RowReduction) error) error {
	others := 1
	if q.x != nil {
		others = termsOf(q.x.Arr.Format)
	}
	for t := range termsOf(q.a.Arr.Format) {
		for u := range others {
			r.A = abi.RowsOf(q.a).Term(t)
			if q.x != nil {
				r.X = abi.RowsOf(*q.x).Term(u)
			}
			r.First = r.Count / int32(q.launches()) * int32(t*others+u)
			r.Later = abi.Flag(t+u > 0)
			if err := f(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *rowSums) scan(r abi.RowReduction, grid cuda.Dim) error {
	f, err := launch.KernelsOf(q.s).Function(q.s, "rows/reduce", "scanRows")
	if err != nil {
		return err
	}
	return f.Launch(q.s, grid, cuda.Dim{X: scanThreads}, 0, r)
}

func (q *rowSums) accumulate(r abi.RowReduction) error {
	loaded := launch.KernelsOf(q.s)
	file, _ := abi.DigitFile(q.digits)
	f, err := loaded.Function(q.s, "rows/"+file, q.kernelName())
	if err != nil {
		return err
	}
	lanes, each := q.stage(int(r.Rows))
	r.Width = 1
	for r.Width < 8 && 2*int(r.Width)*each <= stageBytes && int(r.Width)*lanes < q.a.Cols {
		r.Width *= 2
	}
	// Two buffers, unless fewer blocks would then fit.
	perSM, shared := 0, 0
	for buffers := int32(1); buffers <= 2; buffers++ {
		bytes := q.sharedBytes(int(r.Rows), int(buffers*r.Width)*each)
		if bytes > q.sharedLimit() {
			break
		}
		blocks, err := loaded.Blocks(f, rowThreads, bytes)
		if err != nil {
			return err
		}
		if blocks >= perSM {
			perSM, shared, r.Buffers = blocks, bytes, buffers
		}
	}
	grid := cuda.Dim{X: (q.a.Rows + int(r.Rows) - 1) / int(r.Rows)}
	stages := (q.a.Cols + lanes*int(r.Width) - 1) / (lanes * int(r.Width))
	grid.Y = evenShares(grid.X, perSM*q.s.Device().Info().Multiprocessors, stages)
	return f.Launch(q.s, grid, cuda.Dim{X: rowThreads}, shared, r)
}

// stage returns the number of threads of a block that work on a row, and the bytes of shared memory
// for one entry a thread.
func (q *rowSums) stage(rows int) (lanes, bytes int) {
	lanes = rowThreads / rows
	bytes = rowThreads * numberBytes(q.a.Arr.Format)
	if q.x != nil {
		bytes += lanes * numberBytes(q.x.Arr.Format)
	}
	return lanes, bytes
}

// sharedBytes returns the shared memory in bytes of a block whose buffers take the given bytes. In
// the end this memory holds the sums of warps.
func (q *rowSums) sharedBytes(rows, buffers int) int {
	sums := rowThreads / 32
	if rows > 1 {
		sums = rowThreads - rowTile
	}
	return max(buffers, spanShared, 8*(q.digits+1)*sums)
}

// fits reports whether the shared memory of a block holds an entry for each thread.
func (q *rowSums) fits() bool {
	_, bytes := q.stage(1)
	return bytes <= q.sharedLimit()
}

// sharedLimit returns the dynamic shared memory that a block may have, in bytes.
func (q *rowSums) sharedLimit() int { return q.s.Device().Info().SharedPerBlock - declaredShared }

// numberBytes returns the bytes of a number in shared memory.
func numberBytes(f num.Format) int {
	if f.Kind == num.MP {
		return 8 * (1 + (f.Limbs() | 1))
	}
	return 16
}

// kernelName returns the name of the kernel that adds digits.
func (q *rowSums) kernelName() string {
	if q.x != nil {
		return "products" + strconv.Itoa(q.digits)
	}
	return "sums" + strconv.Itoa(q.digits)
}

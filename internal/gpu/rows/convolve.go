package rows

import (
	"strconv"

	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// This file runs the kernels of kernels/rows/convolve.cuh: products of a matrix and a vector of
// long numbers on the tensor cores. They replace the accumulating and the fused kernels. The rest
// is shared with fused.go.

const (
	fewestWarps = 4 // the fewest warps of a block
	blockSteps  = 3 // approximate cost of a block besides the steps of its warps, in steps
)

// convolves reports whether products with the given number of digits run on the tensor cores.
func (q *rowSums) convolves(digits int) bool {
	if q.x == nil || q.a.Arr.Kind != num.MP || q.x.Arr.Kind != num.MP || q.a.Rows <= fewRows || q.outer(digits) {
		return false
	}
	_, file := abi.DigitFile(digits)
	if file == "" || q.a.Arr.Limbs() <= 1 || q.convolveWarps(digits) < fewestWarps {
		return false
	}
	// No block adds more columns than 32 bits hold, and at most MaxTiles tiles are shared by
	// blocks.
	return q.convolveTiles() <= abi.MaxTiles || q.convolveSteps() <= fewestWarps*abi.ConvolveShapeOf(digits).Longest
}

// convolveTiles returns the number of tiles of rows, convolveSteps the number of steps of columns.
func (q *rowSums) convolveTiles() int { return (q.a.Rows + abi.ConvolveRows - 1) / abi.ConvolveRows }
func (q *rowSums) convolveSteps() int {
	return (q.a.Cols + abi.ConvolveColumns - 1) / abi.ConvolveColumns
}

// convolveShared returns the bytes of shared memory of a block of warps warps, two buffers each.
func (q *rowSums) convolveShared(digits, warps int) int {
	return 8 * warps * 2 * int(abi.ConvolveShapeOf(digits).LayoutOf(abi.RowsOf(q.a), digits).Buffer)
}

// convolveWarps returns the most warps that a block may have.
func (q *rowSums) convolveWarps(digits int) int {
	return min(abi.ConvolveShapeOf(digits).Warps, q.sharedLimit()/q.convolveShared(digits, 1))
}

// convolveError is errorDigits for these kernels. With N digits kept, the error is 2 N + 4 units of
// 2^-8N, which are (2 N + 4) 2^-(8N - 28k) units of 2^-28k. Columns that are dropped when slices
// meet add one more unit.
func convolveError(k int) uint64 {
	kept := abi.ConvolveShapeOf(k).Kept
	return uint64(2*kept+4)>>(8*kept-abi.RowDigit*k) + 2
}

// convolveSpread is exactSpread for these kernels: a first factor has ceil((spread + its bits + 2)
// / 8) digits, a second factor ceil(its bits / 8), and the index of the last sum of their products
// is the sum of both minus 2.
func (q *rowSums) convolveSpread(k int) int64 {
	kept := abi.ConvolveShapeOf(k).Kept
	return int64(8*(kept+1-(significandBits(q.x.Arr.Format)+7)/8) - significandBits(q.a.Arr.Format) - 2)
}

// divideConvolve divides the work among blocks. Among the possible numbers of warps of a block it
// chooses the one with which all blocks finish after the fewest steps, and the largest of equals:
// then few blocks share rows.
func (q *rowSums) divideConvolve(loaded *launch.Kernels, d *division) (err error) {
	_, file := abi.DigitFile(q.digits)
	if d.f, err = loaded.Function(q.s, "rows/"+file, "convolve"+strconv.Itoa(q.digits)); err != nil {
		return err
	}
	d.logRows, d.across = abi.LogConvolveRows, abi.Flag(abs(q.a.RS) < abs(q.a.CS))
	d.grid.X = q.convolveTiles()
	all, longest, fewest := q.convolveSteps(), abi.ConvolveShapeOf(q.digits).Longest, 0
	for warps := q.convolveWarps(q.digits); warps >= fewestWarps; warps /= 2 {
		shared := q.convolveShared(q.digits, warps)
		perSM, err := loaded.Blocks(d.f, 32*warps, shared)
		if err != nil {
			return err
		}
		slots := perSM * q.s.Device().Info().Multiprocessors
		turns := (all + warps - 1) / warps // of all warps of a block that works alone on its rows
		share := max(shares(d.grid.X, slots, turns), (turns+longest-1)/longest)
		steps := (turns + share - 1) / share
		share = (turns + steps - 1) / steps
		if sum := (steps + blockSteps) * ((d.grid.X*share + slots - 1) / slots); fewest == 0 || sum < fewest {
			fewest = sum
			d.threads, d.shared, d.grid.Y = 32*warps, shared, share
		}
	}
	return nil
}

// convolution returns the argument of the kernels.
func (q *rowSums) convolution(r abi.FusedReduction, d division) abi.Convolution {
	turns := (q.convolveSteps() + d.threads/32 - 1) / (d.threads / 32)
	return abi.Convolution{FusedReduction: r, In: abi.ConvolveShapeOf(q.digits).LayoutOf(r.A, q.digits),
		Steps: int32((turns + d.grid.Y - 1) / d.grid.Y)}
}

package rows

import (
	"strconv"

	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/rows/convolve.cuh: products of a matrix and a vector of long numbers on the
// tensor cores. It takes the place of the accumulating and fused kernels, and shares the rest with
// fused.go.

const (
	fewestWarps = 4 // of a block
	blockSteps  = 3 // about what a block takes beside the steps of its warps, in steps
)

// convolves reports whether products with so many digits are for the tensor cores.
func (q *rowSums) convolves(digits int) bool {
	if q.x == nil || q.a.Arr.Kind != num.MP || q.x.Arr.Kind != num.MP || q.a.Rows <= fewRows || q.outer(digits) {
		return false
	}
	_, file := abi.DigitFile(digits)
	if file == "" || q.a.Arr.Limbs() <= 1 || q.convolveWarps(digits) < fewestWarps {
		return false
	}
	// No block adds more columns than 32 bits hold, and only so many tiles are shared by blocks.
	return q.convolveTiles() <= abi.MaxTiles || q.convolveSteps() <= fewestWarps*abi.ConvolveShapeOf(digits).Longest
}

// convolveTiles returns how many tiles of rows there are, convolveSteps how many steps of columns.
func (q *rowSums) convolveTiles() int { return (q.a.Rows + abi.ConvolveRows - 1) / abi.ConvolveRows }
func (q *rowSums) convolveSteps() int {
	return (q.a.Cols + abi.ConvolveColumns - 1) / abi.ConvolveColumns
}

// convolveShared returns the bytes of shared memory of a block of so many warps, two buffers each.
func (q *rowSums) convolveShared(digits, warps int) int {
	return 8 * warps * 2 * int(abi.ConvolveShapeOf(digits).LayoutOf(abi.RowsOf(q.a), digits).Buffer)
}

// convolveWarps returns how many warps a block may have.
func (q *rowSums) convolveWarps(digits int) int {
	return min(abi.ConvolveShapeOf(digits).Warps, q.sharedLimit()/q.convolveShared(digits, 1))
}

// convolveError is errorDigits: 2 N + 4 units of 2^-8N, N digits being kept, are
// (2 N + 4) 2^-(8N - 28k) of 2^-28k, and columns that fall off when slices meet are one more.
func convolveError(k int) uint64 {
	kept := abi.ConvolveShapeOf(k).Kept
	return uint64(2*kept+4)>>(8*kept-abi.RowDigit*k) + 2
}

// convolveSpread is exactSpread: a first factor has ceil((spread + its bits + 2) / 8) digits, a
// second ceil(its bits / 8), and the last sum of their products is the sum of both less 2.
func (q *rowSums) convolveSpread(k int) int64 {
	kept := abi.ConvolveShapeOf(k).Kept
	return int64(8*(kept+1-(significandBits(q.x.Arr.Format)+7)/8) - significandBits(q.a.Arr.Format) - 2)
}

// divideConvolve divides the work among blocks. Of the numbers of warps that a block may have it
// takes the one with which all are done after the fewest steps, the largest of several: blocks that
// share rows then are few.
func (q *rowSums) divideConvolve(loaded *launch.Kernels, l *fusedLaunch) (err error) {
	_, file := abi.DigitFile(q.digits)
	if l.f, err = loaded.Function(q.s, "rows/"+file, "convolve"+strconv.Itoa(q.digits)); err != nil {
		return err
	}
	l.r.LogRows, l.r.Across = abi.LogConvolveRows, abi.Flag(abs(q.a.RS) < abs(q.a.CS))
	l.grid.X = q.convolveTiles()
	all, longest, fewest := q.convolveSteps(), abi.ConvolveShapeOf(q.digits).Longest, 0
	for warps := q.convolveWarps(q.digits); warps >= fewestWarps; warps /= 2 {
		shared := q.convolveShared(q.digits, warps)
		perSM, err := loaded.Blocks(l.f, 32*warps, shared)
		if err != nil {
			return err
		}
		slots := perSM * q.s.Device().Info().Multiprocessors
		turns := (all + warps - 1) / warps // of all warps of a block, if it works alone
		share := max(shares(l.grid.X, slots, turns), (turns+longest-1)/longest)
		steps := (turns + share - 1) / share
		share = (turns + steps - 1) / steps
		if sum := (steps + blockSteps) * ((l.grid.X*share + slots - 1) / slots); fewest == 0 || sum < fewest {
			fewest = sum
			l.threads, l.shared, l.grid.Y = 32*warps, shared, share
		}
	}
	return nil
}

// convolution returns the arguments.
func (q *rowSums) convolution(l *fusedLaunch) abi.Convolution {
	turns := (q.convolveSteps() + l.threads/32 - 1) / (l.threads / 32)
	return abi.Convolution{FusedReduction: l.r, In: abi.ConvolveShapeOf(q.digits).LayoutOf(l.r.A, q.digits),
		Steps: int32((turns + l.grid.Y - 1) / l.grid.Y)}
}

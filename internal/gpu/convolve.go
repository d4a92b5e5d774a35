package gpu

import (
	"fmt"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/convolve.cuh: products of a matrix and a vector of long numbers on the tensor
// cores. It takes the place of the accumulating kernels of passes.go.

const (
	convolveDigits  = 4 // digits of 7 bits in one of 28
	convolveWarps   = 4 // of a block
	convolveRows    = 16
	convolveColumns = 4       // of a warp at a time
	convolveLongest = 1 << 19 // columns for which 64 bits hold the sums
	convolveLimbs   = 200     // up to which 2^20 / limbs, rounded up, divides exactly

	toeplitzThreads = 256
)

// convolution is that of kernels/convolve.cuh.
type convolution struct {
	a, x                                     vectors
	parts, s                                 spans
	columns, table                           cuda.Pointer
	count, steps, down, inverse, size, tiles int32
}

// convolves reports whether products with so many digits are for the tensor cores.
func (q *rowSums) convolves(digits int) bool {
	if q.x == nil || q.a.Arr.Kind != num.MP || q.x.Arr.Kind != num.MP || q.a.Rows <= fewRows || q.a.Cols > convolveLongest {
		return false
	}
	return digitFile(digits) != fusedFile && q.a.Arr.Limbs() <= convolveLimbs && q.convolveShared(digits) <= q.s.Device().Info().SharedPerBlock
}

// convolveBuffer returns the words of a buffer: entries, or the sums of half of the rows.
func (q *rowSums) convolveBuffer(digits int) int {
	sums := convolveRows / 2 * (8*convolveTiles(digits) + 1)
	return max(convolveRows*convolveColumns*(q.a.Arr.Limbs()|1), (sums+1)/2)
}

// convolveShared returns the bytes of shared memory of a block.
func (q *rowSums) convolveShared(digits int) int {
	return 8 * convolveWarps * 2 * q.convolveBuffer(digits)
}

// convolveTiles returns how many groups of 8 sums of products of digits there are.
func convolveTiles(digits int) int { return (digits + 1) / 2 }

// convolution returns the arguments of the kernels, but for the memory, and how many entries of 8
// bytes the table has, 0 if the products are not for the tensor cores.
func (q *rowSums) convolution(r rowReduction) (c convolution, entries int64) {
	if !q.convolves(q.digits) {
		return c, 0
	}
	limbs := q.a.Arr.Limbs()
	c = convolution{a: q.a.rows(), x: q.x.rows(), count: r.count, down: flag(abs(q.a.RS) < abs(q.a.CS)),
		inverse: int32((1<<20 + limbs - 1) / limbs), size: int32(q.convolveBuffer(q.digits)), tiles: int32(convolveTiles(q.digits))}
	return c, 8 * int64(c.tiles) * int64(q.a.Cols)
}

// convolve adds the products to the columns, given the spans of parts.
func (q *rowSums) convolve(c convolution, entries int64) error {
	red := reducerOf(q.s)
	f, err := red.function(q.s, "convolve", "toeplitz")
	if err != nil {
		return err
	}
	if err := f.Launch(q.s, cuda.Dim{X: int((entries + toeplitzThreads - 1) / toeplitzThreads)}, cuda.Dim{X: toeplitzThreads}, 0, c); err != nil {
		return err
	}
	name := fmt.Sprint("convolve", q.digits)
	if f, err = red.function(q.s, "convolve"+digitFile(q.digits)[len("reduce"):], name); err != nil {
		return err
	}
	shared := q.convolveShared(q.digits)
	blocks, err := red.blocksOf(f, 32*convolveWarps, shared)
	if err != nil {
		return err
	}
	grid := cuda.Dim{X: (q.a.Rows + convolveWarps*convolveRows - 1) / (convolveWarps * convolveRows)}
	steps := (q.a.Cols + convolveColumns - 1) / convolveColumns
	slices := min(steps, max(1, blocks*q.s.Device().Info().Multiprocessors/grid.X))
	c.steps = int32((steps + slices - 1) / slices)
	grid.Y = (steps + int(c.steps) - 1) / int(c.steps)
	return f.Launch(q.s, grid, cuda.Dim{X: 32 * convolveWarps}, shared, c)
}

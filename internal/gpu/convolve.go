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
	convolveLimbs   = 1 << 12 // up to which 2^32 / limbs, rounded up, divides up to 16 limbs exactly
)

// convolution is that of kernels/convolve.cuh.
type convolution struct {
	a, x           vectors
	parts, s       spans
	columns, table cuda.Pointer
	count, steps   int32
	down           int32
	inverse        uint32
	size           int32
}

// convolves reports whether products with so many digits are for the tensor cores.
func (q *rowSums) convolves(digits int) bool {
	if q.x == nil || q.a.Arr.Kind != num.MP || q.x.Arr.Kind != num.MP || q.a.Rows <= fewRows || q.a.Cols > convolveLongest {
		return false
	}
	limbs := q.a.Arr.Limbs()
	return digitFile(digits) != fusedFile && limbs > 1 && limbs <= convolveLimbs && q.convolveShared(digits) <= q.s.Device().Info().SharedPerBlock
}

// convolveBuffer returns the words of a buffer: entries, or the sums of half of the rows.
func (q *rowSums) convolveBuffer(digits int) int {
	sums := convolveRows / 2 * (8*convolveTiles(digits) + 1)
	return max(convolveColumns*(convolveRows*(q.a.Arr.Limbs()|1)+8), (sums+1)/2)
}

// convolveShared returns the bytes of shared memory of a block.
func (q *rowSums) convolveShared(digits int) int {
	return 8 * convolveWarps * 2 * q.convolveBuffer(digits)
}

// convolveTiles returns how many groups of 8 sums of products of digits there are.
func convolveTiles(digits int) int { return (digits + 1) / 2 }

// tableBytes returns the size of the table of digits.
func (q *rowSums) tableBytes() int64 {
	if !q.convolves(q.digits) {
		return 0
	}
	return 64 * int64(convolveTiles(q.digits)) * int64(q.a.Cols)
}

// convolve adds the products to the columns, after scanRows.
func (q *rowSums) convolve(r rowReduction) error {
	red := reducerOf(q.s)
	f, err := red.function(q.s, "convolve"+digitFile(q.digits)[len("reduce"):], fmt.Sprint("convolve", q.digits))
	if err != nil {
		return err
	}
	shared := q.convolveShared(q.digits)
	blocks, err := red.blocksOf(f, 32*convolveWarps, shared)
	if err != nil {
		return err
	}
	limbs := uint32(q.a.Arr.Limbs())
	c := convolution{a: q.a.rows(), x: q.x.rows(), parts: r.parts, s: r.s, columns: r.columns, table: r.table, count: r.count,
		down: flag(abs(q.a.RS) < abs(q.a.CS)), inverse: ^uint32(0)/limbs + 1, size: int32(q.convolveBuffer(q.digits))}
	grid := cuda.Dim{X: (q.a.Rows + convolveWarps*convolveRows - 1) / (convolveWarps * convolveRows)}
	steps := (q.a.Cols + convolveColumns - 1) / convolveColumns
	slices := min(steps, max(1, blocks*q.s.Device().Info().Multiprocessors/grid.X))
	c.steps = int32((steps + slices - 1) / slices)
	grid.Y = (steps + int(c.steps) - 1) / int(c.steps)
	return f.Launch(q.s, grid, cuda.Dim{X: 32 * convolveWarps}, shared, c)
}

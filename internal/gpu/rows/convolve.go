package rows

import (
	"strconv"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/rows/convolve.cuh: products of a matrix and a vector of long numbers on the
// tensor cores. It takes the place of the accumulating kernels of accumulate.go.

const (
	convolveDigits  = 4 // digits of 7 bits in one of rowDigit bits
	convolveWarps   = 4 // of a block
	convolveRows    = 16
	convolveColumns = 4       // of a warp at a time
	convolveLongest = 1 << 19 // columns for which 64 bits hold the sums
	// up to which 2^32 / limbs, rounded up, divides up to 16 limbs exactly
	convolveLimbs = 1 << 12
)

// convolves reports whether products with so many digits are for the tensor cores.
func (q *rowSums) convolves(digits int) bool {
	if q.x == nil || q.a.Arr.Kind != num.MP || q.x.Arr.Kind != num.MP || q.a.Rows <= fewRows || q.a.Cols > convolveLongest || q.outer(digits) {
		return false
	}
	limbs := q.a.Arr.Limbs()
	_, file := abi.DigitFile(digits)
	return file != "" && limbs > 1 && limbs <= convolveLimbs && q.convolveShared(digits) <= q.sharedLimit()
}

// convolveBuffer returns the words of a buffer: entries, or the sums of half of the rows.
func (q *rowSums) convolveBuffer(digits int) int {
	sums := convolveRows / 2 * (8*abi.ConvolveTiles(digits) + 1)
	return max(convolveColumns*(convolveRows*(q.a.Arr.Limbs()|1)+8), (sums+1)/2)
}

// convolveShared returns the bytes of shared memory of a block.
func (q *rowSums) convolveShared(digits int) int {
	return 8 * convolveWarps * 2 * q.convolveBuffer(digits)
}

// tableBytes returns the size of the table of digits.
func (q *rowSums) tableBytes() int64 {
	if !q.convolves(q.digits) {
		return 0
	}
	return 64 * int64(abi.ConvolveTiles(q.digits)) * int64(q.a.Cols)
}

// convolve adds the products to the columns, after scanRows.
func (q *rowSums) convolve(r abi.RowReduction) error {
	loaded := launch.KernelsOf(q.s)
	_, file := abi.DigitFile(q.digits)
	f, err := loaded.Function(q.s, "rows/"+file, "convolve"+strconv.Itoa(q.digits))
	if err != nil {
		return err
	}
	shared := q.convolveShared(q.digits)
	blocks, err := loaded.Blocks(f, 32*convolveWarps, shared)
	if err != nil {
		return err
	}
	limbs := uint32(q.a.Arr.Limbs())
	c := abi.Convolution{A: abi.RowsOf(q.a), X: abi.RowsOf(*q.x), Parts: r.Parts, S: r.S, Columns: r.Columns, Table: r.Table, Count: r.Count,
		Down: abi.Flag(abs(q.a.RS) < abs(q.a.CS)), Inverse: ^uint32(0)/limbs + 1, Size: int32(q.convolveBuffer(q.digits)), End: r.End}
	grid := cuda.Dim{X: (q.a.Rows + convolveWarps*convolveRows - 1) / (convolveWarps * convolveRows)}
	steps := (q.a.Cols + convolveColumns - 1) / convolveColumns
	share := shares(grid.X, blocks*q.s.Device().Info().Multiprocessors, steps)
	c.Steps = int32((steps + share - 1) / share)
	grid.Y = (steps + int(c.Steps) - 1) / int(c.Steps)
	return f.Launch(q.s, grid, cuda.Dim{X: 32 * convolveWarps}, shared, c)
}

package rows

import (
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// This file runs the kernels of kernels/rows/words.cuh: sums of long numbers by words. They replace
// the fused kernels of fused.go; the rest is shared with fused.go.

// wordDigits is the fewest digits of sums that these kernels compute. Calls on an H100, µs, for
// 10^6 numbers of 424, 848 and 1696 bits: 50, 72 and 114; by the kernels of fused.go and
// accumulate.go 44, 98 and 138 (bench/records/h100-rows.json.gz, "words").
var wordDigits = 24

// words reports whether these kernels compute sums with the given number of digits.
func (q *rowSums) words(digits int) bool {
	if q.x != nil || q.a.Arr.Kind != num.MP || digits < wordDigits || q.a.Rows > fewRows {
		return false
	}
	shape, ok := abi.WordShapeOf(digits)
	return ok && shape.SharedBytes(q.wordReduction(shape, digits)) <= q.sharedLimit()
}

// wordReduction returns the argument of the kernel of a shape, without memory.
func (q *rowSums) wordReduction(shape abi.WordShape, digits int) abi.WordReduction {
	return shape.ReductionOf(abi.FusedReduction{A: abi.RowsOf(q.a), Digits: int32(digits)})
}

// divideWords divides the work among blocks, each of which works on one row.
func (q *rowSums) divideWords(loaded *launch.Kernels, d *division) (err error) {
	shape, _ := abi.WordShapeOf(q.digits)
	if d.f, err = loaded.Function(q.s, "rows/words", shape.Kernel()); err != nil {
		return err
	}
	d.threads, d.shared = abi.WordThreads, shape.SharedBytes(q.wordReduction(shape, q.digits))
	perSM, err := loaded.Blocks(d.f, d.threads, d.shared)
	if err != nil {
		return err
	}
	// At least as many numbers for a block as it has threads, if the row has enough.
	slots := min(perSM*q.s.Device().Info().Multiprocessors, q.a.Rows*((q.a.Cols+abi.WordThreads-1)/abi.WordThreads))
	d.grid.X = q.a.Rows
	d.grid.Y = evenShares(d.grid.X, slots, (q.a.Cols+shape.Numbers-1)/shape.Numbers)
	return nil
}

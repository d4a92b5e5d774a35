package rows

import (
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/rows/words.cuh: sums of long numbers by words. It takes the place of the fused
// kernels of fused.go, which it shares the rest with.

// wordDigits is from how many digits on sums go that way. Calls on an H100, µs, for 10^6 numbers of
// 424, 848 and 1696 bits: 50, 72 and 114; by the kernels of fused.go and accumulate.go 44, 98 and
// 138 (bench/records/h100-rows.json, "words").
var wordDigits = 24

// words reports whether sums with so many digits go that way.
func (q *rowSums) words(digits int) bool {
	if q.x != nil || q.a.Arr.Kind != num.MP || digits < wordDigits || q.a.Rows > fewRows {
		return false
	}
	shape, ok := abi.WordShapeOf(digits)
	return ok && shape.SharedBytes(q.wordReduction(shape, digits)) <= q.sharedLimit()
}

// wordReduction is what the kernel of a shape takes, but for memory.
func (q *rowSums) wordReduction(shape abi.WordShape, digits int) abi.WordReduction {
	return shape.ReductionOf(abi.FusedReduction{A: abi.RowsOf(q.a), Digits: int32(digits)})
}

// divideWords divides the work among blocks, each on one row.
func (q *rowSums) divideWords(loaded *launch.Kernels, l *fusedLaunch) (err error) {
	shape, _ := abi.WordShapeOf(q.digits)
	if l.f, err = loaded.Function(q.s, "rows/words", shape.Kernel()); err != nil {
		return err
	}
	l.threads, l.shared = abi.WordThreads, shape.SharedBytes(q.wordReduction(shape, q.digits))
	perSM, err := loaded.Blocks(l.f, l.threads, l.shared)
	if err != nil {
		return err
	}
	// As many numbers for a block as it has threads, if there are as many.
	slots := min(perSM*q.s.Device().Info().Multiprocessors, q.a.Rows*((q.a.Cols+abi.WordThreads-1)/abi.WordThreads))
	l.grid.X = q.a.Rows
	l.grid.Y = evenShares(l.grid.X, slots, (q.a.Cols+shape.Numbers-1)/shape.Numbers)
	return nil
}
